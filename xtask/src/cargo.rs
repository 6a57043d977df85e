//! The cargo that runs us, to be run again.

use std::path::Path;
use std::process::Command;

/// Cargo in that folder, with none of the variables that it set for this program (the Cargo Book, "Environment variables"):
/// build scripts look at them, and would run once more whenever a build comes from here and not from a shell.
pub(crate) fn cargo(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_a_package) {
            command.env_remove(name);
        }
    }
    command
}

fn is_of_a_package(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_", "CARGO_PRIMARY_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::is_of_a_package;

    #[test]
    fn the_package_is_left_out_and_what_a_user_set_is_kept() {
        assert!(["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "CARGO_CRATE_NAME"].into_iter().all(is_of_a_package));
        assert!(!["CARGO", "CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS"].into_iter().any(is_of_a_package));
    }
}
