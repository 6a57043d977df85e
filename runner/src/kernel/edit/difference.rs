//! The places that were changed, with the lines around them, as `diff -u` shows them. Pure.

use std::fmt::Write;

use super::apply::Change;
use super::lines::{Lines, shown};

/// Lines before and after a place.
const CONTEXT: usize = 2;
/// Lines of a place that are shown as removed, and as many as added.
const SIDE: usize = 20;
/// Lines in all; with 200 bytes each this fits any answer.
const WHOLE: usize = 120;

/// Neighbouring lines that were replaced by others: of the old text and of the new, the end left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    old: (usize, usize),
    new: (usize, usize),
}

/// The answer's lines: `- 3  removed`, `+ 3  added`, `  4  unchanged`; removed lines are numbered as they were, all others
/// as they are now.
pub(super) fn difference(old: &[u8], new: &[u8], changes: &[Change]) -> String {
    let (old, new) = (Lines::of(old), Lines::of(new));
    let blocks = blocks(&old, &new, changes);
    let width = old.count().max(new.count()).to_string().len();
    let line = |text: &mut String, sign: char, number: usize, line: &[u8]| {
        let _ = write!(text, "\n{sign} {:>width$}  {}", number + 1, shown(line));
    };
    let mut text = String::new();
    let mut lines = 0;
    let mut behind = 0;
    for (index, block) in blocks.iter().enumerate() {
        let size = |(start, end): (usize, usize)| (end - start).min(SIDE + 1);
        lines += size(block.old) + size(block.new) + 2 * CONTEXT + 1;
        if lines > WHOLE && index > 0 {
            let _ = write!(text, "\n[{} more places]", blocks.len() - index);
            break;
        }
        let first = block.new.0.saturating_sub(CONTEXT).max(behind);
        if first > behind && index > 0 {
            text.push_str("\n…");
        }
        for number in first..block.new.0 {
            line(&mut text, ' ', number, new.get(number));
        }
        for (sign, side, (start, end)) in [('-', &old, block.old), ('+', &new, block.new)] {
            for number in (start..end).take(SIDE) {
                line(&mut text, sign, number, side.get(number));
            }
            if end - start > SIDE {
                let _ = write!(text, "\n{sign} [{} more lines]", end - start - SIDE);
            }
        }
        let next = blocks.get(index + 1).map_or(usize::MAX, |next| next.new.0);
        behind = (block.new.1 + CONTEXT).min(new.count()).min(next).max(block.new.1);
        for number in block.new.1..behind {
            line(&mut text, ' ', number, new.get(number));
        }
    }
    text
}

fn blocks(old: &Lines<'_>, new: &Lines<'_>, changes: &[Change]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for change in changes {
        // The line behind the place as well: it is another one when the place lost or gained its last line ending.
        let lines = |lines: &Lines<'_>, range: &std::ops::Range<usize>| {
            (lines.at(range.start), (lines.at(range.end) + 1).min(lines.count()).max(lines.at(range.start)))
        };
        let block = Block { old: lines(old, &change.old), new: lines(new, &change.new) };
        match blocks.last_mut() {
            Some(last) if block.old.0 < last.old.1 || block.new.0 < last.new.1 => {
                last.old.1 = block.old.1;
                last.new.1 = block.new.1;
            }
            _ => blocks.push(block),
        }
    }
    for Block { old: (old_start, old_end), new: (new_start, new_end) } in &mut blocks {
        while old_start < old_end && new_start < new_end && old.get(*old_start) == new.get(*new_start) {
            *old_start += 1;
            *new_start += 1;
        }
        while old_start < old_end && new_start < new_end && old.get(*old_end - 1) == new.get(*new_end - 1) {
            *old_end -= 1;
            *new_end -= 1;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::super::apply::{Replacement, apply};
    use super::*;

    fn shown_for(original: &str, edits: &[(&str, &str)]) -> String {
        let replacement = |(index, (old, new)): (usize, &(&str, &'static str))| {
            let start = original.find(old).unwrap();
            Replacement { index, range: start..start + old.len(), new }
        };
        let edits: Vec<(&str, &'static str)> =
            edits.iter().map(|(old, new)| (*old, &*Box::leak((*new).to_owned().into_boxed_str()))).collect();
        let replacements = edits.iter().enumerate().map(replacement).collect();
        let (text, changes) = apply(original.as_bytes(), replacements).unwrap();
        difference(original.as_bytes(), &text, &changes)
    }

    #[test]
    fn a_changed_line_is_shown_with_its_neighbours() {
        assert_eq!(
            shown_for("1\n2\n3\n4\n5\n6\n7\n", &[("4", "four\nand")]),
            "\n  2  2\n  3  3\n- 4  4\n+ 4  four\n+ 5  and\n  6  5\n  7  6"
        );
    }

    #[test]
    fn places_in_one_line_are_one_and_places_apart_have_a_gap_between_them() {
        let text: String = (1..=12).map(|number: u32| "line ".to_owned() + &number.to_string() + "\n").collect();
        assert_eq!(
            shown_for(&text, &[("line 2", "row 2"), ("ne 11", "ne eleven"), ("e 3", "E 3")]),
            "\n   1  line 1\n-  2  line 2\n+  2  row 2\n-  3  line 3\n+  3  linE 3\n   4  line 4\n   5  line 5\n…\
             \n   9  line 9\n  10  line 10\n- 11  line 11\n+ 11  line eleven\n  12  line 12"
        );
        assert_eq!(shown_for("ab\n", &[("a", "x"), ("b", "y")]), "\n- 1  ab\n+ 1  xy");
    }

    #[test]
    fn lines_that_are_joined_removed_or_added_at_the_end_are_shown() {
        assert_eq!(shown_for("a\nb\nc\n", &[("a\n", "a")]), "\n- 1  a\n- 2  b\n+ 1  ab\n  2  c");
        assert_eq!(shown_for("a\nb\nc\n", &[("b\n", "")]), "\n  1  a\n- 2  b\n  2  c");
        assert_eq!(shown_for("a\nb", &[("b", "")]), "\n  1  a\n- 2  b");
        assert_eq!(shown_for("a\nb", &[("b", "b\nc\n")]), "\n  1  a\n- 2  b\n+ 2  b\n+ 3  c");
        assert_eq!(shown_for("a", &[("a", "")]), "\n- 1  a");
    }

    #[test]
    fn however_much_was_changed_the_answer_is_bounded() {
        let long: String = (0..500).map(|number: u32| number.to_string() + "\n").collect();
        let answer = shown_for(&format!("{long}end"), &[("end", &long), (&long, "x\n")]);
        assert_eq!(answer.lines().count(), 1 + 2 * (SIDE + 1), "{answer}");
        let edits: Vec<(String, String)> =
            (10..90).map(|number| (format!("\n{number}0\n"), format!("\n{number}x\n"))).collect();
        let many: String = (0..1000).map(|number: u32| number.to_string() + "\n").collect();
        let edits: Vec<(&str, &str)> = edits.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        let answer = shown_for(&many, &edits);
        assert!(answer.lines().count() <= WHOLE + 2 && answer.ends_with(" more places]"), "{answer}");
    }
}
