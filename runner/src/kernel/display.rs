//! How names, lines and counts are written in answers. Pure.

use std::fmt::Write;
use std::path::Path;

/// A file name for one line of output: valid text stays, everything that could act on a terminal, end the line or is
/// not UTF-8 is escaped.
pub(crate) fn name(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_safe(character) {
                shown.push(character);
            } else {
                shown.extend(character.escape_default());
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// A path for one line of output.
pub(crate) fn path(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    name(path.as_os_str().as_bytes())
}

/// Control characters, and those that reorder or hide what stands beside them.
fn is_safe(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A folder as the caller named it, with a name in it.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ if name.is_empty() => folder.to_owned(),
        _ => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: u64, singular: &str, plural: &str) -> String {
    if number == 1 { format!("1 {singular}") } else { format!("{} {plural}", grouped(number)) }
}

/// A number with thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// The longest beginning of `text` that has at most `bytes` bytes and splits no character.
pub(crate) fn prefix(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_forge_a_line_or_act_on_a_terminal_are_escaped() {
        assert_eq!(name("größe 日本.rs".as_bytes()), "größe 日本.rs");
        assert_eq!(name(b"a\nb\x1b[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(name(b"caf\xe9.txt"), "caf\\xe9.txt");
        assert_eq!(name("txt.\u{202e}exe".as_bytes()), "txt.\\u{202e}exe");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"].map(str::to_owned));
    }

    #[test]
    fn a_prefix_never_splits_a_character() {
        assert_eq!(["aé", "aé", "aé"].map(|text| prefix(text, 2)), ["a", "a", "a"]);
        assert_eq!(prefix("aé", 3), "aé");
        assert_eq!(prefix("aé", usize::MAX), "aé");
    }
}
