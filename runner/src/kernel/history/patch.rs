//! One file's change as a unified diff. Pure.

use std::fmt::Write;

use gix_imara_diff::Hunk;

use super::lines;

/// Unchanged lines around a change, as in git.
const CONTEXT: u32 = 3;

/// A diff that is written up to a number of lines and bytes.
pub(super) struct Patch {
    pub(super) text: String,
    lines: usize,
    bytes: usize,
    written: usize,
    /// Lines that did not fit.
    pub(super) left_out: usize,
}

impl Patch {
    pub(super) fn new(lines: usize, bytes: usize) -> Self {
        Self { text: String::new(), lines, bytes, written: 0, left_out: 0 }
    }

    /// Whether nothing more fits.
    pub(super) fn is_full(&self) -> bool {
        self.left_out > 0
    }

    /// Adds one line, given without its ending, unless one did not fit before.
    pub(super) fn line(&mut self, line: &str) {
        if self.left_out > 0 || self.written >= self.lines || self.text.len() + line.len() + 1 > self.bytes {
            self.left_out += 1;
            return;
        }
        self.written += 1;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds the hunks of one file.
    pub(super) fn hunks(&mut self, before: &[u8], after: &[u8], changes: &[Hunk]) {
        let old: Vec<&[u8]> = lines::of(before).collect();
        let new: Vec<&[u8]> = lines::of(after).collect();
        let mut rest = changes;
        while !rest.is_empty() {
            let count = together(rest);
            let (group, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = others;
            self.group(&old, &new, group);
        }
    }

    fn group(&mut self, old: &[&[u8]], new: &[&[u8]], group: &[Hunk]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let lead = CONTEXT.min(first.before.start);
        let trail = CONTEXT.min(u32::try_from(old.len()).unwrap_or(u32::MAX).saturating_sub(last.before.end));
        let (old_start, old_end) = (first.before.start - lead, last.before.end + trail);
        let (new_start, new_end) = (first.after.start - lead, last.after.end + trail);
        let mut header = String::from("@@ -");
        span(&mut header, old_start, old_end);
        header.push_str(" +");
        span(&mut header, new_start, new_end);
        header.push_str(" @@");
        self.line(&header);
        let mut at = old_start;
        for Hunk { before, after } in group {
            self.content(' ', old, at..before.start);
            self.content('-', old, before.clone());
            self.content('+', new, after.clone());
            at = before.end;
        }
        self.content(' ', old, at..old_end);
    }

    fn content(&mut self, sign: char, lines: &[&[u8]], range: std::ops::Range<u32>) {
        for line in lines.get(range.start as usize..range.end as usize).unwrap_or_default() {
            let (text, ended) = line.strip_suffix(b"\n").map_or((*line, false), |text| (text, true));
            self.line(&format!("{sign}{}", String::from_utf8_lossy(text)));
            if !ended {
                self.line("\\ No newline at end of file");
            }
        }
    }
}

/// How many changes from the first on are so close that they share their context.
fn together(changes: &[Hunk]) -> usize {
    let apart = changes.windows(2).position(|pair| match pair {
        [one, two] => two.before.start - one.before.end > 2 * CONTEXT,
        _ => false,
    });
    apart.map_or(changes.len(), |index| index + 1)
}

/// `start,count` as a unified diff writes it: without a count of 1, and one line earlier when nothing is there.
fn span(header: &mut String, start: u32, end: u32) {
    let _ = match end - start {
        0 => write!(header, "{start},0"),
        1 => write!(header, "{}", start + 1),
        count => write!(header, "{},{count}", start + 1),
    };
}
