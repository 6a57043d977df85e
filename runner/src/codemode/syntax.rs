//! What can be said about a script's text without parsing it: places in errors, dialects that are not JavaScript.

/// The first `script.js:LINE:COLUMN` of an error's text.
pub(super) fn place(error: &str) -> Option<(u32, u32)> {
    let rest = error.split("script.js:").nth(1)?;
    let mut numbers = rest.splitn(2, ':').map(|part| part.chars().take_while(char::is_ascii_digit).collect::<String>());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Words that begin a statement which is no expression.
const STATEMENTS: &[&str] = &[
    "return", "const", "let", "var", "if", "else", "for", "while", "do", "switch", "case", "default", "try", "catch",
    "finally", "throw", "break", "continue", "class", "import", "export", "with", "debugger",
];

/// Whether the text begins with a word that makes it a statement.
pub(super) fn begins_statement(text: &str) -> bool {
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect();
    STATEMENTS.contains(&word.as_str())
}

/// Whether the text may be the continuation of the line before it, so that splitting there would change its meaning.
pub(super) fn continues(text: &str, head: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    let word: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    let may_continue = "([`+-*/%.,?:<>=&|^!".contains(first) && !text.starts_with('!')
        || matches!(word.as_str(), "in" | "instanceof" | "of");
    let code = head.trim_end();
    may_continue && !code.is_empty() && !code.ends_with(';')
}

/// A sentence about what the text seems to be instead of JavaScript, looking at the line of the error first.
pub(super) fn hint(script: &str, line: Option<u32>) -> Option<String> {
    let numbered = || script.lines().zip(1_u32..).map(|(text, number)| (number, text));
    let near = line.unwrap_or(1);
    let is_near = |number: u32| number == near || number + 1 == near;
    for (number, text) in numbered().filter(|(number, _)| is_near(*number)) {
        if let Some(found) = module_syntax(text) {
            return Some(format!("line {number}: {found}"));
        }
    }
    let annotation = numbered().filter(|(number, _)| is_near(*number)).chain(numbered()).find_map(|(number, text)| {
        let found = annotation(text)?;
        Some((number, found))
    });
    annotation.map(|(number, found)| {
        format!(
            "scripts are JavaScript, not TypeScript: remove `{}` on line {number} and other annotations",
            found.trim()
        )
    })
}

fn module_syntax(line: &str) -> Option<String> {
    let text = line.trim_start();
    if text.starts_with("import ") || text.starts_with("import{") || text.starts_with("import\"") {
        return Some(
            "there are no modules to import; everything a script can use is a global (tools, text, console, store)"
                .into(),
        );
    }
    text.starts_with("export ")
        .then(|| "a script exports nothing; end it with `return value` instead of `export`".into())
}

/// The first thing on a line that only TypeScript has.
fn annotation(line: &str) -> Option<String> {
    let text = line.trim_start();
    for word in ["interface ", "type ", "enum ", "declare ", "namespace "] {
        let name = text
            .strip_prefix(word)
            .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            return Some(format!("{word}{name}"));
        }
    }
    colon_type(line).or_else(|| as_type(line))
}

const TYPES: &[&str] =
    &["string", "number", "boolean", "any", "unknown", "void", "never", "object", "bigint", "symbol"];

/// `name: Type`, where a value could not stand.
fn colon_type(line: &str) -> Option<String> {
    let mut from = 0;
    while let Some(found) = line.get(from..)?.find(':') {
        let colon = from + found;
        from = colon + 1;
        let rest = line.get(from..)?.trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).collect();
        let after = rest.get(name.len()..)?;
        let is_type = TYPES.contains(&name.as_str())
            || (name.starts_with(char::is_uppercase)
                && (after.starts_with(['<', '[']) || after.trim_start().starts_with(['=', ')', ',', '{'])));
        let before = line.get(..colon)?.trim_end();
        let in_place = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | '?' | '}' | ']'));
        if is_type && in_place && !before.contains(" ? ") {
            let generic: String = if after.starts_with('<') {
                after.chars().take_while(|c| !matches!(c, '=' | ')' | '{')).collect()
            } else {
                String::new()
            };
            return Some(format!(": {name}{}", generic.trim_end()));
        }
    }
    None
}

fn as_type(line: &str) -> Option<String> {
    let rest = line.split(" as ").nth(1)?;
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).collect();
    (TYPES.contains(&name.as_str()) || name == "const" || name.starts_with(char::is_uppercase))
        .then(|| format!("as {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_annotation_is_named() {
        for (script, expected) in [
            ("const a = 1;\nconst b: string = 'x';", "remove `: string` on line 2"),
            ("function f(a: number) {}", "remove `: number` on line 1"),
            ("interface Row { a: string }", "remove `interface Row` on line 1"),
            ("const x = y as any;", "remove `as any` on line 1"),
            ("const m: Map<string, number> = new Map();", "remove `: Map<string, number>` on line 1"),
        ] {
            let hint = hint(script, None).unwrap_or_default();
            assert!(hint.contains(expected), "{script}: {hint}");
        }
        assert_eq!(hint("const a = { b: 1, c: x ? y : z }", Some(1)), None);
    }

    #[test]
    fn modules_are_answered_with_what_to_do() {
        assert!(hint("import fs from 'fs'", Some(1)).unwrap().contains("no modules"));
        assert!(hint("export default 1", Some(1)).unwrap().contains("return value"));
    }

    #[test]
    fn a_place_is_read_from_an_error() {
        assert_eq!(place("TypeError: x\n    at f (script.js:12:7)\n    at script.js:3:1"), Some((12, 7)));
        assert_eq!(place("no place"), None);
    }
}
