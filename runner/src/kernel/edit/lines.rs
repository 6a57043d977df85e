//! Which line a byte is in, and how a line is shown. Pure.

use std::ops::Range;

use memchr::memchr_iter;

/// Bytes of a line that are shown.
const SHOWN: usize = 200;

/// Lines from one known start to the next: a file may be nothing but line endings, and an index of each would be eight times
/// its size.
const STRIDE: usize = 64;

/// The lines of a text. A text that ends with a line ending has an empty last line.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a [u8],
    /// Where every 64th line starts.
    starts: Vec<usize>,
    /// Line endings.
    endings: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        let mut starts = vec![0];
        let mut endings = 0;
        for at in memchr_iter(b'\n', text) {
            endings += 1;
            if endings % STRIDE == 0 {
                starts.push(at + 1);
            }
        }
        Self { text, starts, endings }
    }

    /// How many there are, without an empty last one.
    pub(super) fn count(&self) -> usize {
        self.endings + usize::from(!matches!(self.text.last(), None | Some(b'\n')))
    }

    /// The line that a byte is in, counted from 0; the end of the text is in the last.
    pub(super) fn at(&self, byte: usize) -> usize {
        let known = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let start = self.starts.get(known).copied().unwrap_or(0);
        let between = self.text.get(start..byte.min(self.text.len())).unwrap_or_default();
        known * STRIDE + memchr_iter(b'\n', between).count()
    }

    /// A line with its ending; empty beyond the last.
    pub(super) fn get(&self, line: usize) -> &'a [u8] {
        let start = self.starts.get(line / STRIDE).and_then(|start| self.text.get(*start..)).unwrap_or_default();
        start.split_inclusive(|byte| *byte == b'\n').nth(line % STRIDE).unwrap_or_default()
    }

    /// The lines that a range is in, first and last.
    pub(super) fn of_range(&self, range: &Range<usize>) -> (usize, usize) {
        (self.at(range.start), self.at(range.end.saturating_sub(1).max(range.start)))
    }
}

/// A line without its ending, fit for one line of an answer: what is no text or could act is escaped, save for tabs, and
/// what is too long is cut.
pub(super) fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let cut = line.len() > SHOWN;
    let kept = if cut { line.get(..SHOWN).unwrap_or(line) } else { line };
    // A character that the cut goes through is left out, not shown as broken bytes.
    let whole = match std::str::from_utf8(kept) {
        Err(error) if cut && error.error_len().is_none() => kept.get(..error.valid_up_to()).unwrap_or(kept),
        _ => kept,
    };
    let mut shown = whole.split(|byte| *byte == b'\t').map(crate::kernel::display::name).collect::<Vec<_>>().join("\t");
    if cut {
        shown.push_str("… [line of ");
        shown.push_str(&line.len().to_string());
        shown.push_str(" bytes]");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_in_one_line() {
        let lines = Lines::of(b"a\nbc\n\nd");
        assert_eq!([0, 1, 2, 4, 5, 6, 7, 99].map(|byte| lines.at(byte)), [0, 0, 1, 1, 2, 3, 3, 3]);
        assert_eq!([0, 1, 2, 3, 4].map(|line| lines.get(line)), [&b"a\n"[..], b"bc\n", b"\n", b"d", b""]);
        assert_eq!([&b""[..], b"a", b"a\n", b"\n\n"].map(|text| Lines::of(text).count()), [0, 1, 1, 2]);
        assert_eq!([0..2, 0..3, 2..2].map(|range| lines.of_range(&range)), [(0, 0), (0, 1), (1, 1)]);
    }

    #[test]
    fn a_line_far_from_a_known_start_is_found() {
        let text: String = (0..1_000).map(|number: u32| number.to_string() + "\n").collect();
        let lines = Lines::of(text.as_bytes());
        assert_eq!(lines.count(), 1_000);
        let mut start = 0;
        for number in 0..1_000 {
            let line = number.to_string() + "\n";
            assert_eq!((lines.get(number), lines.at(start)), (line.as_bytes(), number));
            assert_eq!(lines.at(start + line.len() - 1), number);
            start += line.len();
        }
    }

    #[test]
    fn a_line_is_shown_in_one_line() {
        assert_eq!(shown(b"\ta\x1b[1m\xff\r\n"), "\ta\\u{1b}[1m\\xff");
        let long = "é".repeat(150);
        assert_eq!(shown(("x".to_owned() + &long).as_bytes()), format!("x{}… [line of 301 bytes]", "é".repeat(99)));
    }
}
