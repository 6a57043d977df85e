//! Names that operator, runner, charts and users must agree on. Every one is part of the API.

/// The API group of the three kinds.
pub const GROUP: &str = "anchorhold.dev";
/// The API version of the three kinds.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of every object of the three kinds.
pub const API_VERSION: &str = "anchorhold.dev/v1alpha1";

/// The label that a job's NetworkPolicy selects its pods by; the value is the job's name. Reserved: what a user writes
/// never sets it, and the chart's `ValidatingAdmissionPolicy` lets nobody but the operator create a pod that carries it.
pub const JOB_LABEL: &str = "anchorhold.dev/job";
/// The label of a pod with the number of its attempt, from 0.
pub const ATTEMPT_LABEL: &str = "anchorhold.dev/attempt";
/// The label of a job's objects with the name of its agent.
pub const AGENT_LABEL: &str = "anchorhold.dev/agent";
/// The well-known label that says who made an object.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
/// The value of [`MANAGED_BY_LABEL`] on every object the operator makes.
pub const MANAGED_BY: &str = "anchorhold";
/// The field manager of the operator's server-side apply.
pub const FIELD_MANAGER: &str = "anchorhold-operator";

/// The longest name of a Job, Agent or McpServer. It becomes a label value, and those end at 63 characters.
pub const NAME_MAX: usize = 63;

/// The ConfigMap with a plan of a job, named by the plan's SHA-256 in hexadecimal: what is mounted under the name is what was
/// decided for the attempt, and an attempt after a change of the Agent or the installation has another.
#[must_use]
pub fn plan_config_map(job: &str, plan_sha256: &str) -> String {
    format!("{job}-plan-{}", plan_sha256.get(..10).unwrap_or(plan_sha256))
}

/// The ConfigMap with what a job's broker may reach.
#[must_use]
pub fn broker_config_map(job: &str) -> String {
    format!("{job}-broker")
}

/// The NetworkPolicy of a job: the job's own name.
#[must_use]
pub fn network_policy(job: &str) -> String {
    job.to_owned()
}

/// The NetworkPolicy of a namespace that seals every job in it, whatever becomes of the jobs' own policies: policies add up,
/// and this one allows nothing.
pub const BASELINE_NETWORK_POLICY: &str = "anchorhold-jobs";

/// The pod of an attempt. Attempts count from 0.
#[must_use]
pub fn pod(job: &str, attempt: i32) -> String {
    format!("{job}-{attempt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_the_longest_job_name_still_have_names_kubernetes_takes() {
        let job = "j".repeat(NAME_MAX);
        let hash = "0123456789abcdef".repeat(4);
        for name in [plan_config_map(&job, &hash), broker_config_map(&job), network_policy(&job), pod(&job, i32::MAX)] {
            assert!(name.len() <= 253, "{name} is a DNS subdomain of {} characters", name.len());
        }
        assert_eq!(pod("count", 2), "count-2");
        assert_eq!(plan_config_map("count", &hash), "count-plan-0123456789");
    }
}
