//! What is mounted into the runner's container: the plan, the sources, `/out` and `/tmp`.

use anchorhold_crds::{ClaimSource, ConfigMapSource, ImageSource};
use anchorhold_plan::{OUT, OUT_VOLUME, PLAN_DIRECTORY, TMP, WORKSPACE};
use k8s_openapi::api::core::v1::{
    ConfigMapVolumeSource, EmptyDirVolumeSource, ImageVolumeSource, KeyToPath, PersistentVolumeClaimVolumeSource,
    Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::super::validate::{SourceKind, ValidatedJob, ValidatedSource};

/// Scratch space of tool processes; what is worth keeping goes to `/out`.
const TMP_SIZE: &str = "64Mi";
/// `r--r--r--`
const READ_ONLY: i32 = 0o444;

/// A volume and where it is mounted.
pub(super) struct Mounted {
    pub(super) volume: Volume,
    pub(super) mount: VolumeMount,
}

/// Every volume of the runner's container; `plan_name` is the plan's ConfigMap.
pub(super) fn build(job: &ValidatedJob, plan_name: &str) -> Vec<Mounted> {
    let mut mounted = vec![plan(plan_name)];
    mounted.extend(job.sources.iter().map(source));
    mounted.push(out(job));
    mounted.push(tmp());
    mounted
}

fn plan(config_map: &str) -> Mounted {
    let name = "plan".to_owned();
    Mounted {
        volume: Volume {
            name: name.clone(),
            config_map: Some(ConfigMapVolumeSource {
                name: config_map.to_owned(),
                default_mode: Some(READ_ONLY),
                ..ConfigMapVolumeSource::default()
            }),
            ..Volume::default()
        },
        mount: read_only(name, PLAN_DIRECTORY.into()),
    }
}

fn source(source: &ValidatedSource) -> Mounted {
    // The prefix keeps a source called `plan` or `tmp` apart from ours.
    let name = format!("source-{}", source.name);
    let mut mounted = Mounted {
        volume: Volume { name: name.clone(), ..Volume::default() },
        mount: read_only(name, format!("{WORKSPACE}/{}", source.name)),
    };
    match &source.kind {
        SourceKind::Claim(ClaimSource { claim_name, sub_path }) => {
            mounted.volume.persistent_volume_claim = Some(claim(claim_name, true));
            mounted.mount.sub_path.clone_from(sub_path);
        }
        SourceKind::ConfigMap(ConfigMapSource { name, items }) => {
            mounted.volume.config_map = Some(ConfigMapVolumeSource {
                name: name.clone(),
                items: items.as_ref().map(|items| {
                    let file = |item: &anchorhold_crds::ConfigMapItem| KeyToPath {
                        key: item.key.clone(),
                        path: item.path.clone(),
                        mode: None,
                    };
                    items.iter().map(file).collect()
                }),
                default_mode: Some(READ_ONLY),
                optional: Some(false),
            });
        }
        SourceKind::Image(ImageSource { reference, pull_policy }) => {
            mounted.volume.image = Some(ImageVolumeSource {
                reference: Some(reference.clone()),
                pull_policy: pull_policy.map(|policy| policy.as_str().to_owned()),
            });
        }
    }
    mounted
}

fn out(job: &ValidatedJob) -> Mounted {
    let name = OUT_VOLUME.to_owned();
    let mut mounted = Mounted {
        volume: Volume { name: name.clone(), ..Volume::default() },
        mount: VolumeMount { name, mount_path: OUT.into(), ..VolumeMount::default() },
    };
    match &job.output.claim {
        Some(ClaimSource { claim_name, sub_path }) => {
            mounted.volume.persistent_volume_claim = Some(claim(claim_name, false));
            mounted.mount.sub_path.clone_from(sub_path);
        }
        None => mounted.volume.empty_dir = Some(bounded(job.output.size_limit.clone())),
    }
    mounted
}

fn tmp() -> Mounted {
    let name = "tmp".to_owned();
    Mounted {
        volume: Volume { name: name.clone(), empty_dir: Some(bounded(Quantity(TMP_SIZE.into()))), ..Volume::default() },
        mount: VolumeMount { name, mount_path: TMP.into(), ..VolumeMount::default() },
    }
}

fn read_only(name: String, mount_path: String) -> VolumeMount {
    VolumeMount { name, mount_path, read_only: Some(true), ..VolumeMount::default() }
}

fn claim(claim_name: &str, read_only: bool) -> PersistentVolumeClaimVolumeSource {
    PersistentVolumeClaimVolumeSource { claim_name: claim_name.to_owned(), read_only: Some(read_only) }
}

/// The kubelet evicts a pod that holds more.
fn bounded(size: Quantity) -> EmptyDirVolumeSource {
    EmptyDirVolumeSource { size_limit: Some(size), ..EmptyDirVolumeSource::default() }
}
