//! The attempts of a job so far, as its status tells them.

use anchorhold_crds::{AttemptStatus, JobReason, JobStatus};
use jiff::{SignedDuration, Timestamp};

/// batch/v1 waits as long: 10 s, 20 s, 40 s … five minutes.
const FIRST_WAIT_COUNTED: SignedDuration = SignedDuration::from_secs(10);
/// The infrastructure's failures pass sooner.
const FIRST_WAIT_UNCOUNTED: SignedDuration = SignedDuration::from_secs(1);
const LONGEST_WAIT: SignedDuration = SignedDuration::from_secs(300);

/// What counts of a job's attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct History {
    /// The attempt that has not ended, as far as the status knows.
    pub(crate) open: Option<OpenAttempt>,
    /// The number of the newest attempt.
    pub(crate) last: Option<i32>,
    /// The number of the next attempt.
    pub(crate) next: i32,
    /// Failed attempts that count against `backoffLimit`.
    pub(crate) counted: u32,
    /// Attempts that the infrastructure took before their program began.
    pub(crate) uncounted: u32,
    /// The next attempt starts no earlier.
    pub(crate) not_before: Option<Timestamp>,
}

/// An attempt that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenAttempt {
    /// Its number.
    pub(crate) number: i32,
    /// Whether its runner was ever seen running.
    pub(crate) ran: bool,
}

impl History {
    /// Reads a status.
    pub(crate) fn of(status: Option<&JobStatus>) -> Self {
        let attempts = status.map(|status| status.attempts.as_slice()).unwrap_or_default();
        let count = |kind: Kind| {
            let same = attempts.iter().filter(|attempt| Kind::of(attempt) == kind).count();
            u32::try_from(same).unwrap_or(u32::MAX)
        };
        let (counted, uncounted) = (count(Kind::Counted), count(Kind::Uncounted));
        let last = attempts.iter().max_by_key(|attempt| attempt.number);
        let not_before = last.and_then(|last| {
            let ended = last.completion_time.as_ref()?.0;
            match Kind::of(last) {
                Kind::Counted => ended.checked_add(wait(FIRST_WAIT_COUNTED, counted)).ok(),
                Kind::Uncounted => ended.checked_add(wait(FIRST_WAIT_UNCOUNTED, uncounted)).ok(),
                Kind::Open | Kind::Suspended => None,
            }
        });
        Self {
            open: last
                .filter(|last| Kind::of(last) == Kind::Open)
                .map(|last| OpenAttempt { number: last.number, ran: last.run_time.is_some() }),
            last: last.map(|last| last.number),
            next: last.map_or(0, |last| last.number.saturating_add(1)),
            counted,
            uncounted,
            not_before,
        }
    }
}

/// What an attempt means for those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Open,
    Counted,
    Uncounted,
    Suspended,
}

impl Kind {
    fn of(attempt: &AttemptStatus) -> Self {
        if attempt.completion_time.is_none() {
            Self::Open
        } else if attempt.reason.as_deref() == Some(JobReason::Suspended.as_str()) {
            Self::Suspended
        } else if attempt.counted == Some(false) {
            Self::Uncounted
        } else {
            Self::Counted
        }
    }
}

/// The first wait, doubled with every failure after the first.
fn wait(first: SignedDuration, failures: u32) -> SignedDuration {
    let doublings = failures.saturating_sub(1).min(20);
    first.saturating_mul(1 << doublings).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn ended(number: i32, second: i64, reason: JobReason, counted: bool) -> AttemptStatus {
        AttemptStatus {
            number,
            completion_time: Some(Time(at(second))),
            reason: Some(reason.as_str().into()),
            counted: Some(counted),
            ..AttemptStatus::default()
        }
    }

    fn history(attempts: Vec<AttemptStatus>) -> History {
        History::of(Some(&JobStatus { attempts, ..JobStatus::default() }))
    }

    #[test]
    fn a_job_without_a_status_starts_with_attempt_0() {
        let fresh = History { open: None, last: None, next: 0, counted: 0, uncounted: 0, not_before: None };
        assert_eq!(History::of(None), fresh);
    }

    #[test]
    fn an_attempt_without_an_end_is_open() {
        let open = AttemptStatus { number: 2, run_time: Some(Time(at(9))), ..AttemptStatus::default() };
        let history = history(vec![ended(1, 5, JobReason::ScriptError, true), open]);
        assert_eq!(history.open, Some(OpenAttempt { number: 2, ran: true }));
        assert_eq!((history.last, history.next, history.counted), (Some(2), 3, 1));
    }

    #[test]
    fn counted_failures_wait_as_batch_v1_does_and_uncounted_ones_less() {
        let counted = |n: i32| (1..=n).map(|i| ended(i, 100, JobReason::ScriptError, true)).collect::<Vec<_>>();
        let uncounted = |n: i32| (1..=n).map(|i| ended(i, 100, JobReason::Evicted, false)).collect::<Vec<_>>();
        assert_eq!(history(counted(1)).not_before, Some(at(110)));
        assert_eq!(history(counted(3)).not_before, Some(at(140)));
        assert_eq!(history(counted(9)).not_before, Some(at(400)));
        assert_eq!(history(uncounted(1)).not_before, Some(at(101)));
        assert_eq!(history(uncounted(4)).not_before, Some(at(108)));
    }

    #[test]
    fn a_suspended_attempt_counts_for_nothing_and_resumes_at_once() {
        let history = history(vec![ended(1, 100, JobReason::Suspended, false)]);
        assert_eq!(history, History { open: None, last: Some(1), next: 2, counted: 0, uncounted: 0, not_before: None });
    }
}
