//! The ConfigMap that carries the plan to the runner.

use std::collections::BTreeMap;

use anchorhold_plan::PLAN_KEY;
use k8s_openapi::api::core::v1::ConfigMap;

use super::super::validate::ValidatedJob;
use super::metadata;

/// Immutable: a plan that could change would make a result belong to nothing one can read, and the kubelet need not watch it.
pub(super) fn build(job: &ValidatedJob, name: String, plan_json: String) -> ConfigMap {
    ConfigMap {
        metadata: metadata(job, name),
        data: Some(BTreeMap::from([(PLAN_KEY.to_owned(), plan_json)])),
        immutable: Some(true),
        ..ConfigMap::default()
    }
}
