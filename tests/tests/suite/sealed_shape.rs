//! The shape of a job's pod is kept by the API server: a program with the operator's own token can make sealed pods, and no other.

use std::collections::BTreeMap;

use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::{Case, Installation, command};
use serde_json::{Value, json};

const OPERATOR: &str = "--as=system:serviceaccount:anchorhold-system:anchorhold-operator";

/// A pod as the operator makes it.
fn sealed(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"anchorhold.dev/job": "seal", "anchorhold.dev/attempt": "0", "app.kubernetes.io/managed-by": "anchorhold"},
            "ownerReferences": [{
                "apiVersion": "anchorhold.dev/v1alpha1", "kind": "Job", "name": "seal", "controller": true,
                "uid": "11111111-1111-1111-1111-111111111111",
            }],
        },
        "spec": {
            "automountServiceAccountToken": false, "enableServiceLinks": false, "restartPolicy": "Never",
            "dnsPolicy": "None", "dnsConfig": {"nameservers": ["127.0.0.1"]},
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "runner", "image": "localhost/anchorhold-runner:0", "imagePullPolicy": "Never",
                "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [{"name": "code", "mountPath": "/workspace/app", "readOnly": true}, {"name": "out", "mountPath": "/out"}],
            }],
            "volumes": [{"name": "code", "image": {"reference": "localhost/code:1"}}, {"name": "out", "emptyDir": {}}],
        },
    })
}

