//! Code reaches a job read-only, from each kind of source.

use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::{Case, Installation, node};
use serde_json::{Value, json};

const LIST: &str = "return await tools.ls({path: '/workspace/app'})";

/// A PersistentVolume on a folder of the node, and a claim of it in the namespace.
pub(crate) async fn claim(case: &Case, name: &str, folder: &str, kind: &str) -> Value {
    // Volumes are of no namespace: one of an earlier run on a kept node must not stand in the way.
    let volume = format!("{}-{name}-{}", case.namespace, std::process::id());
    let manifest = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
        "spec": {"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteMany"], "storageClassName": "",
                 "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": folder, "type": kind},
                 "claimRef": {"namespace": case.namespace, "name": name}},
    });
    case.cluster.create("", &manifest.to_string()).await;
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": volume, "resources": {"requests": {"storage": "1Mi"}}},
    });
    case.cluster.create(&case.namespace, &claim.to_string()).await
}

/// A folder of the node for this test.
pub(crate) fn folder(case: &Case, name: &str) -> std::path::PathBuf {
    let volumes =
        node::status()["volumes"].as_str().map(std::path::PathBuf::from).expect("the node has a folder for volumes");
    let folder = volumes.join(&case.namespace).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn a_claim_is_read_and_nothing_more_of_it_than_its_subpath() {
    Installation::ready();
    let case = Case::new("claim").await;
    let folder = folder(&case, "code");
    std::fs::create_dir_all(folder.join("app")).unwrap();
    std::fs::write(folder.join("app/inside.txt"), "inside").unwrap();
    std::fs::write(folder.join("outside.txt"), "outside").unwrap();
    claim(&case, "code", &folder.display().to_string(), "Directory").await;
    let job = script("claim", "return [await tools.ls({path: '/workspace/app'}), await tools.read({path: '/workspace/app/../outside.txt'}).catch(e => 'refused')]")
        .with("sources", json!([{"name": "app", "persistentVolumeClaim": {"claimName": "code", "subPath": "app"}}]))
        .create(&case.cluster, &case.namespace)
        .await;
    let text = job.completed().await["status"]["result"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("inside.txt") && !text.contains("outside.txt\""), "{text}");
    assert!(text.contains("refused"), "{text}");
}

#[tokio::test]
async fn an_oci_image_is_read() {
    Installation::ready();
    let case = Case::new("image-volume").await;
    let job = script("image", LIST)
        .with(
            "sources",
            json!([{"name": "app", "image": {"reference": "localhost/anchorhold-test-code:test", "pullPolicy": "Never"}}]),
        )
        .create(&case.cluster, &case.namespace)
        .await;
    let text = job.completed().await["status"]["result"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("hello.txt"), "{text}");
}

#[tokio::test]
async fn a_claim_that_is_missing_is_named_and_the_job_starts_when_it_comes() {
    Installation::ready();
    let case = Case::new("claim-later").await;
    let job =
        script("later", LIST).with("sources", json!([{"name": "app", "persistentVolumeClaim": {"claimName": "late"}}]));
    let job = job.create(&case.cluster, &case.namespace).await;
    let message = job.reason("ResolvedRefs", "SourceNotFound").await;
    assert!(message.contains("spec.sources[0]") && message.contains("late"), "{message}");
    assert_eq!(job.pods().await.len(), 0);
    let folder = folder(&case, "late");
    std::fs::write(folder.join("here.txt"), "here").unwrap();
    claim(&case, "late", &folder.display().to_string(), "Directory").await;
    let text = job.completed().await["status"]["result"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("here.txt"), "{text}");
}

#[tokio::test]
async fn a_source_that_never_comes_fails_the_job_when_the_start_deadline_passes() {
    Installation::ready();
    let case = Case::new("claim-missing").await;
    let job = script("missing", LIST)
        .with("sources", json!([{"name": "app", "configMap": {"name": "nowhere"}}]))
        .with("startDeadlineSeconds", json!(3))
        .create(&case.cluster, &case.namespace)
        .await;
    let (reason, message, _) = job.failed().await;
    assert_eq!(reason, "SourceMissing");
    assert!(message.contains("spec.sources[0]") && message.contains("nowhere"), "{message}");
}

#[tokio::test]
async fn an_empty_source_fails_the_job_before_its_script() {
    Installation::ready();
    let case = Case::new("empty").await;
    let folder = folder(&case, "nothing");
    claim(&case, "nothing", &folder.display().to_string(), "Directory").await;
    let job = script("empty", LIST)
        .with("sources", json!([{"name": "app", "persistentVolumeClaim": {"claimName": "nothing"}}]));
    let job = job.create(&case.cluster, &case.namespace).await;
    let (reason, message, now) = job.failed().await;
    assert_eq!(reason, "SourceEmpty");
    assert!(message.contains("app"), "{message}");
    assert_eq!(now["status"]["usage"]["scripts"].as_u64().unwrap_or(0), 0);
}

#[tokio::test]
async fn a_claim_that_cannot_be_mounted_is_named() {
    Installation::ready();
    let case = Case::new("unmountable").await;
    let gone = folder(&case, "gone");
    std::fs::remove_dir(&gone).unwrap();
    claim(&case, "gone", &gone.display().to_string(), "Directory").await;
    let job = script("unmountable", LIST)
        .with("sources", json!([{"name": "app", "persistentVolumeClaim": {"claimName": "gone"}}]))
        .with("startDeadlineSeconds", json!(30))
        .create(&case.cluster, &case.namespace)
        .await;
    let (reason, message, _) = job.failed().await;
    assert_eq!(reason, "SourceNotMountable");
    assert!(message.contains("gone") || message.contains("app"), "{message}");
}
