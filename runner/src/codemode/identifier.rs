//! Tool names as JavaScript identifiers. What a tool is called depends on names alone, never on their order.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

/// Hexadecimal digits of a suffix: enough that two of the tools of one job do not meet by chance.
const SUFFIX: usize = 6;

/// The identifier of each name, in the order of the names. A name that is an identifier keeps it; of the others, those that
/// would meet get a suffix made from their exact name.
pub(super) fn identifiers(names: &[&str]) -> Vec<String> {
    let exact: HashSet<&str> = names.iter().copied().collect();
    let plain: Vec<String> = names.iter().map(|name| identifier(name)).collect();
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for identifier in &plain {
        *wanted.entry(identifier).or_default() += 1;
    }
    let pairs = names.iter().zip(&plain);
    pairs
        .map(|(name, identifier)| {
            let is_alone = wanted.get(identifier.as_str()) == Some(&1) && !exact.contains(identifier.as_str());
            if identifier == name || is_alone { identifier.clone() } else { suffixed(identifier, name, &exact) }
        })
        .collect()
}

fn suffixed(identifier: &str, name: &str, taken: &HashSet<&str>) -> String {
    let hash = format!("{:x}", Sha256::digest(name));
    let suffixes = (SUFFIX..=hash.len()).filter_map(|length| hash.get(..length));
    let mut candidates = suffixes.map(|suffix| format!("{identifier}_{suffix}"));
    candidates.find(|candidate| !taken.contains(candidate.as_str())).unwrap_or_else(|| format!("{identifier}_{hash}_"))
}

/// One name by itself: letters of every script stay, what an identifier cannot hold becomes `_`, a leading digit gets one in
/// front.
pub(super) fn identifier(name: &str) -> String {
    let mut identifier: String = name.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    if !identifier.chars().next().is_some_and(is_start) {
        identifier.insert(0, '_');
    }
    identifier
}

/// Whether the text can follow a dot.
pub(super) fn is_identifier(text: &str) -> bool {
    text.chars().next().is_some_and(is_start) && text.chars().all(is_part)
}

/// Unicode's `ID_Start`, as near as the standard library knows it: circled and squared letters are alphabetic and no letters.
fn is_start(c: char) -> bool {
    c == '$' || c == '_' || (c.is_alphabetic() && !is_enclosed(c))
}

fn is_part(c: char) -> bool {
    is_start(c) || c.is_ascii_digit()
}

fn is_enclosed(c: char) -> bool {
    matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_identifier_cannot_hold_becomes_an_underscore() {
        let names = ["read", "a-b", "日本", "2fa", "", "a.b c", "delete", "then", "__proto__"];
        assert_eq!(identifiers(&names), ["read", "a_b", "日本", "_2fa", "_", "a_b_c", "delete", "then", "__proto__"]);
    }

    #[test]
    fn names_that_meet_get_a_suffix_that_does_not_depend_on_their_order() {
        let forwards = identifiers(&["a-b", "a.b", "c"]);
        let mut backwards = identifiers(&["c", "a.b", "a-b"]);
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert_ne!(forwards[0], forwards[1]);
        assert!(forwards.iter().all(|identifier| is_identifier(identifier)));
    }

    #[test]
    fn fault_03_an_exact_name_always_wins() {
        let identifiers = identifiers(&["a-b", "a_b"]);
        assert_eq!(identifiers[1], "a_b");
        assert!(identifiers[0].starts_with("a_b_") && identifiers[0].len() == 10, "{identifiers:?}");
    }
}
