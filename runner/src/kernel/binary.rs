//! Names what a file that is no text most likely is. Pure.

/// What a binary file most likely is, by its first bytes; `data` when they tell nothing.
pub(super) fn kind(head: &[u8]) -> &'static str {
    const KINDS: [(&[u8], &str); 12] = [
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"\xff\xd8\xff", "JPEG image"),
        (b"GIF8", "GIF image"),
        (b"RIFF", "RIFF container"),
        (b"%PDF", "PDF document"),
        (b"\x7fELF", "ELF program"),
        (b"PK\x03\x04", "ZIP archive"),
        (b"\x1f\x8b", "gzip archive"),
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
        (b"SQLite format 3", "SQLite database"),
        (b"\x00asm", "WebAssembly module"),
    ];
    KINDS.iter().find(|(magic, _)| head.starts_with(magic)).map_or("data", |(_, kind)| kind)
}
