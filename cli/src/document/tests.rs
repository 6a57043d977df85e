use serde_json::json;

use super::*;

fn at(line: usize, column: usize) -> Position {
    Position { line, column }
}

/// The documents as JSON and the problems as `line:column field: message`.
fn read(text: &str) -> (Vec<Json>, Vec<String>) {
    let (documents, problems) = parse(text);
    let problems = problems
        .iter()
        .map(|problem| format!("{}:{} {}: {}", problem.at.line, problem.at.column, problem.field, problem.message))
        .collect();
    (documents.iter().map(Node::to_json).collect(), problems)
}

#[test]
fn documents_keep_order_types_and_places() {
    let text = "---\na: 1\nb:\n  - c: \"2\"\n---\n# nothing\n---\n{\"d\": [true, null]}\n";
    let (documents, problems) = parse(text);
    assert_eq!(problems, []);
    assert_eq!(
        documents.iter().map(Node::to_json).collect::<Vec<_>>(),
        [json!({"a": 1, "b": [{"c": "2"}]}), json!({"d": [true, null]})]
    );
    assert_eq!(documents[0].locate("b[0].c"), at(4, 5));
    assert_eq!(documents[0].locate("b"), at(3, 1));
    assert_eq!(documents[0].locate("b[0].missing.deeper"), at(4, 5));
    assert_eq!(documents[1].locate("d[1]"), at(8, 14));
}

#[test]
fn a_script_in_a_block_keeps_its_text_and_is_placed_at_its_first_line() {
    let (documents, problems) = parse("spec:\n  script: |\n    const a = 1;\n    return a");
    assert_eq!(problems, []);
    assert_eq!(documents[0].to_json(), json!({"spec": {"script": "const a = 1;\nreturn a"}}));
    assert_eq!(documents[0].locate("spec.script"), at(2, 3));
    let script = documents[0].get("spec").and_then(|spec| spec.get("script")).unwrap();
    assert_eq!(script.at, at(3, 5));
    assert_eq!(script.place_in_text(2, 8), Some(at(4, 12)));
    assert_eq!(script.place_in_text(3, 1), None);
}

#[test]
fn json_indented_with_tabs_is_read() {
    assert_eq!(read("{\n\t\"a\": [\n\t\t1,\n\t\t\"\\u00e9\\/\"\n\t]\n}\n"), (vec![json!({"a": [1, "é/"]})], vec![]));
}

#[test]
fn a_duplicate_key_names_both_lines_and_the_field() {
    assert_eq!(
        read("a:\n  - b: 1\n    c: 2\n    b: 3\n").1,
        ["4:5 a[0].b: this key stands on line 2 already; keep one of the two"]
    );
}

#[test]
fn anchors_aliases_and_merge_keys_are_applied() {
    let text = "base: &base {a: 1, b: 2}\nuse:\n  <<: *base\n  b: 3\ntwo:\n  <<: [*base, {c: 4, a: 9}]\n";
    assert_eq!(
        read(text),
        (vec![json!({"base": {"a": 1, "b": 2}, "use": {"b": 3, "a": 1}, "two": {"a": 1, "b": 2, "c": 4}})], vec![])
    );
}

#[test]
fn an_alias_bomb_ends_at_the_bound() {
    let levels: Vec<String> = (1..10)
        .map(|level| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", ")))
        .collect();
    let text = format!("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n{}", levels.concat());
    let (documents, problems) = read(&text);
    assert_eq!(documents, Vec::<Json>::new());
    assert_eq!(
        problems,
        ["5:45 : the document holds more than 100000 values, aliases written out; split it, or use fewer aliases"]
    );
}

#[test]
fn text_that_is_no_yaml_says_where_and_the_documents_after_it_are_read() {
    let (documents, problems) = read("a: 1\n\tb: 2\n---\nc: 3\n---\n[1, 2\n---\nd: 4\n");
    assert_eq!(documents, [json!({"c": 3}), json!({"d": 4})]);
    assert_eq!(problems.len(), 2);
}

#[test]
fn what_means_nothing_to_kubernetes_is_refused() {
    let table = [
        ("a: !secret x\nb: !!str 1\n", vec![]),
        ("a: !env [1]\n", vec![]),
        ("? [1]\n: 2\n", vec!["1:3 : a key is not a text; write a plain or quoted text"]),
        ("~: 2\n", vec!["1:1 : a key is null; give it a name, or quote it"]),
        ("a: &a [*a]\n", vec!["1:8 : an alias stands inside the value that it names; write the value out"]),
        ("<<: 1\n", vec!["1:1 : the merge key << takes a map or a list of maps; name one with an alias"]),
    ];
    for (text, wanted) in table {
        assert_eq!(read(text).1, wanted, "{text}");
    }
    let (documents, _) = parse("a: !secret x\nb: !!str 1\nc: !env [1]\n");
    assert_eq!(
        documents[0].get("a").map(|node| &node.value),
        Some(&Value::Unclear { text: "x".into(), advice: "the tag !secret means nothing here; remove it".into() })
    );
    assert_eq!(documents[0].get("b").and_then(Node::text), Some("1"));
    assert_eq!(
        documents[0].get("c").map(|node| &node.value),
        Some(&Value::Unclear { text: String::new(), advice: "the tag !env means nothing here; remove it".into() })
    );
}

#[test]
fn nesting_has_an_end() {
    let (documents, problems) = read(&"[".repeat(20_000));
    assert_eq!(documents, Vec::<Json>::new());
    assert_eq!(problems.len(), 1);
}
