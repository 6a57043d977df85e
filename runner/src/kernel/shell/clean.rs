//! Makes text of whatever a command prints: well-formed UTF-8 without what acts on a terminal. Works piece by piece, so that
//! the output of a command is never held whole.

/// Where in a sequence of control characters the output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character: one more ends it.
    Intermediate,
    /// In `ESC [ … final`.
    Control,
    /// In `ESC ] …`, ended by BEL or ESC \; and likewise in `ESC P`, `ESC X`, `ESC ^` and `ESC _`.
    Payload,
    /// After an ESC in one of those.
    PayloadEscape,
}

/// The state between two pieces.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    state: State,
    /// The beginning of a character whose end is not there yet: at most three bytes.
    partial: Vec<u8>,
    /// Whether the last character was a carriage return: it counts when the next one is known.
    returned: bool,
}

impl Cleaner {
    /// Takes a piece of output and gives on what is text in it.
    pub(super) fn push(&mut self, bytes: &[u8], take: &mut impl FnMut(&str)) {
        let joined;
        let bytes = if self.partial.is_empty() {
            bytes
        } else {
            self.partial.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.partial);
            &joined
        };
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text(chunk.valid(), take);
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && is_beginning(invalid) {
                self.partial = invalid.to_vec();
            } else {
                self.broken(invalid, take);
            }
        }
    }

    /// Gives on what was held back: there is no more output.
    pub(super) fn end(&mut self, take: &mut impl FnMut(&str)) {
        let partial = std::mem::take(&mut self.partial);
        self.broken(&partial, take);
        if std::mem::take(&mut self.returned) {
            take("\n");
        }
    }

    fn broken(&mut self, bytes: &[u8], take: &mut impl FnMut(&str)) {
        for byte in bytes {
            self.settle(take);
            self.state = State::Text;
            take(&format!("\\x{byte:02x}"));
        }
    }

    fn text(&mut self, mut text: &str, take: &mut impl FnMut(&str)) {
        while !text.is_empty() {
            if self.state == State::Text {
                let plain = text.find(|character| !is_plain(character)).unwrap_or(text.len());
                let (before, rest) = text.split_at(plain);
                if !before.is_empty() {
                    self.settle(take);
                    take(before);
                }
                text = rest;
            }
            let mut characters = text.chars();
            let Some(character) = characters.next() else { return };
            text = characters.as_str();
            self.control(character, take);
        }
    }

    /// A carriage return that no line feed followed begins the line anew; here it begins a new one.
    fn settle(&mut self, take: &mut impl FnMut(&str)) {
        if std::mem::take(&mut self.returned) {
            take("\n");
        }
    }

    fn control(&mut self, character: char, take: &mut impl FnMut(&str)) {
        self.state = match self.state {
            State::Text => self.begin(character, take),
            // A line feed ends what was never ended: a lone ESC ] may not swallow the rest of the output.
            _ if character == '\n' => {
                take("\n");
                State::Text
            }
            State::Escape | State::Intermediate | State::Control if character == '\u{1b}' => State::Escape,
            State::Escape => match character {
                '[' => State::Control,
                ']' | 'P' | 'X' | '^' | '_' => State::Payload,
                ' '..='/' => State::Intermediate,
                _ => State::Text,
            },
            State::Intermediate if matches!(character, ' '..='/') => State::Intermediate,
            State::Control if matches!(character, ' '..='?') => State::Control,
            State::Intermediate | State::Control => State::Text,
            State::Payload | State::PayloadEscape => match (self.state, character) {
                (_, '\u{7}' | '\u{9c}') | (State::PayloadEscape, '\\') => State::Text,
                (_, '\u{1b}') => State::PayloadEscape,
                _ => State::Payload,
            },
        };
    }

    /// What a control character begins.
    fn begin(&mut self, character: char, take: &mut impl FnMut(&str)) -> State {
        match character {
            '\u{1b}' => return State::Escape,
            '\u{9b}' => return State::Control,
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => return State::Payload,
            '\r' => self.returned = true,
            '\n' => {
                self.returned = false;
                take("\n");
            }
            _ => {}
        }
        State::Text
    }
}

fn is_plain(character: char) -> bool {
    !character.is_control() || character == '\t'
}

/// Whether more bytes could make a character of these.
fn is_beginning(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.error_len().is_none() && error.valid_up_to() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(pieces: &[&[u8]]) -> String {
        let mut cleaner = Cleaner::default();
        let mut text = String::new();
        for piece in pieces {
            cleaner.push(piece, &mut |part| text.push_str(part));
        }
        cleaner.end(&mut |part| text.push_str(part));
        text
    }

    #[test]
    fn text_stays_and_line_ends_become_line_feeds() {
        assert_eq!(clean(&["größe\t日本\n".as_bytes(), b"a\r\nb\rc\r", b"\nd\r"]), "größe\t日本\na\nb\nc\nd\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_named() {
        assert_eq!(clean(&[b"caf\xe9 \xff\n", b"\xe6\x97"]), "caf\\xe9 \\xff\n\\xe6\\x97");
    }

    #[test]
    fn a_character_may_come_in_pieces() {
        let text = "日本 🦀\n".as_bytes();
        for at in 0..text.len() {
            assert_eq!(clean(&[&text[..at], &text[at..]]), "日本 🦀\n", "{at}");
        }
    }

    #[test]
    fn what_acts_on_a_terminal_is_taken_out_however_it_is_cut() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b \u{1b}(Bc\u{8}\u{7}\0 \u{9b}2Jd \u{1b}Pq\u{1b}\\e\n".as_bytes();
        for at in 0..text.len() {
            assert_eq!(clean(&[&text[..at], &text[at..]]), "red ab c d e\n", "{at}");
        }
    }

    #[test]
    fn an_unfinished_sequence_ends_with_its_line() {
        assert_eq!(clean(&[b"\x1b]swallowed\nkept\n\x1b[\nkept"]), "\nkept\n\nkept");
    }
}
