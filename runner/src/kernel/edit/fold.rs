//! Text as it is compared when it is not found as it stands: quotes, dashes and spaces of typography count as those of a
//! keyboard, CRLF as LF, and white space at the end of a line as nothing. Pure.
//!
//! Each byte of the folded text comes from a range of the text, in order, so that whatever is found in one is known in the
//! other. Nothing is stored for that: the few places that are wanted are found by folding once more.

use std::ops::Range;

/// Whether the end of the text ends a line. That of a file does; a piece of text may go on within its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    OfLine,
    Open,
}

/// One byte of folded text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    byte: u8,
    source: Range<usize>,
}

/// The folded text.
pub(super) fn fold(text: &[u8], end: End) -> Vec<u8> {
    let mut folded = Vec::with_capacity(text.len());
    folded.extend(units(text, end).map(|unit| unit.byte));
    folded
}

/// Where ranges of the text folded with [`End::OfLine`] come from. They are given by their starts, in order, and one length,
/// which is not 0; a range leaves out the white space around it that is left out of the folded text.
pub(super) fn sources(text: &[u8], starts: &[usize], length: usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::with_capacity(starts.len());
    let mut ended = 0;
    for (at, unit) in units(text, End::OfLine).enumerate() {
        if starts.get(found.len()) == Some(&at) {
            found.push(unit.source.start..unit.source.end);
        }
        // Ranges may overlap: the next one may start before this one ends.
        while starts.get(ended).is_some_and(|start| start + length == at + 1) {
            if let Some(range) = found.get_mut(ended) {
                range.end = unit.source.end;
            }
            ended += 1;
        }
        if ended == starts.len() {
            break;
        }
    }
    found
}

fn units(text: &[u8], end: End) -> impl Iterator<Item = Unit> {
    let mut at = 0;
    // As far as blanks are known to have something behind them in their line.
    let mut inner = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let (byte, bytes) = folded(rest)?;
            if is_blank(byte) && at >= inner {
                let run = blanks(rest);
                let ends_line = match text.get(at + run..) {
                    Some([b'\n', ..] | [b'\r', b'\n', ..]) => true,
                    None | Some([]) => end == End::OfLine,
                    Some(_) => false,
                };
                if ends_line {
                    at += run;
                    continue;
                }
                inner = at + run;
            }
            let source = at..at + bytes;
            at = source.end;
            return Some(Unit { byte, source });
        }
    })
}

/// The blanks at the start of a text, in bytes.
pub(super) fn blanks(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some((byte, bytes)) = text.get(length..).and_then(folded)
        && is_blank(byte)
    {
        length += bytes;
    }
    length
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The first character as a keyboard has it, and its bytes in the text. A character without such a form is passed on byte
/// by byte.
const fn folded(text: &[u8]) -> Option<(u8, usize)> {
    Some(match text {
        [] => return None,
        [b'\r', b'\n', ..] => (b'\n', 2),
        // U+00A0, the space that does not break.
        [0xc2, 0xa0, ..] => (b' ', 2),
        // U+2002 to U+200A, spaces by width; U+202F, narrow and not breaking; U+205F, of formulas; U+3000, ideographic.
        [0xe2, 0x80, 0x82..=0x8a | 0xaf, ..] | [0xe2, 0x81, 0x9f, ..] | [0xe3, 0x80, 0x80, ..] => (b' ', 3),
        // U+2010 to U+2015, hyphens and dashes; U+2212, minus.
        [0xe2, 0x80, 0x90..=0x95, ..] | [0xe2, 0x88, 0x92, ..] => (b'-', 3),
        // U+2018 to U+201B, single quotes.
        [0xe2, 0x80, 0x98..=0x9b, ..] => (b'\'', 3),
        // U+201C to U+201F, double quotes.
        [0xe2, 0x80, 0x9c..=0x9f, ..] => (b'"', 3),
        [byte, ..] => (*byte, 1),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded_text(text: &str, end: End) -> String {
        String::from_utf8(fold(text.as_bytes(), end)).unwrap()
    }

    #[test]
    fn typography_counts_as_what_a_keyboard_has() {
        assert_eq!(folded_text("“a” ‘b’ „c‟ – — − ‑", End::OfLine), "\"a\" 'b' \"c\" - - - -");
        assert_eq!(folded_text("a\u{a0}b\u{202f}c\u{3000}d\u{2009}e", End::OfLine), "a b c d e");
        assert_eq!(folded_text("größe 日本\té", End::OfLine), "größe 日本\té");
    }

    #[test]
    fn the_end_of_a_line_counts_without_its_white_space() {
        assert_eq!(folded_text("a \t\r\nb\u{a0}\n \n  c  ", End::OfLine), "a\nb\n\n  c");
        assert_eq!(folded_text("a \nb  ", End::Open), "a\nb  ");
        assert_eq!(folded_text("a\rb\r", End::OfLine), "a\rb\r");
    }

    #[test]
    fn a_file_of_blanks_is_folded_in_one_pass() {
        let text = " ".repeat(4 << 20) + "x";
        assert_eq!(fold(text.as_bytes(), End::OfLine).len(), text.len());
    }

    proptest! {
        #[test]
        fn every_byte_of_folded_text_has_its_source(text in "[ab \t\r\n“—\u{a0}é]{0,40}", length in 1_usize..4) {
            let bytes = text.as_bytes();
            let folded = fold(bytes, End::OfLine);
            let starts: Vec<usize> = (0..(folded.len() + 1).saturating_sub(length)).collect();
            let sources = sources(bytes, &starts, length);
            prop_assert_eq!(sources.len(), starts.len());
            for (start, source) in starts.iter().zip(sources) {
                // Folding what it comes from gives it again, unless it ends with blanks that are within a line there.
                let again = fold(&bytes[source], End::Open);
                prop_assert_eq!(&again[..], &folded[*start..start + length]);
            }
        }
    }
}
