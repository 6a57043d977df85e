//! `cargo xtask gen`: files that are made from code and committed, so that nobody needs a toolchain to use them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

/// Arguments of `cargo xtask gen`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Change nothing; fail when a committed file is not what would be written
    #[arg(long)]
    check: bool,
}

/// A file and what belongs into it.
struct Generated {
    path: PathBuf,
    text: String,
}

/// Writes the files that differ, or names them.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { check } = *arguments;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in no folder")?;
    let mut code = ExitCode::SUCCESS;
    for Generated { path, text } in definitions()? {
        let file = root.join(&path);
        if std::fs::read_to_string(&file).is_ok_and(|committed| committed == text) {
            continue;
        }
        if check {
            eprintln!("{} is out of date: run `cargo xtask gen` and commit it", path.display());
            code = ExitCode::FAILURE;
            continue;
        }
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
        }
        std::fs::write(&file, text).with_context(|| format!("failed to write {}", file.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(code)
}

/// The definitions of our kinds: plain YAML, for `kubectl apply` as well as for the chart.
fn definitions() -> anyhow::Result<Vec<Generated>> {
    anchorhold_crds::all()
        .into_iter()
        .map(|definition| {
            let plural = &definition.spec.names.plural;
            let yaml = serde_saphyr::to_string(&definition)
                .with_context(|| format!("failed to write the definition of {plural} as YAML"))?;
            // Helm reads `{{` in a template as its own.
            anyhow::ensure!(
                !yaml.contains("{{"),
                "the definition of {plural} contains {{{{, which Helm would interpret"
            );
            Ok(Generated {
                path: PathBuf::from(format!("charts/anchorhold-crds/templates/{plural}.yaml")),
                text: format!("# Made by `cargo xtask gen` from crds/src; change it there.\n{yaml}"),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_file_that_reads_back_as_its_definition() {
        let files = definitions().unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
        assert_eq!(
            paths,
            ["agents", "jobs", "mcpservers"].map(|plural| format!("charts/anchorhold-crds/templates/{plural}.yaml"))
        );
        for (file, definition) in files.iter().zip(anchorhold_crds::all()) {
            let read: serde_json::Value = serde_saphyr::from_str(&file.text).unwrap();
            assert!(read == serde_json::to_value(definition).unwrap(), "{}", file.path.display());
        }
    }
}
