//! How long to wait before an object is tried again: per object, doubled with every failure in a row.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(5);

/// Failures in a row, by the uid of the object. An object that succeeds or leaves is forgotten.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: Mutex<HashMap<String, u32>>,
}

impl Backoff {
    /// Counts a failure and returns the wait: 1 s, 2 s, 4 s … 300 s, each spread by up to a quarter so that objects
    /// which failed together do not come back together.
    pub fn failed(&self, uid: &str) -> Duration {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failures.entry(uid.to_owned()).or_insert(0);
        let wait = wait(*count);
        *count = count.saturating_add(1);
        spread(wait, uid, *count)
    }

    /// Forgets the object.
    pub fn forget(&self, uid: &str) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
    }
}

fn wait(failures: u32) -> Duration {
    FIRST.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST)
}

/// Takes its variation from the uid, which is random, so that nothing here depends on a generator.
fn spread(wait: Duration, uid: &str, count: u32) -> Duration {
    let seed = uid.bytes().fold(count, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte)));
    wait + wait.mul_f64(f64::from(seed % 1000) / 4000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_five_minutes() {
        let waits: Vec<u64> = (0..11).map(|failures| wait(failures).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(wait(u32::MAX), LONGEST);
    }

    #[test]
    fn an_object_that_succeeded_starts_again() {
        let backoff = Backoff::default();
        let first = backoff.failed("uid");
        assert!(backoff.failed("uid") > first);
        backoff.forget("uid");
        assert_eq!(backoff.failed("uid"), first);
    }

    #[test]
    fn two_objects_do_not_come_back_together() {
        let backoff = Backoff::default();
        assert_ne!(backoff.failed("8f2c"), backoff.failed("91ab"));
    }
}
