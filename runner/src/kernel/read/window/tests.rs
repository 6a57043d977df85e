use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn request(start: Start, lines: u64, bytes: usize) -> Request {
    Request { start, lines, column: 1, bytes }
}

fn window(content: &[u8], request: Request) -> Result<Window, String> {
    read(&mut Cursor::new(content), &request, &Cancel::default()).map_err(|failure| format!("{failure:?}"))
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what a read returns")]
fn shown(text: &str, first: u64, last: u64, end: End, total: Option<u64>) -> Result<Window, String> {
    Ok(Window { text: text.into(), first, last, end, total })
}

#[test]
fn a_file_has_as_many_lines_as_a_person_counts() {
    let all = |content: &[u8]| window(content, request(Start::Line(1), 100, 1000));
    assert_eq!(all(b"a\nb\nc\n"), shown("a\nb\nc\n", 1, 3, End::File, Some(3)));
    assert_eq!(all(b"a\nb\nc"), shown("a\nb\nc", 1, 3, End::File, Some(3)));
    assert_eq!(all(b"\n"), shown("\n", 1, 1, End::File, Some(1)));
    assert_eq!(all(b""), shown("", 0, 0, End::File, Some(0)));
}

#[test]
fn a_window_says_where_it_ends_and_how_many_lines_there_are() {
    let content = b"1\n2\n3\n4\n5\n";
    assert_eq!(window(content, request(Start::Line(2), 2, 1000)), shown("2\n3\n", 2, 3, End::Lines, Some(5)));
    assert_eq!(window(content, request(Start::Line(4), 2, 1000)), shown("4\n5\n", 4, 5, End::File, Some(5)));
    assert_eq!(window(content, request(Start::FromEnd(2), 9, 1000)), shown("4\n5\n", 4, 5, End::File, Some(5)));
    assert_eq!(window(content, request(Start::FromEnd(99), 1, 1000)), shown("1\n", 1, 1, End::Lines, Some(5)));
    assert_eq!(window(content, request(Start::Line(6), 1, 1000)), Err("Beyond { lines: 5 }".into()));
    assert_eq!(window(content, request(Start::Line(u64::MAX), 1, 1000)), Err("Beyond { lines: 5 }".into()));
    assert_eq!(window(b"", request(Start::Line(2), 1, 1000)), Err("Beyond { lines: 0 }".into()));
}

#[test]
fn a_line_that_does_not_fit_is_left_to_the_next_window() {
    assert_eq!(
        window(b"ab\ncdef\ngh\n", request(Start::Line(1), 9, 6)),
        shown("ab\n", 1, 1, End::Bytes { next_line: 2 }, Some(3))
    );
}

#[test]
fn a_line_longer_than_the_window_is_read_in_pieces_that_split_no_character() {
    let content = "aéé日本\nnext\n".as_bytes();
    let mut column = 1;
    let mut pieces = Vec::new();
    loop {
        let request = Request { start: Start::Line(1), lines: 1, column, bytes: 4 };
        let window = window(content, request).unwrap();
        pieces.push(window.text);
        match window.end {
            End::InLine { next_column } => column = next_column,
            _ => break,
        }
    }
    assert_eq!(pieces, ["aé", "é", "日", "本\n"]);
}

#[test]
fn a_byte_order_mark_is_left_out_and_counts_in_columns() {
    let content = "\u{feff}abcdef\n".as_bytes();
    assert_eq!(
        window(content, request(Start::Line(1), 1, 4)),
        shown("abcd", 1, 1, End::InLine { next_column: 8 }, None)
    );
    let rest = Request { start: Start::Line(1), lines: 1, column: 8, bytes: 4 };
    assert_eq!(window(content, rest), shown("ef\n", 1, 1, End::File, Some(1)));
}

#[test]
fn binary_content_is_named_wherever_the_window_meets_it() {
    assert_eq!(
        window(b"\x89PNG\r\n\x1a\n\0", request(Start::Line(1), 1, 99)),
        Err("Binary { at: 9, kind: \"PNG image\" }".into())
    );
    let mut late = vec![b'a'; 9000];
    late.extend(b"\n\0\n");
    assert_eq!(window(&late, request(Start::Line(2), 1, 99)), Err("Binary { at: 9002, kind: \"data\" }".into()));
}

#[test]
fn a_column_beyond_the_line_is_named() {
    let beyond = Request { start: Start::Line(1), lines: 1, column: 4, bytes: 9 };
    assert_eq!(window(b"ab\ncd\n", beyond), Err("BeyondLine { bytes: 2 }".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn windows_put_together_give_the_file(
        content in "([a-zé日\r]{0,6}\n?){0,30}",
        lines in 1_u64..6,
        bytes in 4_usize..20,
    ) {
        let mut whole = String::new();
        let (mut line, mut column) = (1, 1);
        loop {
            let request = Request { start: Start::Line(line), lines, column, bytes };
            let window = read(&mut Cursor::new(content.as_bytes()), &request, &Cancel::default()).unwrap();
            prop_assert!(window.text.len() <= bytes);
            whole.push_str(&window.text);
            (line, column) = match window.end {
                End::File => break,
                End::Lines => (window.last + 1, 1),
                End::Bytes { next_line } => (next_line, 1),
                End::InLine { next_column } => (line, next_column),
            };
        }
        prop_assert_eq!(whole, content);
    }
}
