//! The newest version of each job that this process wrote.
//!
//! A watch may lag behind our own writes. Without this, a reconcile that follows our own write closely would compute the
//! next status from the one before it, and the API server would refuse that with a conflict. Nothing is lost when the
//! process ends: the ledger only spares requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anchorhold_crds::Job;
use kube::ResourceExt;

/// Jobs we wrote and have not seen in the watch yet, by uid.
#[derive(Default)]
pub struct Ledger {
    written: Mutex<HashMap<String, Arc<Job>>>,
}

impl Ledger {
    /// The newer of what the watch shows and what we wrote. Forgets what the watch has caught up with.
    pub(crate) fn newest(&self, seen: Arc<Job>) -> Arc<Job> {
        let Some(uid) = seen.uid() else { return seen };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match written.get(&uid) {
            Some(ours) if is_newer(ours, &seen) => Arc::clone(ours),
            Some(_) => {
                written.remove(&uid);
                seen
            }
            None => seen,
        }
    }

    /// Remembers what the API server answered to a write.
    pub(crate) fn wrote(&self, job: Arc<Job>) {
        if let Some(uid) = job.uid() {
            self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(uid, job);
        }
    }

    /// Forgets a job that is gone.
    pub fn forget(&self, uid: &str) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
    }
}

/// Resource versions of one resource are numbers that rise (KEP-5504 makes that a promise; etcd always kept it). Where
/// they are not, what the watch shows wins and a conflict costs one request.
fn is_newer(ours: &Job, seen: &Job) -> bool {
    let version = |job: &Job| job.resource_version().and_then(|version| version.parse::<u64>().ok());
    matches!((version(ours), version(seen)), (Some(ours), Some(seen)) if ours > seen)
}

#[cfg(test)]
mod tests {
    use anchorhold_crds::JobSpec;

    use super::*;

    fn job(version: &str) -> Arc<Job> {
        let spec: JobSpec =
            serde_json::from_value(serde_json::json!({"agentRef": {"name": "a"}, "script": "1"})).unwrap();
        let mut job = Job::new("count", spec);
        job.metadata.uid = Some("u1".into());
        job.metadata.resource_version = Some(version.into());
        Arc::new(job)
    }

    #[test]
    fn a_watch_that_lags_behind_our_write_does_not_win() {
        let ledger = Ledger::default();
        ledger.wrote(job("12"));
        assert_eq!(ledger.newest(job("9")).resource_version().as_deref(), Some("12"));
        assert_eq!(ledger.newest(job("13")).resource_version().as_deref(), Some("13"));
        assert_eq!(ledger.newest(job("9")).resource_version().as_deref(), Some("9"), "it was forgotten");
    }

    #[test]
    fn versions_that_are_no_numbers_leave_the_watch_its_word() {
        let ledger = Ledger::default();
        ledger.wrote(job("b"));
        assert_eq!(ledger.newest(job("a")).resource_version().as_deref(), Some("a"));
    }
}
