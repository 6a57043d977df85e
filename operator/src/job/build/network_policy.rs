//! The job's NetworkPolicy, and the one beneath it that its namespace has for all jobs: nothing in, nothing out.

use std::collections::BTreeMap;

use anchorhold_crds::names;
use k8s_openapi::api::networking::v1::{NetworkPolicy, NetworkPolicySpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement, ObjectMeta};

use super::super::validate::ValidatedJob;
use super::metadata;

/// A script job reaches nothing.
pub(super) fn build(job: &ValidatedJob) -> NetworkPolicy {
    let selector = BTreeMap::from([(names::JOB_LABEL.to_owned(), job.name.clone())]);
    NetworkPolicy {
        metadata: metadata(job, names::network_policy(&job.name)),
        spec: Some(deny_all(LabelSelector { match_labels: Some(selector), ..LabelSelector::default() })),
    }
}

/// It belongs to no job: a deleted job's own policy can leave before its pod does, and the pod must not spend its grace
/// period without any. Its label keeps it from being changed by others.
pub(crate) fn baseline(namespace: &str) -> NetworkPolicy {
    let labelled = LabelSelectorRequirement {
        key: names::JOB_LABEL.into(),
        operator: "Exists".into(),
        ..LabelSelectorRequirement::default()
    };
    NetworkPolicy {
        metadata: ObjectMeta {
            name: Some(names::BASELINE_NETWORK_POLICY.into()),
            namespace: Some(namespace.to_owned()),
            labels: Some(BTreeMap::from([
                (names::MANAGED_BY_LABEL.to_owned(), names::MANAGED_BY.to_owned()),
                (names::JOB_LABEL.to_owned(), String::new()),
            ])),
            ..ObjectMeta::default()
        },
        spec: Some(deny_all(LabelSelector { match_expressions: Some(vec![labelled]), ..LabelSelector::default() })),
    }
}

/// Both types are named and no rule is given, which denies all of both.
fn deny_all(pods: LabelSelector) -> NetworkPolicySpec {
    NetworkPolicySpec {
        pod_selector: Some(pods),
        policy_types: Some(vec!["Ingress".into(), "Egress".into()]),
        ..NetworkPolicySpec::default()
    }
}
