use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Value, json};

use super::{job, table, violations, with, without};
use crate::check::KindCheck;

#[test]
fn an_unknown_field_names_its_neighbour_or_all_fields() {
    table(
        "Job",
        &job(),
        [
            ("/spec/backofLimit", json!(1), &["spec.backofLimit: is not a known field: did you mean backoffLimit?"]),
            ("/spec/agentref", json!({}), &["spec.agentref: is not a known field: did you mean agentRef?"]),
            (
                "/spec/agentRef/kind",
                json!("Agent"),
                &["spec.agentRef.kind: is not a known field: the fields here are name"],
            ),
            ("/spce", json!({}), &["spce: is not a known field: did you mean spec?"]),
            ("/metadata/label", json!({}), &["metadata.label: is not a known field: did you mean labels?"]),
        ],
    );
}

#[test]
fn a_wrong_type_says_which_one_is_right() {
    table(
        "Job",
        &job(),
        [
            ("/spec/agentRef", json!("reader"), &["spec.agentRef: must be a mapping, not text"]),
            ("/spec/agentRef/name", json!(1), &["spec.agentRef.name: must be text, not a number: put it in quotes"]),
            (
                "/spec/backoffLimit",
                json!("1"),
                &["spec.backoffLimit: must be a whole number, not text: remove the quotes"],
            ),
            ("/spec/backoffLimit", json!(1.5), &["spec.backoffLimit: must be a whole number, not a number"]),
            ("/spec/suspend", json!("true"), &["spec.suspend: must be true or false, not text: remove the quotes"]),
            ("/spec/sources", json!({}), &["spec.sources: must be a list, not a mapping"]),
            (
                "/spec/script",
                Value::Null,
                &["spec.script: must be text, not nothing: write a value or remove the field"],
            ),
            (
                "/spec/output/sizeLimit",
                json!(true),
                &["spec.output.sizeLimit: must be text or a whole number, not true or false"],
            ),
        ],
    );
}

#[test]
fn what_is_required_is_named() {
    let check = KindCheck::of_kind("Job").unwrap();
    assert_eq!(violations(&check, &without(job(), "/spec/agentRef"), None), ["spec.agentRef: is required: add it"]);
    assert_eq!(violations(&check, &without(job(), "/spec"), None), ["spec: is required: add it"]);
    assert_eq!(violations(&check, &without(job(), "/metadata"), None), ["metadata.name: is required: add it"]);
    assert_eq!(violations(&check, &without(job(), "/metadata/name"), None), ["metadata.name: is required: add it"]);
    assert_eq!(
        violations(&check, &json!([]), None),
        ["must be a mapping, not a list", "metadata.name: is required: add it"]
    );
}

#[test]
fn a_generated_name_is_a_name() {
    let generated = with(without(job(), "/metadata/name"), "/metadata/generateName", json!("count-"));
    let check = KindCheck::of_kind("Job").unwrap();
    assert_eq!(check.structure(&generated), []);
}

#[test]
fn the_name_of_an_object_is_one_kubernetes_takes() {
    const NAME: &str = "metadata.name: must consist of lower case letters, digits, '-' and '.', and start and end with a letter or digit";
    table(
        "Job",
        &job(),
        [
            ("/metadata/name", json!("a.b-c.1"), &[]),
            ("/metadata/name", json!("Count"), &[NAME]),
            ("/metadata/name", json!("a..b"), &[NAME]),
            ("/metadata/name", json!("-a"), &[NAME]),
            ("/metadata/name", json!(1), &[NAME]),
        ],
    );
}

#[test]
fn a_kind_that_is_not_ours_has_no_checks() {
    assert!(KindCheck::of_kind("Pod").is_none());
}

/// What `check::structure` does not look at must not occur, or it would accept what the API server refuses.
#[test]
fn the_schemas_use_no_keyword_that_the_check_does_not_know() {
    fn walk(path: &str, schema: &JSONSchemaProps) {
        let JSONSchemaProps {
            additional_items: None,
            additional_properties,
            all_of: None,
            any_of: None,
            default: _,
            definitions: None,
            dependencies: None,
            description: _,
            enum_,
            example: None,
            exclusive_maximum: None,
            exclusive_minimum: None,
            external_docs: None,
            format,
            id: None,
            items,
            max_items: _,
            max_length: _,
            max_properties: _,
            maximum: _,
            min_items: _,
            min_length: _,
            min_properties: None,
            minimum: _,
            multiple_of: None,
            not: None,
            nullable: None,
            one_of: None,
            pattern: None,
            pattern_properties: None,
            properties,
            ref_path: None,
            required: _,
            schema: None,
            title: _,
            type_,
            unique_items: None,
            x_kubernetes_embedded_resource: None,
            x_kubernetes_int_or_string,
            x_kubernetes_list_map_keys: _,
            x_kubernetes_list_type: _,
            x_kubernetes_map_type: _,
            x_kubernetes_preserve_unknown_fields: None,
            x_kubernetes_validations: _,
        } = schema
        else {
            panic!("{path} uses a keyword that check::structure does not know: {schema:?}");
        };
        assert!(
            matches!(format.as_deref(), None | Some("date-time" | "int32" | "int64" | "double")),
            "{path}: {format:?}"
        );
        assert!(type_.is_some() || *x_kubernetes_int_or_string == Some(true), "{path} has no type");
        assert!(enum_.is_none() || type_.as_deref() == Some("string"), "{path}: an enumeration of something else");
        for (name, property) in properties.iter().flatten() {
            walk(&format!("{path}.{name}"), property);
        }
        match items {
            Some(JSONSchemaPropsOrArray::Schema(items)) => walk(&format!("{path}[]"), items),
            Some(JSONSchemaPropsOrArray::Schemas(_)) => panic!("{path} has a schema for each place of the list"),
            None => {}
        }
        if let Some(JSONSchemaPropsOrBool::Schema(values)) = additional_properties {
            walk(&format!("{path}.*"), values);
        }
    }
    for definition in crate::all() {
        for version in &definition.spec.versions {
            walk(&definition.spec.names.kind, version.schema.as_ref().unwrap().open_api_v3_schema.as_ref().unwrap());
        }
    }
}
