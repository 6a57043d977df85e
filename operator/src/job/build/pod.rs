//! The pod of one attempt. Every field here is a part of the sandbox; Pod Security "restricted" admits it.

use anchorhold_crds::names;
use anchorhold_plan::{RUNNER_CONTAINER, RUNNER_PROGRAM, RUNNER_UID, TERMINATION_MESSAGE_PATH};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, LocalObjectReference, Pod, PodDNSConfig, PodSecurityContext, PodSpec,
    ResourceRequirements, SeccompProfile, SecurityContext,
};

use super::super::validate::ValidatedJob;
use super::volumes::{self, Mounted};
use super::{Attempt, metadata};
use crate::settings::Settings;

/// A nameserver that answers nothing: the pod's own loopback. Names could carry data out.
const NO_DNS: &str = "127.0.0.1";
/// Seconds a runner has between SIGTERM and SIGKILL to write its result and record.
const GRACE_SECONDS: i64 = 10;

pub(super) fn build(job: &ValidatedJob, plan: &str, settings: &Settings, attempt: Attempt) -> Pod {
    let mut metadata = metadata(job, names::pod(&job.name, attempt.number));
    if let Some(labels) = &mut metadata.labels {
        labels.insert(names::ATTEMPT_LABEL.to_owned(), attempt.number.to_string());
    }
    let (volumes, mounts): (Vec<_>, Vec<_>) =
        volumes::build(job, plan).into_iter().map(|Mounted { volume, mount }| (volume, mount)).unzip();
    let sandbox = &job.sandbox;
    let user = i64::from(RUNNER_UID);
    Pod {
        metadata,
        spec: Some(PodSpec {
            active_deadline_seconds: Some(attempt.seconds_left),
            automount_service_account_token: Some(false),
            containers: vec![Container {
                name: RUNNER_CONTAINER.into(),
                image: Some(settings.runner_image.clone()),
                image_pull_policy: settings.runner_image_pull_policy.map(|policy| policy.as_str().to_owned()),
                command: Some(vec![RUNNER_PROGRAM.into()]),
                resources: Some(ResourceRequirements {
                    requests: Some(job.resources.requests.clone()),
                    limits: Some(job.resources.limits.clone()),
                    ..ResourceRequirements::default()
                }),
                security_context: Some(SecurityContext {
                    allow_privilege_escalation: Some(false),
                    capabilities: Some(Capabilities { drop: Some(vec!["ALL".into()]), add: None }),
                    read_only_root_filesystem: Some(true),
                    ..SecurityContext::default()
                }),
                termination_message_path: Some(TERMINATION_MESSAGE_PATH.into()),
                termination_message_policy: Some("File".into()),
                volume_mounts: Some(mounts),
                ..Container::default()
            }],
            dns_policy: Some("None".into()),
            dns_config: Some(PodDNSConfig { nameservers: Some(vec![NO_DNS.into()]), ..PodDNSConfig::default() }),
            enable_service_links: Some(false),
            image_pull_secrets: (!sandbox.image_pull_secrets.is_empty()).then(|| {
                sandbox
                    .image_pull_secrets
                    .iter()
                    .map(|secret| LocalObjectReference { name: secret.name.clone() })
                    .collect()
            }),
            node_selector: (!sandbox.node_selector.is_empty()).then(|| sandbox.node_selector.clone()),
            priority_class_name: sandbox.priority_class_name.clone(),
            restart_policy: Some("Never".into()),
            runtime_class_name: sandbox.runtime_class_name.clone(),
            security_context: Some(PodSecurityContext {
                fs_group: Some(user),
                // A claim whose root already fits is not walked through file by file.
                fs_group_change_policy: Some("OnRootMismatch".into()),
                run_as_group: Some(user),
                run_as_non_root: Some(true),
                run_as_user: Some(user),
                seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".into(), localhost_profile: None }),
                ..PodSecurityContext::default()
            }),
            termination_grace_period_seconds: Some(GRACE_SECONDS),
            tolerations: (!sandbox.tolerations.is_empty()).then(|| sandbox.tolerations.clone()),
            volumes: Some(volumes),
            ..PodSpec::default()
        }),
        ..Pod::default()
    }
}
