//! Takes a window of lines out of a stream of bytes. Memory is bounded by the window, whatever the file holds.

use std::io::{self, Read, Seek, SeekFrom};

use memchr::memchr;

use crate::kernel::{Cancel, binary};
use crate::tool::ToolError;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// A NUL within this many bytes makes a file binary, as git sees it.
const SNIFF: usize = 8000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// As far as lines are counted on the way to a window: about a quarter of a second of work.
const SEEK_BYTES: u64 = 2 << 30;
/// As far as lines are counted behind a window, only to say how many there are.
const COUNT_BYTES: u64 = 64 << 20;

/// Where the window begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At this line, counted from 1.
    Line(u64),
    /// This many lines before the end, or at the first line if there are fewer.
    FromEnd(u64),
}

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) start: Start,
    /// Lines at most; at least 1.
    pub(super) lines: u64,
    /// The byte of the first line to begin at, counted from 1.
    pub(super) column: u64,
    /// Bytes of text at most; at least 4, so that every character fits.
    pub(super) bytes: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The lines with their endings, as they are; bytes that are no UTF-8 are replaced, a byte order mark is left out.
    pub(super) text: String,
    /// The first line, counted from 1; 0 for an empty file.
    pub(super) first: u64,
    /// The last line.
    pub(super) last: u64,
    /// Why it ends there.
    pub(super) end: End,
    /// The lines of the file, where they were counted.
    pub(super) total: Option<u64>,
}

/// Why a window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The file ends.
    File,
    /// As many lines as were wanted.
    Lines,
    /// No further whole line fits.
    Bytes {
        /// The line to continue at.
        next_line: u64,
    },
    /// Not even the first line fits.
    InLine {
        /// The byte of the line to continue at.
        next_column: u64,
    },
}

/// Why there is no window.
#[derive(Debug)]
pub(super) enum Failure {
    /// The call was ended.
    Ended(ToolError),
    /// Reading failed.
    Io(io::Error),
    /// There is a NUL in what would be shown, or near the start of the file.
    Binary { at: u64, kind: &'static str },
    /// The file has fewer lines.
    Beyond { lines: u64 },
    /// The line was not found within the bytes that are counted.
    TooFar { bytes: u64 },
    /// The line has fewer bytes.
    BeyondLine { bytes: u64 },
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a window.
pub(super) fn read<F: Read + Seek>(file: &mut F, request: &Request, cancel: &Cancel) -> Result<Window, Failure> {
    let mut head = Vec::new();
    file.by_ref().take(SNIFF as u64).read_to_end(&mut head)?;
    if let Some(at) = memchr(0, &head) {
        return Err(Failure::Binary { at: at as u64 + 1, kind: binary::kind(&head) });
    }
    let mut lines = Lines { file, buffer: Vec::new(), at: 0, offset: 0, cancel };
    lines.rewind()?;

    let mut first = match request.start {
        Start::Line(line) => line,
        Start::FromEnd(back) => {
            let total = lines.count(SEEK_BYTES)?.ok_or(Failure::TooFar { bytes: SEEK_BYTES })?;
            lines.rewind()?;
            total.saturating_sub(back) + 1
        }
    };
    if head.is_empty() {
        return match request.start {
            Start::Line(line) if line > 1 => Err(Failure::Beyond { lines: 0 }),
            _ => Ok(Window { text: String::new(), first: 0, last: 0, end: End::File, total: Some(0) }),
        };
    }
    first = first.max(1);
    let skipped = lines.skip(first - 1)?;
    if skipped < first - 1 || lines.at_end()? {
        return if lines.offset >= SEEK_BYTES && !lines.at_end()? {
            Err(Failure::TooFar { bytes: SEEK_BYTES })
        } else {
            Err(Failure::Beyond { lines: skipped })
        };
    }
    let begin = lines.offset;
    lines.skip_column(request.column)?;
    if first == 1 && request.column == 1 && head.starts_with(BYTE_ORDER_MARK) && !lines.at_end()? {
        lines.consume(BYTE_ORDER_MARK.len());
    }
    let column = lines.offset - begin + 1;
    collect(&mut lines, request, first, column)
}

fn collect<F: Read + Seek>(
    lines: &mut Lines<'_, F>,
    request: &Request,
    first: u64,
    column: u64,
) -> Result<Window, Failure> {
    let begin = lines.offset;
    let mut bytes: Vec<u8> = Vec::new();
    let mut whole = 0; // bytes up to the end of the last whole line
    let mut count = 0;
    let mut end = End::File;
    while count < request.lines {
        let Some(chunk) = lines.chunk()? else { break };
        let room = request.bytes.saturating_sub(bytes.len());
        let (line, complete) = match memchr(b'\n', chunk) {
            Some(at) => (chunk.get(..=at).unwrap_or(chunk), true),
            None => (chunk, false),
        };
        if line.len() > room {
            if count > 0 {
                bytes.truncate(whole);
                end = End::Bytes { next_line: first + count };
            } else {
                bytes.extend_from_slice(line.get(..room).unwrap_or(line));
                bytes.truncate(character_boundary(&bytes));
                end = End::InLine { next_column: column + bytes.len() as u64 };
            }
            break;
        }
        bytes.extend_from_slice(line);
        let taken = line.len();
        lines.consume(taken);
        if complete {
            count += 1;
            whole = bytes.len();
        }
    }
    if let Some(at) = memchr(0, &bytes) {
        return Err(Failure::Binary { at: begin + at as u64 + 1, kind: "data" });
    }
    let unfinished = u64::from(bytes.len() > whole);
    let last = first + (count + unfinished).max(1) - 1;
    if end == End::File && !lines.at_end()? {
        end = End::Lines;
    }
    let total = match end {
        End::File => Some(last),
        End::Lines => lines.count(COUNT_BYTES)?.map(|rest| last + rest),
        // Of the line that did not fit a part may be behind us; the rest of it counts as that line.
        End::Bytes { next_line } => lines.count(COUNT_BYTES)?.map(|rest| next_line - 1 + rest),
        End::InLine { .. } => None,
    };
    Ok(Window { text: String::from_utf8_lossy(&bytes).into_owned(), first, last, end, total })
}

/// A stream of bytes, read in chunks and counted in lines.
struct Lines<'a, F> {
    file: &'a mut F,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are behind us.
    at: usize,
    /// Bytes of the file that are behind us.
    offset: u64,
    cancel: &'a Cancel,
}

impl<F: Read + Seek> Lines<'_, F> {
    fn rewind(&mut self) -> Result<(), Failure> {
        self.file.seek(SeekFrom::Start(0))?;
        self.buffer.clear();
        self.at = 0;
        self.offset = 0;
        Ok(())
    }

