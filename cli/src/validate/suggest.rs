//! What was probably meant.

/// The candidate that a text is a slip of: the same but for case and separators, or at most a third of its letters off.
pub(crate) fn nearest<'c>(text: &str, candidates: impl Iterator<Item = &'c str> + Clone) -> Option<&'c str> {
    let plain = letters(text);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&plain, &letters(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().min(text.chars().count()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Lower-case letters and digits alone. A text of a length nobody types by mistake is not compared in full.
fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).take(64).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_what_was_meant_and_another_word_does_not() {
        let fields = ["agentRef", "prompt", "script", "sources", "suspend"];
        for (text, wanted) in [
            ("agent_ref", Some("agentRef")),
            ("agentref", Some("agentRef")),
            ("scirpt", Some("script")),
            ("source", Some("sources")),
            ("volumes", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, fields.into_iter()), wanted, "{text}");
        }
    }
}
