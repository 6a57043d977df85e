//! `anchorhold version`.

use std::io::{self, Write};

use anchorhold_crds::names::API_VERSION;
use anchorhold_plan::PLAN_VERSION;
use serde_json::json;

use crate::args::{Output, VersionArgs};
use crate::exit::Exit;

/// Prints the version of the program, of the manifests it reads and of the plans it writes.
pub(crate) fn run(args: &VersionArgs) -> io::Result<Exit> {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = io::stdout().lock();
    match args.output {
        Output::Human => writeln!(out, "anchorhold {version} ({API_VERSION}, plan version {PLAN_VERSION})")?,
        Output::Json => {
            let document = json!({ "version": version, "apiVersion": API_VERSION, "planVersion": PLAN_VERSION });
            serde_json::to_writer_pretty(&mut out, &document)?;
            writeln!(out)?;
        }
    }
    Ok(Exit::Completed)
}
