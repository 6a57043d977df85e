//! Where the folders of a job lie on this machine.
//!
//! A claim and an image live in a cluster, so each needs a folder here: from the command line, or from an annotation of the
//! Job. A ConfigMap is taken from the manifests and written into the run's own folder, as the kubelet would.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anchorhold_crds::{ConfigMapSource, Job, Source};
use anchorhold_plan as plan;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::refusal::Refusal;
use super::select::Selected;
use crate::document::{Node, Value};
use crate::validate::{Checked, Kind, Object, find};

/// What an annotation is called that names a source's folder on this machine: this and the source's name. The path is
/// relative to the manifest's file. A cluster ignores it.
pub(super) const LOCAL_SOURCE: &str = "anchorhold.dev/local-source.";

/// Resolves every source of the job to an absolute folder that exists. The files of a ConfigMap are written below `scratch`.
pub(super) fn resolve(
    checked: &Checked,
    selected: &Selected<'_>,
    named: &[(String, PathBuf)],
    scratch: &Path,
) -> Result<Vec<plan::Source>, Refusal> {
    let Selected { object, job, .. } = *selected;
    check_names(object, job, named)?;
    job.spec
        .sources
        .iter()
        .enumerate()
        .map(|(index, source)| {
            let path = folder(checked, selected, named, (index, source), scratch)?;
            let Some(path) = path.to_str() else {
                return Err(format!("the folder {} is not UTF-8; rename it", path.display()).into());
            };
            Ok(plan::Source { name: source.name.clone(), path: path.to_owned() })
        })
        .collect()
}

/// A folder for a source that the job does not have is a slip.
fn check_names(object: &Object, job: &Job, named: &[(String, PathBuf)]) -> Result<(), Refusal> {
    let sources: Vec<&str> = job.spec.sources.iter().map(|source| source.name.as_str()).collect();
    let known = if sources.is_empty() { "it has none".into() } else { format!("it has {}", sources.join(", ")) };
    for (index, (name, _)) in named.iter().enumerate() {
        if !sources.contains(&name.as_str()) {
            return Err(format!("--source {name}: the job has no source of that name; {known}").into());
        }
        if named.iter().take(index).any(|(other, _)| other == name) {
            return Err(format!("--source {name} is given twice; keep one").into());
        }
    }
    for key in job.metadata.annotations.iter().flatten().map(|(key, _)| key) {
        if let Some(name) = key.strip_prefix(LOCAL_SOURCE)
            && !sources.contains(&name)
        {
            let message = format!("the job has no source of that name; {known}");
            return Err(Refusal::at(object, &format!("metadata.annotations[{key}]"), message));
        }
    }
    Ok(())
}

fn folder(
    checked: &Checked,
    selected: &Selected<'_>,
    named: &[(String, PathBuf)],
    (index, source): (usize, &Source),
    scratch: &Path,
) -> Result<PathBuf, Refusal> {
    let Selected { object, job, .. } = *selected;
    let name = &source.name;
    if let Some((_, path)) = named.iter().find(|(other, _)| other == name) {
        return existing(path).map_err(|problem| format!("--source {name}: {problem}").into());
    }
    let annotation = format!("{LOCAL_SOURCE}{name}");
    if let Some(path) = job.metadata.annotations.as_ref().and_then(|annotations| annotations.get(&annotation)) {
        let beside = object.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        return existing(&beside.join(path))
            .map_err(|problem| Refusal::at(object, &format!("metadata.annotations[{annotation}]"), problem));
    }
    let field = format!("spec.sources[{index}]");
    if let Some(config_map) = &source.config_map {
        let found = find(&checked.objects, Kind::ConfigMap, &config_map.name, object.identity.namespace.as_deref());
        let Some(found) = found else {
            let message = format!(
                "ConfigMap {} is not in these files: add its file to the command line, or pass --source {name}=PATH",
                config_map.name
            );
            return Err(Refusal::at(object, &format!("{field}.configMap.name"), message));
        };
        let path = scratch.join(name);
        let files = files(&found.node, config_map)
            .map_err(|problem| Refusal::at(object, &format!("{field}.configMap"), problem))?;
        write(&path, &files).map_err(|error| format!("failed to write the ConfigMap {}: {error}", config_map.name))?;
        return Ok(path);
    }
    let message = format!(
        "this source lives in a cluster: pass --source {name}=PATH, or annotate the Job with {annotation}: PATH"
    );
    Err(Refusal::at(object, &field, message))
}

fn existing(path: &Path) -> Result<PathBuf, String> {
    let found =
        path.canonicalize().map_err(|error| format!("failed to open the folder {}: {error}", path.display()))?;
    if found.is_dir() { Ok(found) } else { Err(format!("{} is not a folder; name one", path.display())) }
}

/// The files that a kubelet would make of a ConfigMap, by path.
fn files(config_map: &Node, source: &ConfigMapSource) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut all = BTreeMap::new();
    for (part, is_binary) in [("data", false), ("binaryData", true)] {
        let Some(Value::Map(entries)) = config_map.get(part).map(|node| &node.value) else { continue };
        for entry in entries {
            let unreadable = |what: &str| format!("ConfigMap {}: {part}[{}] {what}", source.name, entry.key);
            if !is_key(&entry.key) {
                return Err(unreadable("is no key: use letters, digits, '-', '_' and '.'"));
            }
            let text = entry.node.text().ok_or_else(|| unreadable("must be text: put it in quotes"))?;
            let bytes = if is_binary {
                let joined: String = text.split_whitespace().collect();
                BASE64_STANDARD.decode(joined).map_err(|_| unreadable("is not Base64: encode it"))?
            } else {
                text.as_bytes().to_vec()
            };
            all.insert(entry.key.clone(), bytes);
        }
    }
    let Some(items) = &source.items else { return Ok(all) };
    items
        .iter()
        .map(|item| match all.get(&item.key) {
            Some(bytes) => Ok((item.path.clone(), bytes.clone())),
            None => {
                Err(format!("ConfigMap {} has no key \"{}\": correct the key, or add it there", source.name, item.key))
            }
        })
        .collect()
}

/// The API server's rule for a key, which becomes a file's name.
fn is_key(key: &str) -> bool {
    (1..=253).contains(&key.len())
        && !key.starts_with("..")
        && key != "."
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

fn write(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (path, bytes) in files {
        // Relative and without `..`: a key was checked above, an item's path by the schema's rules.
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}
