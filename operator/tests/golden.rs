//! From a Job and its Agent to the plan, the policy and the pod: `tests/fixtures/<case>/` holds what goes in and what comes
//! out. After a change that is meant, `UPDATE_FIXTURES=1 cargo test -p anchorhold-operator --test golden` writes it anew.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

mod fake_api;

use std::fs;
use std::path::{Path, PathBuf};

use anchorhold_operator::settings::PolicyEnforcement;
use anchorhold_plan::RunPlan;
use serde_json::Value;

use self::fake_api::FakeApi;
use self::fake_api::operator::Operator;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

fn read(file: &Path) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Compares with the file, or writes it.
fn check(file: &Path, text: &str) {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(file, text).unwrap();
    }
    let wanted = fs::read_to_string(file).unwrap_or_default();
    assert_eq!(text, wanted, "{} differs; see the top of this file", file.display());
}

fn yaml(mut object: Value) -> String {
    // What the API server adds is not ours to compare.
    let metadata = object["metadata"].as_object_mut().unwrap();
    for key in ["uid", "creationTimestamp", "resourceVersion"] {
        metadata.remove(key);
    }
    object.as_object_mut().unwrap().remove("status");
    serde_saphyr::to_string(&object).unwrap()
}

async fn golden(case: &str) {
    let folder = fixtures().join(case);
    let fake = FakeApi::start().await;
    let job = read(&folder.join("job.yaml"));
    let name = job["metadata"]["name"].as_str().unwrap().to_owned();
    fake.put("jobs", job);
    fake.put("agents", read(&folder.join("agent.yaml")));
    for (plural, file) in [("persistentvolumeclaims", "claims.yaml"), ("configmaps", "configmaps.yaml")] {
        if let Ok(text) = fs::read_to_string(folder.join(file)) {
            for document in serde_saphyr::from_multiple::<Value>(&text).unwrap() {
                fake.put(plural, document);
            }
        }
    }
    let mut operator = Operator::start(&fake, PolicyEnforcement::Probe);
    operator.catch_up();
    operator.pass_with(fake.get(&format!("jobs/{name}")).unwrap()).await.unwrap();

    let made = |object: &&Value| object["metadata"]["name"].as_str().unwrap().starts_with(&format!("{name}-plan-"));
    let config_maps = fake.all("configmaps");
    let config_map = config_maps.iter().find(made).expect("the plan was made");
    let plan_name = config_map["metadata"]["name"].as_str().unwrap();
    let hashless = |text: String| text.replace(plan_name, &format!("{name}-plan-0123456789"));
    let plan = config_map["data"]["plan.json"].as_str().unwrap();
    // The fake answers on a port of its own each time.
    let plan = plan.replace(&fake.address().to_string(), "10.96.0.1:443");
    RunPlan::parse(plan.as_bytes()).expect("the runner takes the plan");
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&plan).unwrap()).unwrap() + "\n";
    check(&folder.join("plan.json"), &pretty);
    let mut without_plan = config_map.clone();
    without_plan["data"]["plan.json"] = "see plan.json beside this file".into();
    check(&folder.join("configmap.yaml"), &hashless(yaml(without_plan)));
    check(&folder.join("networkpolicy.yaml"), &yaml(fake.get(&format!("networkpolicies/{name}")).unwrap()));
    check(&folder.join("pod.yaml"), &hashless(yaml(fake.get(&format!("pods/{name}-0")).unwrap())));
}

#[tokio::test]
async fn a_minimal_script_job() {
    golden("minimal").await;
}

#[tokio::test]
async fn a_job_with_every_kind_of_source_and_a_claim_for_its_output() {
    golden("sources").await;
}

#[tokio::test]
async fn a_job_of_an_agent_that_sets_all_it_may() {
    golden("sandbox").await;
}

#[tokio::test]
async fn a_job_with_the_longest_name() {
    golden("longest-name").await;
}

#[test]
fn every_fixture_has_its_test() {
    let tests = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.rs")).unwrap();
    for entry in fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = tests.contains(&format!("golden(\"{name}\")"));
        assert!(known || !fixtures().join(&name).join("job.yaml").exists(), "tests/fixtures/{name} is not tested");
    }
}
