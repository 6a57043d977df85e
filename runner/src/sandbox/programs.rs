use std::path::PathBuf;

use super::SandboxError;
use super::access::Rules;

/// Gives up, for good, starting any program but these: files, or folders of them. Everything else stays as it is.
///
/// A script among them cannot start either, unless its interpreter is among them. Every path must exist.
pub fn confine_programs(programs: &[PathBuf]) -> Result<(), SandboxError> {
    let mut rules = Rules::no_program()?;
    for path in programs {
        rules = rules.allow_start(path)?;
    }
    rules.enforce()
}
