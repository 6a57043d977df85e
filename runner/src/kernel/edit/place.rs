//! Finds the one place that an edit means. Pure.

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem::Finder;

use super::fold::{self, End};

/// Places that are counted; a text that occurs more often is no better known by the number.
pub(super) const MOST_COUNTED: usize = 1_000;
/// Places that are told apart for a message.
const MOST_LOCATED: usize = 5;

/// A file to find texts in.
#[derive(Debug)]
pub(super) struct Original<'a> {
    pub(super) bytes: &'a [u8],
    folded: OnceCell<Vec<u8>>,
}

/// Where a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Once; `exact` when it stands there as it was given.
    Once { range: Range<usize>, exact: bool },
    /// Several times: the first places, and how many there are, counted up to [`MOST_COUNTED`].
    Several { first: Vec<Range<usize>>, count: usize, exact: bool },
    /// Not at all.
    Nowhere,
}

impl<'a> Original<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, folded: OnceCell::new() }
    }

    /// The file as it is compared when a text is not found as it stands.
    pub(super) fn folded(&self) -> &[u8] {
        self.folded.get_or_init(|| fold::fold(self.bytes, End::OfLine))
    }

    /// Finds a text that is not empty: as it stands, or else with tolerance for quotes, dashes and white space. A text of
    /// nothing but white space is found only as it stands.
    pub(super) fn find(&self, text: &str) -> Place {
        let exact = occurrences(self.bytes, text.as_bytes());
        if !exact.is_empty() {
            let located = exact.iter().take(MOST_LOCATED).map(|start| {
                // A line feed means the line ending, which in this file may have two bytes.
                let carried = self.bytes.get(..*start).is_some_and(|before| before.ends_with(b"\r"));
                let start_of_ending = start - usize::from(text.starts_with('\n') && carried);
                start_of_ending..start + text.len()
            });
            return Place::of(located.collect(), exact.len(), true);
        }
        let open = fold::fold(text.as_bytes(), End::Open);
        if open.trim_ascii().is_empty() {
            return Place::Nowhere;
        }
        let starts = occurrences(self.folded(), &open);
        if !starts.is_empty() {
            return self.located(&starts, open.len());
        }
        // White space at the end of the text may be meant as that at the end of a line, which may be none.
        let closed = fold::fold(text.as_bytes(), End::OfLine);
        if closed.len() == open.len() {
            return Place::Nowhere;
        }
        let mut starts = occurrences(self.folded(), &closed);
        starts.retain(|start| matches!(self.folded().get(start + closed.len()), None | Some(b'\n')));
        match self.located(&starts, closed.len()) {
            Place::Once { range, exact } => {
                let blanks = self.bytes.get(range.end..).map_or(0, fold::blanks);
                Place::Once { range: range.start..range.end + blanks, exact }
            }
            several_or_nowhere => several_or_nowhere,
        }
    }

    fn located(&self, starts: &[usize], length: usize) -> Place {
        let first = starts.get(..MOST_LOCATED).unwrap_or(starts);
        Place::of(fold::sources(self.bytes, first, length), starts.len(), false)
    }
}

impl Place {
    fn of(first: Vec<Range<usize>>, count: usize, exact: bool) -> Self {
        match (count, first.first()) {
            (1, Some(range)) => Self::Once { range: range.clone(), exact },
            (_, Some(_)) => Self::Several { first, count, exact },
            (_, None) => Self::Nowhere,
        }
    }
}

/// Where a text begins, overlapping itself or not; at most [`MOST_COUNTED`] places.
fn occurrences(within: &[u8], text: &[u8]) -> Vec<usize> {
    let finder = Finder::new(text);
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() < MOST_COUNTED
        && let Some(at) = within.get(from..).and_then(|rest| finder.find(rest))
    {
        found.push(from + at);
        from += at + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(file: &'a str, text: &str) -> (Vec<&'a str>, usize, bool) {
        let shown = |ranges: &[Range<usize>]| ranges.iter().map(|range| &file[range.clone()]).collect();
        match Original::new(file.as_bytes()).find(text) {
            Place::Once { range, exact } => (shown(&[range]), 1, exact),
            Place::Several { first, count, exact } => (shown(&first), count, exact),
            Place::Nowhere => (Vec::new(), 0, false),
        }
    }

    #[test]
    fn what_stands_there_exactly_is_found_before_what_is_like_it() {
        assert_eq!(find("'a' ‘a’", "'a'"), (vec!["'a'"], 1, true));
        assert_eq!(find("‘a’", "'a'"), (vec!["‘a’"], 1, false));
        assert_eq!(find("‘a’ ‘a’", "'a'"), (vec!["‘a’", "‘a’"], 2, false));
    }

    #[test]
    fn places_that_overlap_are_several() {
        assert_eq!(find("aaa", "aa"), (vec!["aa", "aa"], 2, true));
        assert_eq!(find("””””", "\"\"\""), (vec!["”””", "”””"], 2, false));
        assert_eq!(find(&"a".repeat(5_000), "a").1, MOST_COUNTED);
    }

    #[test]
    fn lines_are_found_whatever_ends_them() {
        assert_eq!(find("a\r\nb\r\nc", "a\nb\n"), (vec!["a\r\nb\r\n"], 1, false));
        assert_eq!(find("a\nb", "a\r\nb"), (vec!["a\nb"], 1, false));
        assert_eq!(find("a  \nb \t\r\nc", "a\nb\nc"), (vec!["a  \nb \t\r\nc"], 1, false));
        assert_eq!(find("a\nb", "a   \nb"), (vec!["a\nb"], 1, false));
        assert_eq!(find("x\r\nb", "\nb"), (vec!["\r\nb"], 1, true));
        // A CR by itself is a character of its line.
        assert_eq!(find("a\rb", "a\nb"), (Vec::new(), 0, false));
    }

    #[test]
    fn white_space_at_the_end_of_the_text_is_that_of_a_line_end_or_stands_for_itself() {
        assert_eq!(find("foo bar\n", "foo "), (vec!["foo "], 1, true));
        assert_eq!(find("foo()\nx", "foo()  "), (vec!["foo()"], 1, false));
        assert_eq!(find("foo()\t\nfoo() y", "foo()  "), (vec!["foo()\t"], 1, false));
        assert_eq!(find("foo() y", "foo()  "), (Vec::new(), 0, false));
        // What the text does not have stays behind it.
        assert_eq!(find("‘a’  \nb", "'a'"), (vec!["‘a’"], 1, false));
    }

    #[test]
    fn white_space_alone_is_found_only_as_it_stands() {
        assert_eq!(find("a\r\nb", " \n"), (Vec::new(), 0, false));
        assert_eq!(find("a \nb", " \n"), (vec![" \n"], 1, true));
    }
}
