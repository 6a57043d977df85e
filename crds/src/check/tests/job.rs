use serde_json::{Value, json};

use super::{job, table, violations, with, without};
use crate::check::KindCheck;

#[test]
fn the_least_job_is_accepted() {
    assert_eq!(violations(&KindCheck::of_kind("Job").unwrap(), &job(), None), [""; 0]);
}

#[test]
fn a_name_of_63_characters_is_accepted_and_one_of_64_says_what_to_do() {
    table(
        "Job",
        &job(),
        [
            ("/metadata/name", json!("j".repeat(63)), &[]),
            (
                "/metadata/name",
                json!("j".repeat(64)),
                &[
                    "the name of a Job must be at most 63 characters (it becomes a label value): choose a shorter metadata.name",
                ],
            ),
        ],
    );
}

#[test]
fn exactly_one_of_prompt_prompt_from_and_script_is_set() {
    const ONE: &str = "spec: a Job needs exactly one of prompt, promptFrom and script: set one and remove the others";
    let bare = without(job(), "/spec/script");
    let from = json!({ "configMapKeyRef": { "name": "prompts", "key": "a.md" } });
    assert_eq!(violations(&KindCheck::of_kind("Job").unwrap(), &bare, None), [ONE]);
    table("Job", &bare, [("/spec/prompt", json!("do it"), &[]), ("/spec/promptFrom", from.clone(), &[])]);
    table("Job", &job(), [("/spec/prompt", json!("do it"), &[ONE]), ("/spec/promptFrom", from, &[ONE])]);
}

#[test]
fn a_script_is_text_with_something_in_it_and_at_most_256_kib() {
    table(
        "Job",
        &job(),
        [
            ("/spec/script", json!(""), &["spec.script: has 0 characters; at least 1 must be there"]),
            ("/spec/script", json!(" \n\t"), &["spec.script: spec.script is empty: write something or leave it out"]),
            ("/spec/script", json!("a".repeat(262_144)), &[]),
            (
                "/spec/script",
                json!("a".repeat(262_145)),
                &["spec.script: has 262145 characters; at most 262144 are allowed"],
            ),
            (
                "/spec/script",
                json!("ü".repeat(131_073)),
                &[
                    "spec.script: spec.script must be at most 256 KiB: put long material into a source and have it read from there",
                ],
            ),
            ("/spec/script", json!("a\0b"), &["spec.script: spec.script contains a control character: remove it"]),
            ("/spec/script", json!("a\tb\r\nü → 🎈"), &[]),
        ],
    );
}

#[test]
fn a_source_has_one_kind_a_dns_label_as_its_name_and_no_reserved_one() {
    const LABEL: &str = "spec.sources[0].name: the name of a source must consist of lower case letters, digits and '-', and start and end with a letter or digit";
    const RESERVED: &str = "spec.sources[0].name: the names out, tmp and workspace are reserved: they would read like the sandbox's own folders; choose another name";
    const ONE: &str = "spec.sources[0]: a source needs exactly one of persistentVolumeClaim, configMap, image and repository: set one and remove the others";
    let claim = |name: &str| json!([{ "name": name, "persistentVolumeClaim": { "claimName": "code" } }]);
    table(
        "Job",
        &job(),
        [
            ("/spec/sources", claim("app-1"), &[]),
            ("/spec/sources", claim(&"a".repeat(50)), &[]),
            (
                "/spec/sources",
                claim(&"a".repeat(51)),
                &["spec.sources[0].name: has 51 characters; at most 50 are allowed"],
            ),
            ("/spec/sources", claim(".."), &[LABEL]),
            ("/spec/sources", claim("a/b"), &[LABEL]),
            ("/spec/sources", claim("App"), &[LABEL]),
            ("/spec/sources", claim("-a"), &[LABEL]),
            ("/spec/sources", claim("out"), &[RESERVED]),
            ("/spec/sources", claim("workspace"), &[RESERVED]),
            ("/spec/sources", json!([{ "name": "app" }]), &[ONE]),
            (
                "/spec/sources",
                json!([{ "name": "app", "configMap": { "name": "a" }, "image": { "reference": "a:1" } }]),
                &[ONE],
            ),
            (
                "/spec/sources",
                json!([{ "name": "a", "configMap": { "name": "a" } }, { "name": "a", "configMap": { "name": "b" } }]),
                &["spec.sources[1]: has the name of an earlier entry: choose another"],
            ),
            (
                "/spec/sources",
                Value::Array(
                    (0..17).map(|i| json!({ "name": format!("a{i}"), "configMap": { "name": "a" } })).collect(),
                ),
                &["spec.sources: has 17 entries; at most 16 are allowed"],
            ),
        ],
    );
}

#[test]
fn a_path_stays_below_where_it_is_mounted() {
    const SUB_PATH: &str = "spec.sources[0].persistentVolumeClaim.subPath: subPath must be a relative path without '..': write it from the top of the volume";
    let base =
        with(job(), "/spec/sources", json!([{ "name": "app", "persistentVolumeClaim": { "claimName": "code" } }]));
    let at = "/spec/sources/0/persistentVolumeClaim/subPath";
    table(
        "Job",
        &base,
        [
            (at, json!("a/b..c/.d"), &[]),
            (at, json!("/a"), &[SUB_PATH]),
            (at, json!("a/../b"), &[SUB_PATH]),
            (at, json!(".."), &[SUB_PATH]),
            (at, json!("a\nb"), &[SUB_PATH]),
        ],
    );
    table(
        "Job",
        &job(),
        [(
            "/spec/sources",
            json!([{ "name": "app", "configMap": { "name": "a", "items": [{ "key": "k", "path": "../k" }] } }]),
            &[
                "spec.sources[0].configMap.items[0].path: path must be a relative path without '..': write it from the top of the volume",
            ],
        )],
    );
}

