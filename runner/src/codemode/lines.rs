//! Lines of bounded length from a pipe.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes asked for at a time.
const CHUNK: usize = 256 << 10;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Text(Vec<u8>),
    /// The pipe is closed. A last line without an end is dropped: it was cut off.
    End,
    /// A line has become longer than it may.
    TooLong,
}

/// Reads lines. Dropping the future of [`Lines::next`] loses nothing.
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where the next line begins, and how far no end of a line was found.
    begin: usize,
    searched: usize,
    longest: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, buffer: Vec::new(), begin: 0, searched: 0, longest }
    }

    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(found) = memchr::memchr(b'\n', unsearched) {
                let end = self.searched + found;
                let line = self.buffer.get(self.begin..end).unwrap_or_default().to_vec();
                self.begin = end + 1;
                self.searched = self.begin;
                return Ok(Line::Text(line));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() - self.begin > self.longest {
                return Ok(Line::TooLong);
            }
            if self.begin > 0 {
                self.buffer.drain(..self.begin);
                self.searched -= self.begin;
                self.begin = 0;
            }
            self.buffer.reserve(CHUNK);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(Line::End);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_and_one_that_is_too_long_is_said() {
        let mut lines = Lines::new(&b"one\n\ntwo\nlast"[..], 10);
        for expected in [Line::Text(b"one".into()), Line::Text(Vec::new()), Line::Text(b"two".into()), Line::End] {
            assert_eq!(lines.next().await.unwrap(), expected);
        }
        let long = vec![b'x'; 100_000];
        let mut lines = Lines::new(&long[..], 1000);
        assert_eq!(lines.next().await.unwrap(), Line::TooLong);
    }
}
