//! Keeps the beginning and the end of an output, and counts what was between them.

use std::collections::VecDeque;

use super::clean::Cleaner;
use crate::kernel::display;

/// An output as it streams by. Holds at most the bytes it was given for.
#[derive(Debug)]
pub(super) struct Output {
    cleaner: Cleaner,
    kept: Kept,
}

#[derive(Debug)]
struct Kept {
    /// Bytes for each end.
    most: usize,
    head: String,
    /// Whether the head is full: from then on everything goes to the tail.
    full: bool,
    tail: VecDeque<u8>,
    left_out: LeftOut,
}

#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    bytes: u64,
    lines: u64,
}

impl Output {
    /// Keeps at most `most` bytes: half of them from the beginning, half from the end.
    pub(super) fn new(most: usize) -> Self {
        let kept = Kept {
            most: most / 2,
            head: String::new(),
            full: false,
            tail: VecDeque::new(),
            left_out: LeftOut::default(),
        };
        Self { cleaner: Cleaner::default(), kept }
    }

    /// Takes what the command printed next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Self { cleaner, kept } = self;
        cleaner.push(bytes, &mut |text| kept.add(text));
    }

    /// The text, with one line for what was left out; it ends with a line feed unless it is empty.
    pub(super) fn into_text(self) -> String {
        let Self { mut cleaner, mut kept } = self;
        cleaner.end(&mut |text| kept.add(text));
        kept.into_text()
    }
}

impl Kept {
    fn add(&mut self, text: &str) {
        let mut rest = text;
        if !self.full {
            let fits = text.floor_char_boundary(self.most - self.head.len());
            let (head, beyond) = text.split_at(fits);
            self.head.push_str(head);
            self.full = !beyond.is_empty();
            rest = beyond;
        }
        // Of a long piece only the end can stay.
        let skip = rest.ceil_char_boundary(rest.len().saturating_sub(self.most));
        if skip > 0 {
            let (dropped, kept) = rest.split_at(skip);
            let tail = self.tail.len();
            self.drop_first(tail);
            self.left_out.count(dropped.as_bytes());
            rest = kept;
        }
        self.drop_first((self.tail.len() + rest.len()).saturating_sub(self.most));
        self.tail.extend(rest.as_bytes());
    }

    /// Drops at least so many bytes from the beginning of the tail, and no part of a character.
    fn drop_first(&mut self, bytes: usize) {
        let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
        let mut end = bytes.min(self.tail.len());
        while self.tail.get(end).is_some_and(is_inside) {
            end += 1;
        }
        let lines = self.tail.iter().take(end).filter(|byte| **byte == b'\n').count();
        self.tail.drain(..end);
        self.left_out.bytes += end as u64;
        self.left_out.lines += lines as u64;
    }

    fn into_text(self) -> String {
        let Self { head: mut text, tail, left_out, .. } = self;
        let end_line = |text: &mut String| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
        };
        if left_out.bytes > 0 {
            end_line(&mut text);
            let bytes = display::count(left_out.bytes, "byte", "bytes");
            let lines = display::count(left_out.lines, "line", "lines");
            text.extend(["[… ", &bytes, ", ", &lines, " left out …]\n"]);
        }
        text.push_str(&String::from_utf8_lossy(&Vec::from(tail)));
        end_line(&mut text);
        text
    }
}

impl LeftOut {
    fn count(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(most: usize, pieces: &[&str]) -> String {
        let mut output = Output::new(most);
        for piece in pieces {
            output.push(piece.as_bytes());
        }
        output.into_text()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        assert_eq!(kept(100, &["a\n", "b"]), "a\nb\n");
        assert_eq!(kept(8, &["abcd", "efgh"]), "abcdefgh\n");
        assert_eq!(kept(8, &[]), "");
    }

    #[test]
    fn the_middle_is_left_out_and_counted() {
        assert_eq!(kept(8, &["1\n2\n3\n4\n5\n"]), "1\n2\n[… 2 bytes, 1 line left out …]\n4\n5\n");
        assert_eq!(kept(8, &["aaaa", "bbbb", "cccc", "d"]), "aaaa\n[… 5 bytes, 0 lines left out …]\ncccd\n");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_uncounted_and_the_cut_does_not_depend_on_the_pieces(
            text in "[a-z日é🦀\n]{0,80}", most in 8_usize..40, cuts in prop::collection::vec(0_usize..200, 0..6)
        ) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let mut output = Output::new(most);
            for piece in cuts.windows(2) {
                output.push(&text.as_bytes()[piece[0]..piece[1]]);
            }
            output.cleaner.end(&mut |_| panic!("nothing is held back of whole characters"));
            let Kept { head, tail, left_out, .. } = &output.kept;
            prop_assert!(head.len() + tail.len() <= most);
            prop_assert_eq!(head.len() as u64 + tail.len() as u64 + left_out.bytes, text.len() as u64);
            let tail = String::from_utf8(tail.iter().copied().collect()).unwrap();
            prop_assert!(text.starts_with(head.as_str()) && text.ends_with(&tail));
            let middle = &text[head.len()..text.len() - tail.len()];
            prop_assert_eq!(left_out.lines, middle.matches('\n').count() as u64);
        }
    }
}
