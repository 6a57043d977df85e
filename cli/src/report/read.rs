//! The lines of a record, and what is missing of it.

use std::io::{self, BufRead, Read};

use anchorhold_runner::record::{Event, LINE_MAX_BYTES, Line};

/// Bytes of a record that are read. A run makes some hundred bytes a call.
const RECORD_MAX_BYTES: u64 = 256 << 20;
/// Lines that are kept: more make no page that a browser shows in comfort.
const LINES_MAX: usize = 20_000;

/// A record, as far as it can be read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Run {
    /// Its lines, in the order they were written.
    pub(super) lines: Vec<Line>,
    /// Lines that are none of a record: other output of the pod, events of a newer runner.
    pub(super) foreign: u64,
    /// Lines of the record that are not there, by their numbers.
    pub(super) missing: u64,
    /// Lines beyond what is kept.
    pub(super) beyond: u64,
}

impl Run {
    /// Reads what a pod logged, or what `run --record` kept.
    pub(super) fn read(input: impl BufRead) -> io::Result<Self> {
        let mut run = Self::default();
        let mut input = input.take(RECORD_MAX_BYTES);
        let mut bytes = Vec::new();
        let mut last = 0;
        loop {
            bytes.clear();
            // A record's line is no longer; what is longer is no line of one and is taken in portions.
            if input.by_ref().take(LINE_MAX_BYTES as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
                return Ok(run);
            }
            let Ok(line) = serde_json::from_slice::<Line>(&bytes) else {
                run.foreign += u64::from(!bytes.trim_ascii().is_empty());
                continue;
            };
            run.missing += line.seq.saturating_sub(last + 1);
            last = line.seq;
            if run.lines.len() < LINES_MAX || matches!(line.event, Event::RunEnded(_)) {
                run.lines.push(line);
            } else {
                run.beyond += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64) -> String {
        format!(r#"{{"seq":{seq},"time":"2026-01-01T00:00:00Z","type":"record.lost","events":1}}"#)
    }

    fn read(text: &str) -> (usize, u64, u64) {
        let run = Run::read(text.as_bytes()).unwrap();
        (run.lines.len(), run.foreign, run.missing)
    }

    #[test]
    fn what_is_no_line_of_a_record_is_counted_and_passed_over() {
        let newer = r#"{"seq":2,"time":"2026-01-01T00:00:00Z","type":"of.later","x":1}"#;
        assert_eq!(read(&format!("{}\nwarning: hello\n\n{newer}\n{}\n", line(1), line(3))), (2, 2, 1));
        assert_eq!(read(""), (0, 0, 0));
        assert_eq!(read(&"x".repeat(300_000)), (0, 5, 0));
    }

    #[test]
    fn a_gap_in_the_numbers_is_a_loss() {
        assert_eq!(read(&format!("{}\n{}\n{}", line(1), line(2), line(9))), (3, 0, 6));
    }
}