#[test]
fn the_reference_of_an_image_has_no_scheme_and_no_spaces() {
    const REFERENCE: &str = "spec.sources[0].image.reference: the reference of an image is written as host/path:tag or host/path@sha256:digest, without a scheme and without spaces";
    let image = |reference: &str| json!([{ "name": "app", "image": { "reference": reference } }]);
    table(
        "Job",
        &job(),
        [
            ("/spec/sources", image("registry.example.com:5000/a/b:1@sha256:00"), &[]),
            ("/spec/sources", image("https://registry.example.com/a"), &[REFERENCE]),
            ("/spec/sources", image("a b"), &[REFERENCE]),
            (
                "/spec/sources",
                json!([{ "name": "app", "image": { "reference": "a", "pullPolicy": "Sometimes" } }]),
                &["spec.sources[0].image.pullPolicy: must be one of Always, IfNotPresent, Never, not \"Sometimes\""],
            ),
        ],
    );
}

#[test]
fn the_size_of_the_output_is_a_positive_amount() {
    const SIZE: &str = "spec.output.sizeLimit: spec.output.sizeLimit must be a positive amount such as 500Mi or 2Gi";
    table(
        "Job",
        &job(),
        [
            ("/spec/output/sizeLimit", json!("500Mi"), &[]),
            ("/spec/output/sizeLimit", json!(1_000_000), &[]),
            ("/spec/output/sizeLimit", json!("0"), &[SIZE]),
            ("/spec/output/sizeLimit", json!("-1Gi"), &[SIZE]),
            ("/spec/output/sizeLimit", json!("1 GB"), &[SIZE]),
        ],
    );
}

#[test]
fn numbers_have_bounds() {
    table(
        "Job",
        &job(),
        [
            ("/spec/backoffLimit", json!(10), &[]),
            ("/spec/backoffLimit", json!(11), &["spec.backoffLimit: is 11; at most 10 is allowed"]),
            ("/spec/backoffLimit", json!(-1), &["spec.backoffLimit: is -1; at least 0 is allowed"]),
            ("/spec/activeDeadlineSeconds", json!(0), &["spec.activeDeadlineSeconds: is 0; at least 1 is allowed"]),
            ("/spec/activeDeadlineSeconds", json!(604_800), &[]),
            (
                "/spec/startDeadlineSeconds",
                json!(604_801),
                &["spec.startDeadlineSeconds: is 604801; at most 604800 is allowed"],
            ),
            ("/spec/ttlSecondsAfterFinished", json!(0), &[]),
            (
                "/spec/cancel",
                json!({ "reason": " " }),
                &["spec.cancel.reason: spec.cancel.reason is empty: write something or leave it out"],
            ),
        ],
    );
}

#[test]
fn only_suspend_cancel_and_ttl_change_and_cancel_stays() {
    let check = KindCheck::of_kind("Job").unwrap();
    let update = |pointer: &str, value: Value| violations(&check, &with(job(), pointer, value), Some(&job()));
    let cannot = |field: &str| {
        vec![format!("spec: spec.{field} of a Job cannot change: delete the Job or create one of another name")]
    };

    assert_eq!(update("/spec/suspend", json!(true)), [""; 0]);
    assert_eq!(update("/spec/cancel", json!({ "reason": "enough" })), [""; 0]);
    assert_eq!(update("/spec/ttlSecondsAfterFinished", json!(5)), [""; 0]);
    assert_eq!(update("/spec/output/sizeLimit", json!("1Gi")), [""; 0]);

    assert_eq!(update("/spec/agentRef/name", json!("other")), cannot("agentRef"));
    assert_eq!(update("/spec/script", json!("return 2")), cannot("script"));
    assert_eq!(update("/spec/sources", json!([{ "name": "a", "configMap": { "name": "a" } }])), cannot("sources"));
    assert_eq!(update("/spec/output/sizeLimit", json!("2Gi")), cannot("output"));
    assert_eq!(update("/spec/activeDeadlineSeconds", json!(5)), cannot("activeDeadlineSeconds"));
    assert_eq!(update("/spec/startDeadlineSeconds", json!(5)), cannot("startDeadlineSeconds"));
    assert_eq!(update("/spec/backoffLimit", json!(1)), cannot("backoffLimit"));
    let prompted = with(without(job(), "/spec/script"), "/spec/prompt", json!("do it"));
    assert_eq!(violations(&check, &prompted, Some(&job())), [cannot("prompt"), cannot("script")].concat());

    let cancelled = with(job(), "/spec/cancel", json!({ "reason": "enough" }));
    let stays = "spec: spec.cancel cannot be taken back or changed: create a Job of another name to run it again";
    assert_eq!(violations(&check, &job(), Some(&cancelled)), [stays]);
    assert_eq!(
        violations(&check, &with(job(), "/spec/cancel", json!({ "reason": "other" })), Some(&cancelled)),
        [stays]
    );
}
