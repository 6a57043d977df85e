//! Two versions of a text, line by line. Pure.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// Bytes of a file that is compared line by line.
pub(super) const MOST_BYTES: usize = 8 << 20;
/// Bytes at the beginning within which a NUL makes a file binary, as in git.
const BINARY_BYTES: usize = 8000;

/// Whether a content is no text.
pub(super) fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, content.get(..BINARY_BYTES).unwrap_or(content)).is_some()
}

/// The lines of a content, each with its ending.
pub(super) fn of(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split_inclusive(|byte| *byte == b'\n')
}

/// Where two versions differ, in order: by Myers' algorithm and placed by indentation, as in git.
pub(super) fn changes(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

/// A range of lines of the new version, as it was before: the lines in between, and what was changed within it.
/// Nothing when every line of it is new.
pub(super) fn before(range: &Range<u32>, changes: &[Hunk]) -> Option<Range<u32>> {
    let start = moved(range.start, changes, false);
    let end = moved(range.end, changes, true);
    (start < end).then_some(start..end)
}

/// Whether a range of lines of the new version was changed.
pub(super) fn touches(range: &Range<u32>, changes: &[Hunk]) -> bool {
    changes.iter().any(|Hunk { after, .. }| {
        if after.is_empty() {
            // Lines were taken out between two lines of the range.
            after.start > range.start && after.start < range.end
        } else {
            after.start < range.end && after.end > range.start
        }
    })
}

/// The place of a line boundary before the changes; within a change, its beginning or its end.
fn moved(place: u32, changes: &[Hunk], is_end: bool) -> u32 {
    let mut shift = 0_i64;
    for Hunk { before, after } in changes {
        let ends_before =
            if is_end { after.end < place || (after.end == place && !after.is_empty()) } else { after.end <= place };
        if ends_before {
            shift = i64::from(before.end) - i64::from(after.end);
        } else if after.start < place {
            return if is_end { before.end } else { before.start };
        } else {
            break;
        }
    }
    u32::try_from(i64::from(place) + shift).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[&str]) -> Vec<u8> {
        (lines.join("\n") + "\n").into_bytes()
    }

    #[test]
    fn a_range_is_followed_through_changes_above_within_and_below_it() {
        let old = text(&["a", "b", "c", "d", "e"]);
        let new = text(&["new", "a", "b", "C", "d", "e", "last"]);
        let changes = changes(&old, &new);
        assert_eq!(before(&(1..6), &changes), Some(0..5));
        assert_eq!((before(&(1..3), &changes), touches(&(1..3), &changes)), (Some(0..2), false));
        assert_eq!((before(&(3..4), &changes), touches(&(3..4), &changes)), (Some(2..3), true));
        assert_eq!((before(&(4..6), &changes), touches(&(4..6), &changes)), (Some(3..5), false));
        assert_eq!((before(&(0..1), &changes), touches(&(0..1), &changes)), (None, true));
        assert_eq!(before(&(6..7), &changes), None);
    }

    #[test]
    fn lines_taken_out_of_a_range_touch_it_and_lines_beside_it_do_not() {
        let old = text(&["a", "x", "b", "c"]);
        let new = text(&["a", "b", "c"]);
        let changes = changes(&old, &new);
        assert!(touches(&(0..2), &changes));
        assert!(!touches(&(1..3), &changes));
        assert_eq!(before(&(0..2), &changes), Some(0..3));
        assert_eq!(before(&(1..3), &changes), Some(2..4));
    }
}
