//! From YAML to a result, and everything gone in the end.

use anchorhold_cluster_tests::job::{reason_of, script, status_of};
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Installation};
use serde_json::json;

#[tokio::test]
async fn a_job_completes_and_its_result_is_in_the_status() {
    Installation::ready();
    let case = Case::new("completes").await;
    let job = script("answer", "text('looking'); return 6 * 7").create(&case.cluster, &case.namespace).await;
    let done = job.completed().await;
    let status = &done["status"];
    let text = status["result"]["text"].as_str().unwrap();
    assert!(text.lines().any(|line| line == "42") && text.lines().any(|line| line == "looking"), "{text}");
    assert_eq!(status["result"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(status["observedGeneration"], done["metadata"]["generation"]);
    assert_eq!(status["usage"]["scripts"], 1);
    assert_eq!(status["attempts"].as_array().map(Vec::len), Some(1));
    assert_eq!(status["podName"], "answer-0");
    assert_eq!(status_of(&done, "NetworkPolicyEnforced"), "True", "{status:#}");
    assert_eq!(status_of(&done, "Accepted"), "True");
    assert_eq!(status_of(&done, "ResolvedRefs"), "True");
    // The end and its event are two requests.
    until("an event that tells of the end", || async {
        let events = job.events().await;
        if events.iter().any(|reason| reason == "Completed" || reason == "Complete") { Ok(()) } else { Err(events) }
    })
    .await;
}

#[tokio::test]
async fn a_job_reads_its_configmap_source_through_the_tools() {
    Installation::ready();
    let case = Case::new("reads").await;
    let config_map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "code"}, "data": {"main.rs": "fn main() {\n    answer();\n}\n"}});
    case.cluster.create(&case.namespace, &config_map.to_string()).await;
    let job = script("grep", "return await tools.grep({pattern: 'answer', path: '/workspace/app'})")
        .with("sources", json!([{"name": "app", "configMap": {"name": "code"}}]))
        .create(&case.cluster, &case.namespace)
        .await;
    let done = job.completed().await;
    let text = done["status"]["result"]["text"].as_str().unwrap();
    assert!(text.contains("main.rs:2:     answer();"), "{text}");
    assert_eq!(done["status"]["usage"]["toolCalls"], 1);
}

#[tokio::test]
async fn a_name_of_63_characters_works_to_the_end() {
    Installation::ready();
    let case = Case::new("long-name").await;
    let name = format!("a{}z", "-b".repeat(30)) + "c";
    assert_eq!(name.len(), 63);
    let job = script(&name, "return 1").create(&case.cluster, &case.namespace).await;
    job.completed().await;
}

#[tokio::test]
async fn a_job_that_ended_is_removed_with_all_it_made_when_its_time_is_over() {
    Installation::ready();
    let case = Case::new("ttl").await;
    let job = script("short", "return 1")
        .with("ttlSecondsAfterFinished", json!(1))
        .create(&case.cluster, &case.namespace)
        .await;
    until("the job and everything of it to be gone", || async {
        let mut left = vec![];
        left.extend(job.get().await);
        left.extend(job.pods().await);
        left.extend(job.owned("v1", "ConfigMap").await);
        left.extend(job.owned("networking.k8s.io/v1", "NetworkPolicy").await);
        if left.is_empty() {
            Ok(())
        } else {
            Err(left.iter().map(|object| object["metadata"]["name"].clone()).collect::<Vec<_>>())
        }
    })
    .await;
}

#[tokio::test]
async fn a_suspended_job_starts_nothing_until_it_is_resumed() {
    Installation::ready();
    let case = Case::new("suspend").await;
    let job = script("later", "return 'now'").with("suspend", json!(true)).create(&case.cluster, &case.namespace).await;
    let suspended = job.wait_for("Suspended").await;
    assert_eq!(suspended["status"]["startTime"], json!(null));
    assert_eq!(job.pods().await.len(), 0);
    job.change(json!({"suspend": false})).await;
    let done = job.completed().await;
    assert_eq!(status_of(&done, "Suspended"), "False");
}

