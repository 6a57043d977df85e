//! The text of a result: what the model or user sees, within a budget that counts every byte of it.
//!
//! Parts come in the order in which they are kept: the error, the return value, `text`, `console`, notes. A heading stands
//! above each part when there is more than one; no line of a script's own can look like a heading.

use std::fmt::Write as _;

/// What a heading begins with.
const HEADING: &str = "--- ";
/// Below this many bytes there is no room for headings and notices: the first part's beginning is all.
const SMALL: usize = 256;
/// Bytes that the line about what was cut may take.
const CUT_LINE: usize = 160;

/// One part of a result: what of it is at hand, and how large it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) bytes: u64,
}

impl Part {
    pub(super) fn whole(text: String) -> Self {
        let bytes = text.len() as u64;
        Self { text, bytes }
    }
}

/// Everything a script left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) error: Part,
    pub(super) value: Part,
    pub(super) text: Part,
    pub(super) console: Part,
    pub(super) notes: Vec<String>,
}

/// The text, and the size it would have without a budget.
pub(super) fn compose(parts: &Parts, budget: usize) -> (String, u64) {
    let notes: Vec<String> = parts.notes.iter().map(|note| format!("- {}", safe(note).replace('\n', "\n  "))).collect();
    let named =
        [("error", &parts.error), ("returned", &parts.value), ("text", &parts.text), ("console", &parts.console)];
    let mut sections: Vec<Section> = named.into_iter().filter_map(|(name, part)| Section::new(name, part)).collect();
    if !notes.is_empty() {
        sections.extend(Section::new("notes", &Part::whole(notes.join("\n"))));
    }
    let full = render(&sections, None);
    let missing: u64 = sections.iter().map(|section| section.bytes - section.text.len() as u64).sum();
    let whole = full.len() as u64 + missing;
    if missing == 0 && full.len() <= budget {
        return (full, whole);
    }
    (cut(&sections, budget), whole)
}

struct Section {
    name: &'static str,
    text: String,
    bytes: u64,
}

impl Section {
    fn new(name: &'static str, part: &Part) -> Option<Self> {
        let text = safe(&part.text);
        // Cleaning may change the size a little; what was never sent is counted as it was.
        let bytes = text.len() as u64 + part.bytes.saturating_sub(part.text.len() as u64);
        (bytes > 0).then_some(Self { name, text, bytes })
    }
}

fn render(sections: &[Section], notice: Option<&str>) -> String {
    let mut out = String::new();
    for section in sections {
        if sections.len() > 1 {
            _ = writeln!(out, "{HEADING}{} ---", section.name);
        }
        out.push_str(&section.text);
        if sections.len() > 1 && !section.text.ends_with('\n') {
            out.push('\n');
        }
    }
    if let Some(notice) = notice {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(notice);
    }
    if out.ends_with('\n') && (sections.len() > 1 || notice.is_some()) {
        out.pop();
    }
    out
}

fn cut(sections: &[Section], budget: usize) -> String {
    if budget < SMALL {
        let first = sections.first().map(|section| section.text.as_str()).unwrap_or_default();
        return first.get(..first.floor_char_boundary(budget)).unwrap_or_default().to_owned();
    }
    // Notes stay if they are short: they say what the script did not do.
    let headings: usize = sections.iter().map(|section| HEADING.len() + section.name.len() + 6).sum();
    let notes =
        sections.iter().find(|section| section.name == "notes").map_or(0, |section| section.text.len().min(budget / 4));
    let mut left = budget.saturating_sub(headings + notes + CUT_LINE);
    let mut kept = Vec::new();
    let mut losses = Vec::new();
    for section in sections {
        let room = if section.name == "notes" { notes } else { left };
        let text = section.text.get(..section.text.floor_char_boundary(room)).unwrap_or_default().to_owned();
        if section.name != "notes" {
            left -= text.len();
        }
        if (text.len() as u64) < section.bytes {
            losses.push(format!("{} {} of {} bytes", section.name, text.len(), section.bytes));
        }
        kept.push(Section { name: section.name, text, bytes: section.bytes });
    }
    kept.retain(|section| !section.text.is_empty());
    let notice = format!("{HEADING}cut to {} tokens: {} ---", budget / 4, losses.join(", "));
    let mut out = render(&kept, Some(&notice));
    out.truncate(out.floor_char_boundary(budget));
    out
}

/// Text without what a terminal or a provider would act on, and without lines that look like a heading. What is taken out is
/// shown by a sign of its own.
pub(super) fn safe(text: &str) -> String {
    let is_plain = |c: char| c == '\n' || c == '\t' || !(c.is_control() || is_invisible(c));
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.starts_with(HEADING) {
            out.push(' ');
        }
        if line.chars().all(is_plain) {
            out.push_str(line);
            continue;
        }
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\r' if chars.peek() == Some(&'\n') => {}
                c if is_plain(c) => out.push(c),
                // Unicode has a picture of each of the old control characters.
                '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
                '\x7f' => out.push('\u{2421}'),
                c => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
            }
        }
    }
    out
}

/// Characters that reorder text, hide in it, or carry text that nobody sees.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(error: &str, value: &str, text: &str, console: &str) -> Parts {
        let part = |text: &str| Part::whole(text.into());
        Parts { error: part(error), value: part(value), text: part(text), console: part(console), notes: Vec::new() }
    }

    #[test]
    fn one_part_stands_alone_and_several_have_headings() {
        assert_eq!(compose(&parts("", "42", "", ""), 100), ("42".into(), 2));
        let text = "--- error ---\nboom\n--- returned ---\n1\n--- text ---\na\nb\n--- console ---\nc";
        assert_eq!(compose(&parts("boom", "1", "a\nb\n", "c"), 1000), (text.into(), text.len() as u64));
    }

    #[test]
    fn fault_12_the_error_is_kept_first_and_a_budget_of_nothing_says_nothing() {
        let parts = parts("TypeError: o.foo is not a function", "", &"x".repeat(100), "");
        assert_eq!(compose(&parts, 34).0, "TypeError: o.foo is not a function");
        assert_eq!(compose(&parts, 0).0, "");
        let long = Parts { text: Part::whole("x".repeat(5000)), ..parts };
        let cut = compose(&long, 512).0;
        assert!(cut.starts_with("--- error ---\nTypeError: o.foo is not a function\n--- text ---\nxxx"), "{cut}");
        assert!(cut.ends_with("of 5000 bytes ---"), "{cut}");
    }

    #[test]
    fn a_script_cannot_forge_a_heading_or_drive_a_terminal() {
        assert_eq!(safe("--- error ---\nx\n--- y"), " --- error ---\nx\n --- y");
        assert_eq!(safe("\x1b[2J\x07\r\n\u{202e}\u{9b}\u{e0041}"), "␛[2J␇\n\\u{202e}\\u{9b}\\u{e0041}");
    }

    proptest! {
        #[test]
        fn a_result_never_exceeds_its_budget(
            error in "\\PC{0,80}", value in "\\PC{0,400}", text in "\\PC{0,400}", console in "\\PC{0,400}",
            note in "\\PC{0,200}", unsent in 0_u64..10_000, budget in 0_usize..1200,
        ) {
            let mut parts = parts(&error, &value, &text, &console);
            parts.notes.push(note);
            parts.console.bytes += unsent;
            let (shown, whole) = compose(&parts, budget);
            prop_assert!(shown.len() <= budget, "{} > {}", shown.len(), budget);
            prop_assert!(whole >= unsent);
        }
    }
}
