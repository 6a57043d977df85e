//! Why an edit was refused, with the lines that help to make the next one right. Pure.

use std::fmt::Write;
use std::ops::Range;

use super::apply::Conflict;
use super::fold::{self, End};
use super::lines::{Lines, shown};
use super::nearest::{Nearest, nearest};
use super::place::{MOST_COUNTED, Original};
use crate::kernel::display;

/// Lines of the file that are shown where a text begins as one of the call does.
const SHOWN: usize = 4;

/// The text of an edit occurs more than once.
pub(super) fn several(
    index: usize,
    file: &str,
    original: &Original<'_>,
    first: &[Range<usize>],
    count: usize,
    exact: bool,
) -> String {
    let lines = Lines::of(original.bytes);
    let times = match count {
        MOST_COUNTED.. => format!("at least {} times", display::grouped(MOST_COUNTED as u64)),
        count => format!("{} times", display::grouped(count as u64)),
    };
    let apart = if exact { "" } else { ", apart from quotes, dashes and white space" };
    let mut message = format!(
        "edit: edits[{index}].oldText occurs {times} in {file}{apart}; add lines around it until it occurs once"
    );
    for range in first {
        let line = lines.at(range.start);
        let _ = write!(message, "\n{}: {}", line + 1, shown(lines.get(line)));
    }
    if count > first.len() {
        message.push_str("\n…");
    }
    message
}

/// The text of an edit does not occur.
pub(super) fn nowhere(index: usize, file: &str, original: &Original<'_>, text: &str) -> String {
    let lines = Lines::of(original.bytes);
    let mut message = format!("edit: edits[{index}].oldText does not occur in {file}; ");
    if lines.count() == 0 {
        message.push_str("the file is empty");
        return message;
    }
    let shown_lines = match nearest(original.folded(), &fold::fold(text.as_bytes(), End::Open)) {
        Nearest::Indented(line) => {
            let _ = write!(message, "line {} has it with other white space within it or before its lines", line + 1);
            (line..line + SHOWN.min(text.trim().lines().count())).collect()
        }
        Nearest::Begins { line, same } => {
            let other = line + same;
            let first = match same {
                1 => "its first line occurs".to_owned(),
                same => format!("its first {} lines occur", display::grouped(same as u64)),
            };
            let _ = write!(message, "{first} at line {}, and then comes", line + 1);
            if other >= lines.count() {
                message.push_str(" the end of the file");
            }
            (other..lines.count().min(other + SHOWN)).collect()
        }
        Nearest::Alike(lines) if lines.is_empty() => {
            message.push_str("no line is like it: read the file first");
            lines
        }
        Nearest::Alike(lines) => {
            message.push_str("the lines most like it");
            lines
        }
    };
    for (index, line) in shown_lines.into_iter().enumerate() {
        let start = if index == 0 { ":\n" } else { "\n" };
        let _ = write!(message, "{start}{}: {}", line + 1, shown(lines.get(line)));
    }
    message
}

/// The edits cannot be made together, or one changes nothing. `ranges` are those of the edits, by their index.
pub(super) fn conflict(file: &str, original: &[u8], ranges: &[Range<usize>], conflict: &Conflict) -> String {
    let lines = Lines::of(original);
    let at = |index: usize| {
        let (first, last) = ranges.get(index).map_or((0, 0), |range| lines.of_range(range));
        if first == last { format!("line {}", first + 1) } else { format!("lines {} to {}", first + 1, last + 1) }
    };
    match *conflict {
        Conflict::Overlap(one, other) => format!(
            "edit: edits[{one}] ({}) and edits[{other}] ({}) overlap in {file}; make one edit of them",
            at(one),
            at(other)
        ),
        Conflict::Nothing(index) => format!(
            "edit: edits[{index}] changes nothing in {file}: {} is the same already, and the line endings of a place are kept",
            at(index)
        ),
    }
}
