//! How the command ends, for scripts that call it.

/// The exit codes of `anchorhold`. They are documented in `--help` and never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The job completed; the manifests are valid.
    Completed = 0,
    /// The job ran and failed.
    JobFailed = 1,
    /// The command line or the manifests are wrong; nothing was run. Also what clap exits with.
    Usage = 2,
    /// This kernel cannot confine a job; nothing was run.
    CannotConfine = 3,
    /// The user interrupted the job (128 + SIGINT, as shells count).
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The table of `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    the job completed; the manifests are valid
  1    the job ran and failed
  2    the command line or the manifests are wrong; nothing was run
  3    this kernel cannot confine a job; nothing was run
  130  interrupted";