/// What is changed (a JSON pointer; `-` at its end appends), into what, and how the refusal begins.
#[rustfmt::skip]
fn breaches() -> Vec<(&'static str, Value, &'static str)> {
    let node = "a job's pod shares nothing with its node";
    let credential = "a job's pod holds no credential and no part of its node";
    let user = "a job's pod runs as a user other than root";
    let container = "each container of a job's pod has a read-only root";
    let others = "a job's pod holds the containers runner and broker and no other";
    let network = "a job's pod has no DNS";
    let owner = "a job's pod must be controlled by the Job";
    let mounts = "every mount of a job's pod but /out, /tmp and /run/anchorhold is read-only";
    vec![
        ("/spec/hostNetwork", json!(true), node),
        ("/spec/hostPID", json!(true), node),
        ("/spec/hostIPC", json!(true), node),
        ("/spec/shareProcessNamespace", json!(true), node),
        ("/spec/containers/0/ports", json!([{"containerPort": 80, "hostPort": 80}]), node),
        ("/spec/automountServiceAccountToken", json!(true), credential),
        ("/spec/automountServiceAccountToken", Value::Null, credential),
        ("/spec/volumes/-", json!({"name": "x", "hostPath": {"path": "/"}}), credential),
        ("/spec/volumes/-", json!({"name": "x", "secret": {"secretName": "x"}}), credential),
        ("/spec/volumes/-", json!({"name": "x", "projected": {"sources": [{"serviceAccountToken": {"path": "x"}}]}}), credential),
        ("/spec/volumes/-", json!({"name": "x", "csi": {"driver": "x"}}), credential),
        ("/spec/containers/0/envFrom", json!([{"secretRef": {"name": "x"}}]), credential),
        ("/spec/containers/0/env", json!([{"name": "X", "valueFrom": {"secretKeyRef": {"name": "x", "key": "x"}}}]), credential),
        ("/spec/containers/0/volumeMounts/0/readOnly", json!(false), mounts),
        ("/spec/containers/0/volumeMounts/1/mountPath", json!("/workspace/out"), mounts),
        ("/spec/securityContext/runAsNonRoot", Value::Null, user),
        ("/spec/securityContext/runAsUser", json!(0), user),
        ("/spec/securityContext/seccompProfile", Value::Null, user),
        ("/spec/securityContext/sysctls", json!([{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]), user),
        ("/spec/containers/0/securityContext/runAsNonRoot", json!(false), user),
        ("/spec/containers/0/securityContext/seccompProfile", json!({"type": "Unconfined"}), user),
        ("/spec/containers/0/securityContext", Value::Null, container),
        ("/spec/containers/0/securityContext/readOnlyRootFilesystem", json!(false), container),
        ("/spec/containers/0/securityContext/allowPrivilegeEscalation", Value::Null, container),
        ("/spec/containers/0/securityContext/capabilities", json!({"drop": ["NET_RAW"]}), container),
        ("/spec/containers/0/securityContext/capabilities/add", json!(["NET_BIND_SERVICE"]), container),
        ("/spec/containers/0/securityContext/appArmorProfile", json!({"type": "Unconfined"}), container),
        ("/spec/containers/-", json!({"name": "sidecar", "image": "x"}), others),
        ("/spec/initContainers", json!([{"name": "init", "image": "x"}]), others),
        ("/spec/dnsPolicy", json!("Default"), network),
        ("/spec/enableServiceLinks", json!(true), network),
        ("/spec/restartPolicy", json!("OnFailure"), network),
        ("/metadata/ownerReferences", Value::Null, owner),
        ("/metadata/labels/anchorhold.dev~1job", json!("another"), owner),
        ("/metadata/labels", Value::Null, "the Anchorhold operator makes, changes and deletes only what carries the label"),
    ]
}

fn change(pod: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/");
    match pod.pointer_mut(parent).unwrap() {
        Value::Array(items) => items.push(value),
        Value::Object(fields) if value.is_null() => drop(fields.remove(&key)),
        parent => parent[key] = value,
    }
}

/// The tests' namespaces ask for Pod Security "restricted", which refuses much of this before our policies are asked.
fn without_pod_security(case: &Case) {
    let label = "pod-security.kubernetes.io/enforce=privileged";
    command::run("kubectl", &["label", "namespace", &case.namespace, "--overwrite", label]);
}

#[tokio::test]
async fn the_operator_itself_can_make_no_pod_of_another_shape() {
    Installation::ready();
    let case = Case::new("shape").await;
    without_pod_security(&case);
    let mut pods = vec![sealed("sealed")];
    let mut expected = BTreeMap::from([("sealed".to_owned(), "")]);
    for (number, (pointer, value, refusal)) in breaches().into_iter().enumerate() {
        let name = format!("breach-{number}");
        let mut pod = sealed(&name);
        change(&mut pod, pointer, value);
        pods.push(pod);
        expected.insert(name, refusal);
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": pods}).to_string();
    let args =
        ["create", "--dry-run=server", "--output=name", "--namespace", &case.namespace, OPERATOR, "--filename=-"];
    let output = command::attempt("kubectl", &args, Some(&list));

    let mut seen = BTreeMap::new();
    for name in String::from_utf8(output.stdout).unwrap().lines() {
        seen.insert(name.trim_start_matches("pod/").to_owned(), String::new());
    }
    for line in String::from_utf8(output.stderr).unwrap().lines() {
        let name = line.split('"').find(|word| word.starts_with("breach-") || *word == "sealed").unwrap_or(line);
        let refusal = line.split_once("denied request: ").map_or(line, |(_, refusal)| refusal);
        seen.insert(name.to_owned(), refusal.to_owned());
    }
    assert_eq!(seen.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, refusal) in expected {
        let said = &seen[&name];
        assert!(
            if refusal.is_empty() { said.is_empty() } else { said.starts_with(refusal) },
            "{name}: expected \"{refusal}\", got \"{said}\""
        );
    }
}

#[tokio::test]
async fn nobody_puts_another_program_into_a_running_job() {
    Installation::ready();
    let case = Case::new("entered").await;
    without_pod_security(&case);
    let job = script("entered", "for (;;) {}").with("activeDeadlineSeconds", json!(600));
    let job = job.create(&case.cluster, &case.namespace).await;
    job.started().await;
    let namespace = format!("--namespace={}", case.namespace);
    let image = ["set", "image", "pod/entered-0", "runner=localhost/pause:1", &namespace];
    for who in ["", OPERATOR] {
        let args: Vec<_> = image.iter().copied().chain((!who.is_empty()).then_some(who)).collect();
        let refused = command::refused("kubectl", &args, None);
        assert!(refused.contains("the spec of a job's pod is the operator's"), "{refused}");
    }
    let debug = ["debug", "entered-0", "--image=localhost/pause:1", "--attach=false", &namespace];
    let refused = command::refused("kubectl", &debug, None);
    assert!(refused.contains("a job's pod takes no ephemeral container"), "{refused}");
    let status = [
        "patch",
        "pod",
        "entered-0",
        "--subresource=status",
        "--type=merge",
        "--patch",
        r#"{"metadata":{"labels":{"anchorhold.dev/job":null}}}"#,
        &namespace,
    ];
    let refused = command::refused("kubectl", &status, None);
    assert!(refused.contains("cannot be added, changed or removed"), "{refused}");
    let marks = ["anchorhold.dev/stopped-for=Suspended", "anchorhold.dev/stopped-at=2020-01-01T00:00:00Z"];
    let refused = command::refused("kubectl", &["annotate", "pod", "entered-0", marks[0], marks[1], &namespace], None);
    assert!(refused.contains("of a job's pod are the operator's"), "{refused}");
    let orphaned = r#"{"metadata":{"ownerReferences":null}}"#;
    let patch = ["patch", "pod", "entered-0", "--type=merge", "--patch", orphaned, &namespace];
    let refused = command::refused("kubectl", &patch, None);
    assert!(refused.contains("a job's pod stays its Job's"), "{refused}");
    // The control: what is nobody's business of ours can be written.
    command::run("kubectl", &["annotate", "pod", "entered-0", "example.com/note=x", &namespace]);
    job.change(json!({"cancel": {"reason": "the test is over"}})).await;
    job.failed().await;
}

#[tokio::test]
async fn however_a_job_is_deleted_a_policy_stays_that_seals_what_is_left_of_it() {
    Installation::ready();
    let case = Case::new("deleted").await;
    let namespace = format!("--namespace={}", case.namespace);
    for cascade in ["background", "foreground", "orphan"] {
        let name = format!("gone-{cascade}");
        let job = script(&name, "for (;;) {}").create(&case.cluster, &case.namespace).await;
        job.started().await;
        let cascade_flag = format!("--cascade={cascade}");
        command::run("kubectl", &["delete", "jobs.anchorhold.dev", &name, &cascade_flag, &namespace]);
        let all = case.cluster.list("networking.k8s.io/v1", "NetworkPolicy", &case.namespace).await;
        let baseline = all.iter().find(|policy| policy["metadata"]["name"] == "anchorhold-jobs").unwrap();
        let selected = json!({"matchExpressions": [{"key": "anchorhold.dev/job", "operator": "Exists"}]});
        assert_eq!(baseline["spec"], json!({"podSelector": selected, "policyTypes": ["Ingress", "Egress"]}));
    }
    let kept = command::refused("kubectl", &["delete", "networkpolicy", "anchorhold-jobs", &namespace], None);
    assert!(kept.contains("it cannot be changed"), "{kept}");
    // What was orphaned holds nothing any more, and may be cleared away.
    command::run("kubectl", &["delete", "networkpolicy", "gone-orphan", &namespace]);
    command::run("kubectl", &["delete", "pod", "gone-orphan-0", &namespace]);
    command::run("kubectl", &["delete", "configmaps", "--selector=anchorhold.dev/job=gone-orphan", &namespace]);
}