    /// What is ahead, or nothing at the end of the file.
    fn chunk(&mut self) -> Result<Option<&[u8]>, Failure> {
        if self.at >= self.buffer.len() {
            self.cancel.check().map_err(Failure::Ended)?;
            self.buffer.resize(CHUNK, 0);
            let read = loop {
                match self.file.read(&mut self.buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => break other?,
                }
            };
            self.buffer.truncate(read);
            self.at = 0;
        }
        Ok(self.buffer.get(self.at..).filter(|rest| !rest.is_empty()))
    }

    fn at_end(&mut self) -> Result<bool, Failure> {
        Ok(self.chunk()?.is_none())
    }

    /// Puts bytes of the last chunk behind us.
    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
        self.offset += bytes as u64;
    }

    /// Skips lines; returns how many there were, an unfinished last one included.
    fn skip(&mut self, lines: u64) -> Result<u64, Failure> {
        let mut skipped = 0;
        let mut inside = false;
        while skipped < lines && self.offset < SEEK_BYTES {
            let Some(chunk) = self.chunk()? else { break };
            let mut taken = 0;
            while skipped < lines
                && let Some(at) = chunk.get(taken..).and_then(|rest| memchr(b'\n', rest))
            {
                taken += at + 1;
                skipped += 1;
            }
            if skipped < lines {
                taken = chunk.len();
                inside = chunk.last() != Some(&b'\n');
            } else {
                inside = false;
            }
            self.consume(taken);
        }
        Ok(skipped + u64::from(inside))
    }

    /// Counts the lines ahead, an unfinished last one included, unless there are more bytes than `most`.
    fn count(&mut self, most: u64) -> Result<Option<u64>, Failure> {
        let limit = self.offset.saturating_add(most);
        let mut lines = 0;
        let mut inside = false;
        while let Some(chunk) = self.chunk()? {
            lines += memchr::memchr_iter(b'\n', chunk).count() as u64;
            inside = chunk.last() != Some(&b'\n');
            let taken = chunk.len();
            self.consume(taken);
            if self.offset > limit {
                return Ok(None);
            }
        }
        Ok(Some(lines + u64::from(inside)))
    }

    /// Goes to a byte of the line ahead. A byte in the middle of a character stands for the next character.
    fn skip_column(&mut self, column: u64) -> Result<(), Failure> {
        let mut left = column - 1;
        while left > 0 {
            let behind = column - 1 - left;
            let Some(chunk) = self.chunk()? else { return Err(Failure::BeyondLine { bytes: behind }) };
            let reach = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            if let Some(at) = memchr(b'\n', chunk.get(..reach).unwrap_or(chunk)) {
                return Err(Failure::BeyondLine { bytes: behind + at as u64 });
            }
            self.consume(reach);
            left -= reach as u64;
        }
        if column > 1 {
            for _ in 0..3 {
                let Some(chunk) = self.chunk()? else { break };
                if chunk.first().is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000) {
                    break;
                }
                self.consume(1);
            }
        }
        Ok(())
    }
}

/// The length without a character that is cut off at the end.
fn character_boundary(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    let tail = bytes.get(start..).unwrap_or_default();
    let Some(lead) = tail.iter().rposition(|byte| byte & 0b1100_0000 != 0b1000_0000) else { return bytes.len() };
    let width = match tail.get(lead) {
        Some(byte) if *byte >= 0b1111_0000 => 4,
        Some(byte) if *byte >= 0b1110_0000 => 3,
        Some(byte) if *byte >= 0b1100_0000 => 2,
        _ => 1,
    };
    if lead + width > tail.len() { start + lead } else { bytes.len() }
}

#[cfg(test)]
mod tests;
