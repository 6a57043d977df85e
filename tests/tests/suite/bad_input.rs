//! What a person gets wrong is named, with its field and what to do: by the server, or in `kubectl describe`.

use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::{Case, Installation, command};
use serde_json::{Value, json};

fn job(spec: Value) -> String {
    let mut job = json!({"apiVersion": "anchorhold.dev/v1alpha1", "kind": "Job", "metadata": {"name": "bad"}, "spec": {"agentRef": {"name": "bad"}}});
    if let (Some(to), Value::Object(from)) = (job["spec"].as_object_mut(), spec) {
        to.extend(from);
    }
    job.to_string()
}

#[tokio::test]
async fn the_server_refuses_what_the_schema_and_its_rules_refuse() {
    Installation::ready();
    let case = Case::new("refused").await;
    let name64 = "x".repeat(64);
    let long = script(&name64, "return 1").manifest();
    for (manifest, names) in [
        (job(json!({"script": "return 1", "netwrok": true})), "unknown field \"spec.netwrok\""),
        (job(json!({"script": 7})), "spec.script"),
        (job(json!({"script": "  \n"})), "spec.script"),
        (job(json!({"script": "return 1", "prompt": "both"})), "exactly one of"),
        (job(json!({})), "exactly one of"),
        (job(json!({"script": "return 1", "backoffLimit": 11})), "spec.backoffLimit"),
        (
            job(
                json!({"script": "return 1", "sources": [{"name": "app", "persistentVolumeClaim": {"claimName": ""}}]}),
            ),
            "claimName",
        ),
        (job(json!({"script": "return 1", "sources": [{"name": "app"}]})), "spec.sources[0]"),
        (
            job(
                json!({"script": "return 1", "sources": [{"name": "a", "configMap": {"name": "x"}}, {"name": "a", "configMap": {"name": "y"}}]}),
            ),
            "Duplicate value",
        ),
        (long, "63"),
    ] {
        let said = command::refused("kubectl", &["create", "-n", &case.namespace, "-f", "-"], Some(&manifest));
        assert!(said.contains(names), "for {manifest}\nwanted {names:?} in {said}");
    }
}

#[tokio::test]
async fn a_job_without_its_agent_says_so_and_starts_when_it_comes() {
    Installation::ready();
    let case = Case::new("no-agent").await;
    let wanted = script("orphan", "return 1");
    let job = wanted.create_job(&case.cluster, &case.namespace).await;
    let message = job.reason("ResolvedRefs", "AgentNotFound").await;
    assert!(message.contains("spec.agentRef.name") && message.contains("orphan"), "{message}");
    case.cluster.create(&case.namespace, &wanted.agent_manifest()).await;
    job.completed().await;
}

#[tokio::test]
async fn what_is_not_built_yet_is_refused_by_name() {
    Installation::ready();
    let case = Case::new("not-yet").await;
    let agent =
        json!({"apiVersion": "anchorhold.dev/v1alpha1", "kind": "Agent", "metadata": {"name": "bad"}, "spec": {}});
    case.cluster.create(&case.namespace, &agent.to_string()).await;
    case.cluster.create(&case.namespace, &job(json!({"prompt": "say hello"}))).await;
    let described =
        anchorhold_cluster_tests::wait::until("the job to say that prompts are not implemented", || async {
            let text = command::run("kubectl", &["describe", "ajob", "bad", "-n", &case.namespace]);
            if text.contains("NotImplemented") { Ok(text) } else { Err(text) }
        })
        .await;
    assert!(described.contains("spec.prompt"), "{described}");
}

#[tokio::test]
async fn a_finished_spec_cannot_be_changed_but_for_what_may() {
    Installation::ready();
    let case = Case::new("immutable").await;
    let job = script("fixed", "return 1").create(&case.cluster, &case.namespace).await;
    let patch = json!({"spec": {"script": "return 2"}});
    let refused =
        case.cluster.patch("anchorhold.dev/v1alpha1", "Job", &case.namespace, "fixed", &patch).await.unwrap_err();
    assert!(refused.to_string().contains("spec.script of a Job cannot change"), "{refused}");
    job.change(json!({"ttlSecondsAfterFinished": 3600})).await;
    job.completed().await;
}

#[tokio::test]
async fn a_foreign_object_of_a_name_we_need_is_left_alone_and_named() {
    Installation::ready();
    let case = Case::new("conflict").await;
    let foreign = json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "taken"}, "spec": {"podSelector": {"matchLabels": {"mine": "yes"}}}});
    case.cluster.create(&case.namespace, &foreign.to_string()).await;
    let job = script("taken", "return 1").create(&case.cluster, &case.namespace).await;
    let (reason, message, _) = job.failed().await;
    assert_eq!(reason, "NameConflict");
    assert!(message.contains("NetworkPolicy taken"), "{message}");
    let kept = case.cluster.get("networking.k8s.io/v1", "NetworkPolicy", &case.namespace, "taken").await.unwrap();
    assert_eq!(kept["spec"]["podSelector"], json!({"matchLabels": {"mine": "yes"}}));
}

#[tokio::test]
async fn a_server_url_or_header_that_could_harm_is_refused_with_its_field() {
    Installation::ready();
    let case = Case::new("mcp").await;
    for (name, spec, field) in [
        ("loopback", json!({"url": "http://2130706433/mcp"}), "spec.url"),
        ("metadata", json!({"url": "http://169.254.169.254/mcp"}), "spec.url"),
        (
            "host",
            json!({"url": "https://tracker.example.com/mcp", "headers": [{"name": "Host", "value": "x"}]}),
            "spec.headers[0]",
        ),
        (
            "harness",
            json!({"url": "https://tracker.example.com/mcp", "headers": [{"name": "X-A", "value": "${HOME}"}]}),
            "spec.headers[0]",
        ),
    ] {
        let server = json!({"apiVersion": "anchorhold.dev/v1alpha1", "kind": "McpServer", "metadata": {"name": name}, "spec": spec});
        // Either the server refuses it at once, or the operator says so in its condition.
        match case.cluster.try_create(&case.namespace, &server.to_string()).await {
            Err(error) => assert!(error.to_string().contains(field), "{name}: {error}"),
            Ok(_) => {
                anchorhold_cluster_tests::wait::until(&format!("{name} to be refused"), || async {
                    let now = case
                        .cluster
                        .get("anchorhold.dev/v1alpha1", "McpServer", &case.namespace, name)
                        .await
                        .unwrap_or_default();
                    let (_, message) = anchorhold_cluster_tests::job::reason_of(&now, "Accepted");
                    let refused = anchorhold_cluster_tests::job::status_of(&now, "Accepted") == "False";
                    if refused && message.contains(field) { Ok(()) } else { Err(now["status"].clone()) }
                })
                .await;
            }
        }
    }
}