#[tokio::test]
async fn a_running_job_that_is_suspended_stops_and_runs_again_when_resumed() {
    Installation::ready();
    let case = Case::new("pause").await;
    let job = script("pause", "for (;;) {}").with("activeDeadlineSeconds", json!(600));
    let job = job.create(&case.cluster, &case.namespace).await;
    let first = job.started().await;
    job.change(json!({"suspend": true})).await;
    until("the pod to have ended", || async {
        let pods = job.pods().await;
        let ended = pods.iter().all(|pod| matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded")));
        if ended { Ok(()) } else { Err(pods.iter().map(|pod| pod["status"]["phase"].clone()).collect::<Vec<_>>()) }
    })
    .await;
    let paused = job.wait_for("Suspended").await;
    assert_ne!(status_of(&paused, "Failed"), "True");
    job.change(json!({"suspend": false})).await;
    until("a second pod", || async {
        let names: Vec<_> = job.pods().await.iter().map(|pod| pod["metadata"]["name"].clone()).collect();
        if names.iter().any(|name| *name != first.as_str()) { Ok(()) } else { Err(names) }
    })
    .await;
    job.change(json!({"cancel": {"reason": "the test is over"}})).await;
    assert_eq!(job.failed().await.0, "Cancelled");
}

#[tokio::test]
async fn what_kubectl_shows_tells_how_the_job_stands() {
    Installation::ready();
    let case = Case::new("columns").await;
    let job = script("shown", "return 1").create(&case.cluster, &case.namespace).await;
    job.completed().await;
    let table = anchorhold_cluster_tests::command::run("kubectl", &["get", "ajob", "-n", &case.namespace]);
    let heads: Vec<_> = table.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(heads, ["NAME", "STATUS", "REASON", "AGENT", "TURNS", "TOOLS", "STARTED", "DURATION", "AGE"]);
    let row: Vec<_> = table.lines().nth(1).unwrap_or_default().split_whitespace().collect();
    assert_eq!(row[..2], ["shown", "Complete"], "{table}");
}

#[tokio::test]
async fn an_agent_lists_what_its_jobs_may_call() {
    Installation::ready();
    let case = Case::new("agent").await;
    let job = script("tools", "return Object.keys(tools).join()").agent("tools", json!(["read", "codemode"]));
    let job = job.create(&case.cluster, &case.namespace).await;
    let agent = until("the agent to be Ready", || async {
        let agent =
            case.cluster.get("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "tools").await.unwrap_or_default();
        if status_of(&agent, "Ready") == "True" { Ok(agent) } else { Err(agent["status"].clone()) }
    })
    .await;
    let names: Vec<_> =
        agent["status"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read", "codemode"]);
    let done = job.completed().await;
    assert_eq!(done["status"]["result"]["text"], "read", "{:#}", done["status"]);
    assert_eq!(reason_of(&done, "Complete").0, "Completed");
}

#[tokio::test]
async fn an_agent_that_asks_for_what_is_to_come_is_refused_by_name_and_so_are_its_jobs() {
    Installation::ready();
    let case = Case::new("to-come").await;
    let job = script("to-come", "return 1").agent("instructions", json!("Be brief."));
    let job = job.create(&case.cluster, &case.namespace).await;
    let message = until("the agent to be refused", || async {
        let agent =
            case.cluster.get("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "to-come").await.unwrap_or_default();
        let (reason, message) = reason_of(&agent, "Accepted");
        if reason == "NotImplemented" { Ok(message) } else { Err(agent["status"].clone()) }
    })
    .await;
    assert!(message.starts_with("spec.instructions is not implemented in this version"), "{message}");
    let (reason, message, _) = job.failed().await;
    assert_eq!(reason, "NotImplemented");
    assert!(message.starts_with("spec.instructions of Agent to-come is not implemented"), "{message}");
}
