//! The definitions that are committed for the chart and for `kubectl apply`.

use std::path::Path;

use serde_json::Value;

#[test]
fn the_committed_definitions_are_those_of_the_types() {
    for definition in anchorhold_crds::all() {
        let file = format!(
            "{}/../charts/anchorhold-crds/templates/{}.yaml",
            env!("CARGO_MANIFEST_DIR"),
            definition.spec.names.plural
        );
        let text = std::fs::read_to_string(Path::new(&file)).unwrap();
        let committed: Value = serde_saphyr::from_str(&text).unwrap();
        assert!(
            committed == serde_json::to_value(&definition).unwrap(),
            "{file} is out of date: run `cargo xtask gen`"
        );
        // Helm would take these for its own.
        assert!(!text.contains("{{"), "{file}");
    }
}
