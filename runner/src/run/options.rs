//! The runner's command line. Everything that matters is in the plan; this says where the plan is.

use std::ffi::OsString;
use std::path::PathBuf;

use anchorhold_plan::{PLAN_FILE, TERMINATION_MESSAGE_PATH};

/// What the command line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The plan's file.
    pub(super) plan: PathBuf,
    /// Where the result is written for the kubelet, unless nowhere.
    pub(super) termination_log: Option<PathBuf>,
    /// Whether the run goes without confinement; only without a cluster.
    pub(super) unconfined: bool,
}

/// The command line was not understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; usage: anchorhold-runner [--plan FILE] [--termination-log FILE|none]")]
pub(super) struct UsageError(String);

impl Options {
    /// Reads the arguments behind the program's name.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut options = Self {
            plan: PathBuf::from(PLAN_FILE),
            termination_log: Some(PathBuf::from(TERMINATION_MESSAGE_PATH)),
            unconfined: false,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = |name: &str| arguments.next().ok_or_else(|| UsageError(format!("{name} wants a value")));
            match argument.to_str() {
                Some(name @ "--plan") => options.plan = PathBuf::from(value(name)?),
                Some(name @ "--termination-log") => {
                    options.termination_log = Some(value(name)?).filter(|path| path != "none").map(PathBuf::from);
                }
                Some("--unconfined") => options.unconfined = true,
                _ => return Err(UsageError(format!("unknown argument {}", argument.display()))),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(arguments.iter().map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn without_arguments_the_paths_are_those_of_a_pod() {
        assert_eq!(
            parse(&[]),
            Ok(Options {
                plan: "/etc/anchorhold/plan.json".into(),
                termination_log: Some("/dev/termination-log".into()),
                unconfined: false
            })
        );
    }

    #[test]
    fn every_argument_is_read() {
        assert_eq!(
            parse(&["--unconfined", "--termination-log", "none", "--plan", "p.json"]),
            Ok(Options { plan: "p.json".into(), termination_log: None, unconfined: true })
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let usage = "usage: anchorhold-runner [--plan FILE] [--termination-log FILE|none]";
        assert_eq!(parse(&["--plan"]), Err(format!("--plan wants a value; {usage}")));
        assert_eq!(parse(&["--network"]), Err(format!("unknown argument --network; {usage}")));
    }
}
