//! Puts new text in the place of old. Pure: every byte outside the places stays as it is.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

/// One place, and what is to stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement<'a> {
    /// Which of the call's edits it is.
    pub(super) index: usize,
    /// The bytes to replace.
    pub(super) range: Range<usize>,
    /// What for, with whatever line endings.
    pub(super) new: &'a str,
}

/// One place in both texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Why nothing can be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// Two edits replace the same bytes.
    Overlap(usize, usize),
    /// The edit's new text, with the line endings of its place, is what stands there.
    Nothing(usize),
}

/// The text with all replacements made, and where they are, in the order of the text.
pub(super) fn apply(
    original: &[u8],
    mut replacements: Vec<Replacement<'_>>,
) -> Result<(Vec<u8>, Vec<Change>), Conflict> {
    replacements.sort_by_key(|replacement| (replacement.range.start, replacement.range.end));
    let mut text = Vec::with_capacity(original.len());
    let mut changes = Vec::with_capacity(replacements.len());
    let mut behind: Option<(usize, usize)> = None;
    for Replacement { index, range, new } in replacements {
        let (other, end) = behind.map_or((index, 0), |behind| behind);
        if range.start < end {
            return Err(Conflict::Overlap(other.min(index), other.max(index)));
        }
        text.extend_from_slice(original.get(end..range.start).unwrap_or_default());
        let start = text.len();
        text.extend(with_endings_of(original, &range, new));
        if text.get(start..) == original.get(range.clone()) {
            return Err(Conflict::Nothing(index));
        }
        changes.push(Change { new: start..text.len(), old: range.clone() });
        behind = Some((index, range.end));
    }
    let end = behind.map_or(0, |(_, end)| end);
    text.extend_from_slice(original.get(end..).unwrap_or_default());
    Ok((text, changes))
}

/// The new text with the line endings of its place: the first for the first and so on, the last for all that follow. A place
/// within one line has those of the line around it; a file of one line leaves the new text as it is.
fn with_endings_of(original: &[u8], range: &Range<usize>, new: &str) -> Vec<u8> {
    let mut endings = endings_of(original, range);
    let Some(mut ending) = endings.next() else { return new.as_bytes().to_vec() };
    let mut text = Vec::with_capacity(new.len());
    let mut rest = new.as_bytes();
    while let Some(at) = memchr(b'\n', rest) {
        let (line, behind) = rest.split_at(at);
        text.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        text.extend_from_slice(ending);
        ending = endings.next().unwrap_or(ending);
        rest = behind.get(1..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    text
}

/// The line endings in a range; if there are none, the one that ends its line, or else the line before.
fn endings_of<'a>(original: &'a [u8], range: &Range<usize>) -> Box<dyn Iterator<Item = &'static [u8]> + 'a> {
    let ending_at = |line_feed: usize| -> &'static [u8] {
        if original.get(..line_feed).is_some_and(|before| before.ends_with(b"\r")) { b"\r\n" } else { b"\n" }
    };
    let (start, within) = (range.start, original.get(range.clone()).unwrap_or_default());
    if memchr(b'\n', within).is_some() {
        return Box::new(memchr_iter(b'\n', within).map(move |at| ending_at(start + at)));
    }
    let after = || memchr(b'\n', original.get(range.end..)?).map(|at| range.end + at);
    let before = || memrchr(b'\n', original.get(..range.start)?);
    let ending = match after().or_else(before) {
        Some(line_feed) => Some(ending_at(line_feed)),
        // The files of the first Macintosh end their lines so; elsewhere a CR is a character of its line.
        None => memchr(b'\r', original).map(|_| b"\r".as_slice()),
    };
    Box::new(ending.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(original: &str, old: &str, new: &str) -> String {
        let start = original.find(old).unwrap();
        let replacement = Replacement { index: 0, range: start..start + old.len(), new };
        String::from_utf8(apply(original.as_bytes(), vec![replacement]).unwrap().0).unwrap()
    }

    #[test]
    fn new_lines_end_as_those_they_replace() {
        assert_eq!(replaced("a\r\nb\r\nc\r\n", "b", "x\ny"), "a\r\nx\r\ny\r\nc\r\n");
        assert_eq!(replaced("a\nb\nc\n", "b\n", "x\r\ny\r\n"), "a\nx\ny\nc\n");
        assert_eq!(replaced("a\r\nb\nc\n", "a\r\nb\n", "1\n2\n3\n"), "1\r\n2\n3\nc\n");
        assert_eq!(replaced("a\nb\r\nc", "c", "x\ny"), "a\nb\r\nx\r\ny");
        assert_eq!(replaced("a\rb\rc", "b", "x\ny"), "a\rx\ry\rc");
        // The CR is a character of a line here, not its end.
        assert_eq!(replaced("a\rb\nc", "a", "x\ny"), "x\ny\rb\nc");
        assert_eq!(replaced("abc", "b", "x\r\ny\nz"), "ax\r\ny\nzc");
    }

    #[test]
    fn places_that_touch_are_apart_and_places_that_overlap_are_told() {
        let at = |index, range, new| Replacement { index, range, new };
        assert_eq!(
            apply(b"abcd", vec![at(0, 2..4, "Y"), at(1, 0..2, "X")]),
            Ok((b"XY".to_vec(), vec![Change { old: 0..2, new: 0..1 }, Change { old: 2..4, new: 1..2 }]))
        );
        assert_eq!(apply(b"abcd", vec![at(0, 1..4, "Y"), at(1, 0..2, "X")]), Err(Conflict::Overlap(0, 1)));
        assert_eq!(apply(b"abcd", vec![at(0, 1..2, "Y"), at(1, 1..2, "X")]), Err(Conflict::Overlap(0, 1)));
        assert_eq!(apply(b"a\r\nb", vec![at(3, 0..3, "a\n")]), Err(Conflict::Nothing(3)));
    }
}
