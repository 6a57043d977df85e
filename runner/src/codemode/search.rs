//! Finds tools by words: in names, descriptions and parameter names, in that order of weight.

use serde_json::{Value, json};

use super::wire::Listed;

/// Bytes of a description in a list.
const SUMMARY: usize = 200;

/// The namespace of a tool: its MCP server, or `kernel`.
pub(super) fn namespace(name: &str) -> &str {
    name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or("kernel", |(server, _)| server)
}

/// The best matches, best first, as `[{name, description}]`. An exact name is always the first.
pub(super) fn search(tools: &[Listed], query: &str, limit: usize, within: Option<&str>) -> Value {
    let words = words(query);
    let exact = folded(query);
    let mut scored: Vec<(u32, &Listed)> = tools
        .iter()
        .filter(|tool| within.is_none_or(|within| namespace(&tool.name) == within))
        .map(|tool| (score(tool, &words, &exact), tool))
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by(|(a, left), (b, right)| b.cmp(a).then_with(|| left.name.cmp(&right.name)));
    scored
        .into_iter()
        .take(limit)
        .map(|(_, tool)| json!({"name": tool.name, "description": summary(&tool.description)}))
        .collect()
}

/// The tools of a namespace, one a line.
pub(super) fn namespace_listing(tools: &[Listed], wanted: &str) -> Result<String, String> {
    let inside: Vec<&Listed> = tools.iter().filter(|tool| namespace(&tool.name) == wanted).collect();
    if inside.is_empty() {
        let mut known: Vec<&str> = tools.iter().map(|tool| namespace(&tool.name)).collect();
        known.sort_unstable();
        known.dedup();
        return Err(format!("there is no namespace {wanted:?}; there are: {}", known.join(", ")));
    }
    let lines: Vec<String> =
        inside.iter().map(|tool| format!("{}: {}", tool.name, summary(&tool.description))).collect();
    Ok(lines.join("\n"))
}

/// The first line of a description, short.
fn summary(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    if line.len() <= SUMMARY {
        return line.to_owned();
    }
    format!("{}…", line.get(..line.floor_char_boundary(SUMMARY)).unwrap_or_default())
}

fn score(tool: &Listed, wanted: &[String], exact: &str) -> u32 {
    if !exact.is_empty() && folded(&tool.name) == exact {
        return 1_000_000;
    }
    let name = words(&tool.name);
    let description = words(&tool.description);
    let parameters: Vec<String> = tool
        .schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().flat_map(|key| words(key)).collect())
        .unwrap_or_default();
    let weight = |word: &String| {
        let whole = |words: &[String]| words.contains(word);
        let begun =
            |words: &[String]| word.chars().count() >= 3 && words.iter().any(|known| known.starts_with(word.as_str()));
        match () {
            () if whole(&name) => 100,
            () if begun(&name) => 60,
            () if whole(&parameters) => 30,
            () if whole(&description) => 20,
            () if begun(&description) || begun(&parameters) => 10,
            () => 0,
        }
    };
    wanted.iter().map(weight).sum()
}

/// Words in lower case, in the singular. Camel case is taken apart; scripts without spaces give pairs of characters.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut finish = |word: &mut String| {
        if !word.is_empty() {
            words.push(singular(&std::mem::take(word)));
        }
    };
    let mut pairs = Vec::new();
    for c in text.chars() {
        if is_unspaced(c) {
            finish(&mut word);
            pairs.push(c.to_string());
            if is_unspaced(before) {
                pairs.push(format!("{before}{c}"));
            }
        } else if c.is_alphanumeric() {
            if c.is_uppercase() && before.is_lowercase() {
                finish(&mut word);
            }
            word.extend(c.to_lowercase());
        } else {
            finish(&mut word);
        }
        before = c;
    }
    finish(&mut word);
    words.extend(pairs);
    words
}

fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() >= 2) {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return word.strip_suffix("es").unwrap_or(word).to_owned();
        }
    }
    let plural = word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is");
    if plural { word.strip_suffix('s').unwrap_or(word).to_owned() } else { word.to_owned() }
}

/// Han, Kana and Hangul are written without spaces, or inflect at the end.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Listed> {
        let tool = |name: &str, description: &str, parameter: &str| Listed {
            name: name.into(),
            description: description.into(),
            schema: json!({"type": "object", "properties": {parameter: {"type": "string"}}}),
        };
        vec![
            tool("read", "Reads a window of a file.", "path"),
            tool("mcp__tracker__search_issues", "Finds issues by text.", "query"),
            tool("mcp__tracker__get_issue", "Returns one issue with its comments.", "number"),
            tool("mcp__wiki__検索", "全文検索をします。", "語"),
            tool("mcp__wiki__find", "Finds pages. Not for issues.", "repositoryName"),
        ]
    }

    fn names(query: &str, limit: usize, within: Option<&str>) -> Vec<String> {
        let found = search(&tools(), query, limit, within);
        found.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn an_exact_name_comes_first_and_plurals_are_one_word() {
        assert_eq!(names("mcp__tracker__get_issue", 1, None), ["mcp__tracker__get_issue"]);
        assert_eq!(
            names("issue", 8, None),
            ["mcp__tracker__get_issue", "mcp__tracker__search_issues", "mcp__wiki__find"]
        );
        assert_eq!(names("issues", 8, Some("wiki")), ["mcp__wiki__find"]);
    }

    #[test]
    fn parameter_names_and_scripts_without_spaces_are_found() {
        assert_eq!(names("repository", 8, None), ["mcp__wiki__find"]);
        assert_eq!(names("検索", 8, None), ["mcp__wiki__検索"]);
        assert_eq!(names("", 8, None), [] as [&str; 0]);
    }

    #[test]
    fn a_namespace_lists_its_tools_or_says_which_there_are() {
        assert_eq!(namespace_listing(&tools(), "kernel").unwrap(), "read: Reads a window of a file.");
        assert_eq!(
            namespace_listing(&tools(), "nope").unwrap_err(),
            "there is no namespace \"nope\"; there are: kernel, tracker, wiki"
        );
    }
}
