//! What a script of the shipped runner can reach of the pod it runs in.

use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::{Case, Installation};
use serde_json::json;

#[tokio::test]
async fn a_script_reads_its_sources_and_nothing_else_of_the_pod() {
    Installation::ready();
    let case = Case::new("paths").await;
    let config_map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "code"}, "data": {"a.txt": "readable"}});
    case.cluster.create(&case.namespace, &config_map.to_string()).await;
    // The attack tests show that a process of such a pod without our confinement reads these files.
    let text = r"
        const outside = ['/etc/anchorhold/plan.json', '/etc/hosts', '/proc/self/environ', '/proc/1/environ', '/workspace/../etc/hosts',
                         '/workspace/app/../../etc/hosts', '/dev/termination-log', '/anchorhold-runner']
        const seen = []
        for (const path of outside) await tools.read({path}).then(() => seen.push(path), () => {})
        const inside = await tools.read({path: '/workspace/app/a.txt'})
        return {seen, inside: String(inside).includes('readable')}";
    let job = script("paths", text).with("sources", json!([{"name": "app", "configMap": {"name": "code"}}]));
    let job = job.create(&case.cluster, &case.namespace).await;
    let result = job.completed().await["status"]["result"]["text"].as_str().unwrap().to_owned();
    let compact: String = result.split_whitespace().collect();
    assert!(compact.contains(r#""seen":[]"#) && compact.contains(r#""inside":true"#), "{result}");
}

#[tokio::test]
async fn a_script_that_calls_a_writing_tool_is_blocked_and_counted() {
    Installation::ready();
    let case = Case::new("blocked").await;
    let job =
        script("blocked", "return await tools.write({path: '/out/x', content: 'x'}).catch(error => error.message)");
    let job = job.create(&case.cluster, &case.namespace).await;
    let done = job.completed().await;
    assert!(
        done["status"]["result"]["text"].as_str().unwrap().contains("not callable from a script"),
        "{:#}",
        done["status"]
    );
    assert_eq!(done["status"]["usage"]["blockedCalls"], 1);
}
