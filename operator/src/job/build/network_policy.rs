//! The job's NetworkPolicy: nothing in, nothing out.

use std::collections::BTreeMap;

use anchorhold_crds::names;
use k8s_openapi::api::networking::v1::{NetworkPolicy, NetworkPolicySpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::super::validate::ValidatedJob;
use super::metadata;

/// A script job reaches nothing: both types are named and no rule is given, which denies all of both.
pub(super) fn build(job: &ValidatedJob) -> NetworkPolicy {
    let selector = BTreeMap::from([(names::JOB_LABEL.to_owned(), job.name.clone())]);
    NetworkPolicy {
        metadata: metadata(job, names::network_policy(&job.name)),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(LabelSelector { match_labels: Some(selector), ..LabelSelector::default() }),
            policy_types: Some(vec!["Ingress".into(), "Egress".into()]),
            ..NetworkPolicySpec::default()
        }),
    }
}
