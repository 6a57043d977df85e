//! The objects of a job, built from what was validated. Pure and total: whatever could fail has been checked before.
//!
//! ```text
//! NetworkPolicy anchorhold-jobs     of the namespace, for all jobs in it
//! NetworkPolicy <job>               exists before the pod: there is no moment without rules
//! ConfigMap     <job>-plan-<hash>   immutable, and named by what it holds: what runs is what was decided for the attempt
//! Pod           <job>-<attempt>
//! ```

mod config_map;
mod network_policy;
mod pod;
mod volumes;

use std::collections::BTreeMap;

use anchorhold_crds::names;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use sha2::{Digest, Sha256};

pub(crate) use self::network_policy::baseline;
use super::validate::ValidatedJob;
use crate::settings::Settings;

/// Everything one attempt needs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resources {
    /// The pod's packet filter.
    pub(crate) network_policy: NetworkPolicy,
    /// The plan.
    pub(crate) plan: ConfigMap,
    /// The attempt itself.
    pub(crate) pod: Pod,
}

/// One attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Its number, from 0.
    pub(crate) number: i32,
    /// What is left of the job's time, seconds; at least 1.
    pub(crate) seconds_left: i64,
}

/// Builds the objects of one attempt around the plan, which is `plan_json`.
pub(crate) fn build(job: &ValidatedJob, plan_json: String, settings: &Settings, attempt: Attempt) -> Resources {
    let plan_name = names::plan_config_map(&job.name, &hash(&plan_json));
    Resources {
        network_policy: network_policy::build(job),
        pod: pod::build(job, &plan_name, settings, attempt),
        plan: config_map::build(job, plan_name, plan_json),
    }
}

/// SHA-256 in lower-case hexadecimal.
fn hash(text: &str) -> String {
    use std::fmt::Write;
    Sha256::digest(text).iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

/// The metadata of an object of the job. Labels and annotations of the Job are not copied: what a user writes there must
/// not reach a selector, an admission rule or a scheduler.
fn metadata(job: &ValidatedJob, name: String) -> ObjectMeta {
    ObjectMeta {
        name: Some(name),
        namespace: Some(job.namespace.clone()),
        labels: Some(BTreeMap::from([
            (names::MANAGED_BY_LABEL.to_owned(), names::MANAGED_BY.to_owned()),
            (names::JOB_LABEL.to_owned(), job.name.clone()),
            (names::AGENT_LABEL.to_owned(), job.agent.clone()),
        ])),
        owner_references: Some(vec![job.owner.clone()]),
        ..ObjectMeta::default()
    }
}
