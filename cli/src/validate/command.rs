//! `anchorhold validate`: prints what is found.

use std::io::{self, Write};

use serde::Serialize;

use crate::args::{Output, ValidateArgs};
use crate::exit::Exit;
use crate::finding::{Finding, Severity};
use crate::validate::{self, Checked, Kind};

/// What `-o json` prints.
#[derive(Serialize)]
struct Summary<'c> {
    /// Whether the exit code is 0.
    valid: bool,
    /// Objects of our kinds that were checked.
    objects: usize,
    /// Documents of other kinds.
    skipped: usize,
    errors: usize,
    warnings: usize,
    findings: &'c [Finding],
}

/// Checks the manifests and prints the findings on standard output.
pub(crate) fn run(args: &ValidateArgs) -> io::Result<Exit> {
    let checked = validate::check(&args.paths);
    let summary = summarize(&checked, args.strict);
    let mut out = io::stdout().lock();
    match args.output {
        Output::Human => write_human(&mut out, &summary)?,
        Output::Json => {
            serde_json::to_writer_pretty(&mut out, &summary)?;
            writeln!(out)?;
        }
    }
    Ok(if summary.valid { Exit::Completed } else { Exit::Usage })
}

fn summarize(checked: &Checked, strict: bool) -> Summary<'_> {
    let (errors, warnings) = (checked.count(Severity::Error), checked.count(Severity::Warning));
    Summary {
        valid: errors == 0 && (warnings == 0 || !strict),
        objects: checked.objects.iter().filter(|object| object.kind != Kind::ConfigMap).count(),
        skipped: checked.skipped + checked.objects.iter().filter(|object| object.kind == Kind::ConfigMap).count(),
        errors,
        warnings,
        findings: &checked.findings,
    }
}

fn write_human(out: &mut impl Write, summary: &Summary<'_>) -> io::Result<()> {
    for finding in summary.findings {
        writeln!(out, "{finding}")?;
    }
    let Summary { objects, skipped, errors, warnings, .. } = *summary;
    let mut parts = vec![count(objects, "object"), count(errors, "error"), count(warnings, "warning")];
    if skipped > 0 {
        parts.push(format!("{} of other kinds skipped", count(skipped, "document")));
    }
    writeln!(out, "{}", parts.join(", "))
}

/// `1 error`, `2 errors`.
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
