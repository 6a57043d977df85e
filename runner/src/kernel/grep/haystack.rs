//! Searches one open file.

use std::fs::File;
use std::io::{self, Read};

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkError, SinkFinish, SinkMatch};

use super::Search;
use crate::kernel::Cancel;

/// Bytes of a line that an answer shows.
const SHOWN_BYTES: usize = 2000;

/// What one file gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Searched {
    /// The file as answers name it.
    pub(super) path: String,
    /// Matching lines with their context, in the order of the file.
    pub(super) lines: Vec<Line>,
    /// How many of them are matches.
    pub(super) matches: usize,
    /// Whether the file is binary; it then has no lines here.
    pub(super) binary: bool,
    /// Whether it has a line too long to be searched.
    pub(super) long_line: bool,
    /// Whether it could not be opened or read.
    pub(super) unreadable: bool,
}

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Counted from 1.
    pub(super) number: u64,
    /// The line without its ending, cut when it is very long.
    pub(super) text: String,
    /// How it got there.
    pub(super) role: Role,
}

/// How a line got into an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Match,
    Before,
    After,
}

impl Searched {
    /// Bytes it holds in memory.
    pub(super) fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.text.len() + 64).sum::<usize>() + self.path.len()
    }
}

/// Searches a file. A call that is ended in the middle of a large file makes it unreadable.
pub(super) fn search(search: &mut Search, file: File, path: String, cancel: &Cancel) -> io::Result<Searched> {
    let mut sink = Collect { searched: Searched { path, ..Searched::default() } };
    match search.searcher.search_reader(&search.matcher, Ending { file, cancel }, &mut sink) {
        Ok(()) => {}
        Err(Failure::Io(error)) => return Err(error),
        // The one failure that is no failure of reading: a line longer than the searcher's buffer may grow.
        Err(Failure::Message) => sink.searched.long_line = true,
    }
    let mut searched = sink.searched;
    if searched.binary {
        searched.lines.clear();
        searched.matches = 0;
    }
    Ok(searched)
}

/// A file that cannot be read any further once the call is ended.
struct Ending<'a> {
    file: File,
    cancel: &'a Cancel,
}

impl Read for Ending<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_set() { Err(io::ErrorKind::TimedOut.into()) } else { self.file.read(buffer) }
    }
}

enum Failure {
    Io(io::Error),
    Message,
}

impl SinkError for Failure {
    fn error_message<T: std::fmt::Display>(_message: T) -> Self {
        Self::Message
    }

    fn error_io(error: io::Error) -> Self {
        // The searcher reports its own limit as an input error of this kind; the kernel never does for a regular file.
        if error.kind() == io::ErrorKind::Other && error.raw_os_error().is_none() {
            Self::Message
        } else {
            Self::Io(error)
        }
    }
}

struct Collect {
    searched: Searched,
}

impl Collect {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], role: Role) {
        self.searched.lines.push(Line { number: number.unwrap_or(0), text: shown(bytes), role });
    }
}

impl Sink for Collect {
    type Error = Failure;

    fn matched(&mut self, _searcher: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, Failure> {
        self.searched.matches += 1;
        self.push(matched.line_number(), matched.bytes(), Role::Match);
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, Failure> {
        let role = match context.kind() {
            SinkContextKind::Before => Role::Before,
            SinkContextKind::After | SinkContextKind::Other => Role::After,
        };
        self.push(context.line_number(), context.bytes(), role);
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> Result<bool, Failure> {
        self.searched.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), Failure> {
        self.searched.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// The line as text: without its ending, cut at [`SHOWN_BYTES`] with a word on how long it is.
fn shown(bytes: &[u8]) -> String {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= SHOWN_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let kept = String::from_utf8_lossy(line.get(..SHOWN_BYTES).unwrap_or(line)).into_owned();
    let kept = kept.trim_end_matches('\u{fffd}');
    format!("{kept}… [line of {} bytes]", line.len())
}
