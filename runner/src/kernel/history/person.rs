//! Who made a commit and when, as it is shown. Pure.

use gix_object::bstr::BStr;
use jiff::Timestamp;
use jiff::tz::Offset;

use super::super::display;

/// Characters of a name or an address that are shown.
const SHOWN_CHARACTERS: usize = 100;

/// An author or committer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) email: String,
    /// `2026-05-01T12:00:00+02:00`, in the person's own time zone; empty when the commit holds no time.
    pub(super) time: String,
}

impl Person {
    /// Reads a line of a commit: `name <email> seconds zone`. What it lacks stays empty.
    pub(super) fn parse(line: &BStr, encoding: Option<&[u8]>) -> Self {
        let (name, email, time) = parts(line);
        let text = |bytes: &[u8]| {
            let shown = display::name(decoded(bytes, encoding).as_bytes());
            shown.trim().chars().take(SHOWN_CHARACTERS).collect()
        };
        Self { name: text(name), email: text(email), time: iso(time).unwrap_or_default() }
    }

    /// The seconds of the line's time; 0 when it has none.
    pub(super) fn seconds(line: &BStr) -> i64 {
        let (_, _, time) = parts(line);
        instant(time).map_or(0, |(timestamp, _)| timestamp.as_second())
    }

    /// The day alone.
    pub(super) fn day(&self) -> &str {
        self.time.get(..10).unwrap_or("no date")
    }
}

fn parts(line: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let (before, time) =
        line.iter().rposition(|byte| *byte == b'>').and_then(|at| line.split_at_checked(at)).unwrap_or((line, b""));
    let (name, email) = before
        .iter()
        .position(|byte| *byte == b'<')
        .and_then(|at| before.split_at_checked(at))
        .unwrap_or((before, b""));
    (name, email.strip_prefix(b"<").unwrap_or(email), time.strip_prefix(b">").unwrap_or(time))
}

fn instant(time: &[u8]) -> Option<(Timestamp, Offset)> {
    let mut words = std::str::from_utf8(time).ok()?.split_ascii_whitespace();
    let seconds = words.next()?.parse().ok()?;
    let zone: i32 = words.next().unwrap_or("+0000").parse().ok()?;
    let offset = Offset::from_seconds((zone / 100) * 3600 + (zone % 100) * 60).unwrap_or(Offset::UTC);
    Some((Timestamp::from_second(seconds).ok()?, offset))
}

fn iso(time: &[u8]) -> Option<String> {
    let (timestamp, offset) = instant(time)?;
    Some(timestamp.display_with_offset(offset).to_string())
}

/// Text in the encoding a commit names. Bytes that are none in it stay visible as `�`.
pub(super) fn decoded(bytes: &[u8], encoding: Option<&[u8]>) -> String {
    const LATIN: [&[u8]; 3] = [b"iso-8859-1", b"iso8859-1", b"latin1"];
    match encoding {
        Some(encoding) if LATIN.iter().any(|name| encoding.eq_ignore_ascii_case(name)) => {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_commit_is_read_as_far_as_it_goes() {
        let parse = |line: &str| {
            let Person { name, email, time } = Person::parse(line.into(), None);
            (name, email, time)
        };
        let told = |name: &str, email: &str, time: &str| (name.to_owned(), email.to_owned(), time.to_owned());
        assert_eq!(parse("Ada <ada@x> 1700000000 +0130"), told("Ada", "ada@x", "2023-11-14T23:43:20+01:30"));
        assert_eq!(parse("Ada <ada@x> 1700000000 -0800"), told("Ada", "ada@x", "2023-11-14T14:13:20-08:00"));
        assert_eq!(parse("Ada <a> b> 0 +0000"), told("Ada", "a> b", "1970-01-01T00:00:00+00:00"));
        assert_eq!(parse("Ada <ada@x>"), told("Ada", "ada@x", ""));
        assert_eq!(parse("A\u{1b}[31m <x> 99999999999999999999 +0000"), told("A\\u{1b}[31m", "x", ""));
        assert_eq!(parse(""), told("", "", ""));
    }

    #[test]
    fn text_is_read_in_the_encoding_the_commit_names() {
        assert_eq!(decoded(b"caf\xe9", Some(b"ISO-8859-1")), "café");
        assert_eq!(decoded(b"caf\xe9", None), "caf\u{fffd}");
    }
}
