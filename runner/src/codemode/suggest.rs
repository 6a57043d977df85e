//! Which tool was meant.

/// The sentence that follows "is not a function" when what was called is a property of `tools`.
pub(super) fn missing_tool<'a>(callee: &str, tools: impl Iterator<Item = &'a str>) -> Option<String> {
    let rest = callee.strip_prefix("tools")?.trim_start_matches("?.");
    let name = rest.strip_prefix('.').unwrap_or(rest).trim_matches(|c| matches!(c, '[' | ']' | '"' | '\'' | '`'));
    if name.is_empty() || name.contains(['.', '(']) {
        return None;
    }
    let near = closest(name, tools);
    Some(match near.as_slice() {
        [] => format!("; there is no tool \"{name}\" (ALL_TOOLS lists what there is)"),
        names => format!("; there is no tool \"{name}\"; did you mean {}?", names.join(" or ")),
    })
}

/// Up to three names that differ little from the wanted one, nearest first.
pub(super) fn closest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = folded(wanted);
    let allowed = (wanted.chars().count() / 3).max(1);
    let mut scored: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let candidate = folded(name);
            let distance = distance(&wanted, &candidate);
            let is_part = wanted.len() >= 3
                && (candidate.contains(&wanted) || (candidate.len() >= 3 && wanted.contains(&candidate)));
            (distance <= allowed || is_part).then_some((distance, name))
        })
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Letters and digits only, in lower case: `read_file`, `readFile` and `read-file` are one.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Levenshtein's distance, of names that are cut at 64 characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (to, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let cost = diagonal + usize::from(from != *to);
            diagonal = *above;
            left = cost.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 5] = ["read", "ls", "grep", "find", "日本"];

    #[test]
    fn a_typo_finds_its_tool() {
        assert_eq!(closest("raed", TOOLS.into_iter()), [] as [&str; 0]);
        assert_eq!(closest("reed", TOOLS.into_iter()), ["read"]);
        assert_eq!(closest("readFile", TOOLS.into_iter()), ["read"]);
        assert_eq!(closest("Grep", TOOLS.into_iter()), ["grep"]);
    }

    #[test]
    fn fault_06_a_tool_of_other_letters_is_not_suggested_for_every_typo() {
        assert_eq!(closest("xyzzy", TOOLS.into_iter()), [] as [&str; 0]);
        assert_eq!(closest("__", TOOLS.into_iter()), [] as [&str; 0]);
    }

    #[test]
    fn only_a_property_of_tools_gets_the_sentence() {
        let sentence = missing_tool("tools.reed", TOOLS.into_iter());
        assert_eq!(sentence.as_deref(), Some("; there is no tool \"reed\"; did you mean read?"));
        assert_eq!(missing_tool("o.reed", TOOLS.into_iter()), None);
        assert_eq!(missing_tool("tools[\"a\"].b", TOOLS.into_iter()), None);
    }
}
