//! How the runner's process ends.

/// The runner's exit code: one meaning each, read by the operator when no termination message arrived.
///
/// The numbers are part of the contract and never change meaning. 101 is what a Rust panic exits with anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The program ran and completed.
    Completed = 0,
    /// The program ran and failed: the script threw, ran out of memory, or waited for something that cannot come.
    Failed = 1,
    /// The plan was refused: unknown version or field, malformed, or not executable here.
    Plan = 2,
    /// This kernel or this container cannot confine the program.
    Sandbox = 3,
    /// The broker could not be reached.
    Broker = 4,
    /// The deadline of the job passed.
    Deadline = 5,
    /// The runner was told to stop (SIGTERM, SIGINT).
    Cancelled = 6,
    /// The network gate stayed open: nothing was started.
    NetworkPolicyNotEnforced = 7,
    /// A source is empty: the code that the program was to look at is not there.
    SourceEmpty = 8,
    /// A defect of the runner itself.
    Internal = 101,
}

impl ExitCode {
    /// Every code, for tables and documentation.
    pub const ALL: [Self; 10] = [
        Self::Completed,
        Self::Failed,
        Self::Plan,
        Self::Sandbox,
        Self::Broker,
        Self::Deadline,
        Self::Cancelled,
        Self::NetworkPolicyNotEnforced,
        Self::SourceEmpty,
        Self::Internal,
    ];

    /// The code a container reported, if it is one of ours.
    #[must_use]
    pub fn from_status(status: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|code| i32::from(*code as u8) == status)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_number_and_a_foreign_one_is_not() {
        for code in ExitCode::ALL {
            assert_eq!(ExitCode::from_status(i32::from(code as u8)), Some(code));
        }
        assert_eq!(ExitCode::from_status(137), None);
        assert_eq!(ExitCode::from_status(-1), None);
    }
}
