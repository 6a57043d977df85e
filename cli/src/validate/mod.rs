//! Checks manifests offline, as the API server and the operator would.
//!
//! In order: the text of each file, what each document is, each object by itself, and what objects say about each other.
//! `anchorhold validate` prints what is found; `anchorhold run` runs nothing while there is an error.

pub(crate) mod command;
mod kind;
mod metadata;
mod object;
mod references;
mod report;
mod suggest;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anchorhold_crds::check::KindCheck;

pub(crate) use kind::Kind;
pub(crate) use object::{Object, Typed};
pub(crate) use references::find;

use crate::document::{self, Node, Path};
use crate::finding::{Finding, Severity};
use crate::manifest::{self, ManifestFile};
use kind::Identified;
use metadata::Identity;
use report::Report;

/// What a set of files holds.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The objects of kinds that are looked at, in the order they were read.
    pub(crate) objects: Vec<Object>,
    /// Everything found, by file and place.
    pub(crate) findings: Vec<Finding>,
    /// Documents of other kinds, which were left alone.
    pub(crate) skipped: usize,
}

impl Checked {
    /// How many findings are of that severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Reads and checks every file that the paths stand for.
pub(crate) fn check(paths: &[PathBuf]) -> Checked {
    let (files, findings) = manifest::read(paths);
    let mut set = Set { checked: Checked { findings, ..Checked::default() }, checks: HashMap::new() };
    for file in &files {
        set.add_file(file);
    }
    let mut checked = set.checked;
    checked.findings.extend(references::check(&checked.objects));
    let order: HashMap<&str, usize> = files.iter().enumerate().map(|(index, file)| (&*file.name, index)).collect();
    // By file in the order they were named, then by place; what has no place comes first.
    checked.findings.sort_by_key(|finding| (order.get(&*finding.file).copied(), finding.at));
    checked
}

struct Set {
    checked: Checked,
    checks: HashMap<Kind, Option<KindCheck>>,
}

impl Set {
    fn add_file(&mut self, file: &ManifestFile) {
        let (documents, problems) = document::parse(&file.text);
        self.checked.findings.extend(problems.into_iter().map(|problem| Finding {
            file: Arc::clone(&file.name),
            at: Some(problem.at),
            severity: Severity::Error,
            object: String::new(),
            field: problem.field,
            message: problem.message,
        }));
        for document in documents {
            self.add(file, document, String::new());
        }
    }

    fn add(&mut self, file: &ManifestFile, node: Node, prefix: String) {
        let mut report = Report::new(&file.name, String::new(), prefix.clone());
        match kind::identify(&node) {
            Identified::Known(kind) => return self.add_object(file, node, prefix, kind),
            Identified::List if prefix.is_empty() => {
                let root = Path::Root;
                let items = root.key("items");
                for (index, item) in node.get("items").map_or(&[][..], Node::items).iter().enumerate() {
                    self.add(file, item.clone(), format!("{}.", items.index(index)));
                }
            }
            Identified::List | Identified::Foreign => self.checked.skipped += 1,
            // A folder may hold values for other tools; a file that is named is meant to be a manifest.
            Identified::NoObject if !file.named => self.checked.skipped += 1,
            Identified::NoObject => {
                report.error(node.at, "", "is no Kubernetes object: it has neither apiVersion nor kind");
            }
            Identified::Mistaken { at, field, message } => report.error(at, field, message),
        }
        self.checked.findings.extend(report.into_findings());
    }

    fn add_object(&mut self, file: &ManifestFile, node: Node, prefix: String, kind: Kind) {
        let identity = Identity::of(&node);
        let mut report = Report::new(&file.name, object::title(kind, &identity), prefix.clone());
        let typed = match self.checks.entry(kind).or_insert_with(|| KindCheck::of_kind(kind.as_str())) {
            Some(checks) => object::check(kind, checks, &node, &mut report),
            None => Some(Typed::ConfigMap),
        };
        self.checked.findings.extend(report.into_findings());
        let (file, path) = (Arc::clone(&file.name), file.path.clone());
        self.checked.objects.push(Object { file, path, node, prefix, kind, identity, typed });
    }
}
