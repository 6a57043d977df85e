//! Makes an event fit one line. Pure.

use super::event::Line;

/// Bytes of the longest line, its newline included. Log collectors split longer ones.
pub const LINE_MAX_BYTES: usize = 64 << 10;

/// Entries a list keeps while there are texts to cut.
const LEAST_LISTED: usize = 100;

/// The line with its newline: lists are shortened and the longest texts cut until it fits.
pub(super) fn write(mut line: Line) -> String {
    loop {
        // Nothing in an event fails to be written as JSON: no map has a key that is not a string.
        let mut json = serde_json::to_string(&line).unwrap_or_default();
        let excess = (json.len() + 1).saturating_sub(LINE_MAX_BYTES);
        if excess == 0 {
            json.push('\n');
            return json;
        }
        if line.event.shorten_list(LEAST_LISTED) {
            continue;
        }
        if let Some(text) = line.event.texts().into_iter().max_by_key(|text| escaped(text))
            && !text.is_empty()
        {
            cut(text, excess);
        } else if !line.event.shorten_list(0) {
            // Cannot be: without its texts and lists every event is shorter than a line.
            return "\n".to_owned();
        }
    }
}

/// Cuts a text so that its JSON is shorter by at least `excess` bytes, or empty.
fn cut(text: &mut String, excess: usize) {
    let mut left = escaped(text).saturating_sub(excess);
    let end = text.char_indices().find(|(_, character)| {
        let size = escaped_character(*character);
        let fits = size <= left;
        left = left.saturating_sub(size);
        !fits
    });
    text.truncate(end.map_or(text.len(), |(at, _)| at));
}

/// Bytes a text has in JSON, as `serde_json` writes it, without the quotes.
fn escaped(text: &str) -> usize {
    text.chars().map(escaped_character).sum()
}

const fn escaped_character(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use anchorhold_plan::{OutputFile, RunResult};
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::super::event::{CallEnded, Content, Event, RunEnded};
    use super::*;

    fn call(arguments: &str, result: &str) -> Line {
        Line {
            seq: 7,
            time: Timestamp::UNIX_EPOCH,
            event: Event::Call(CallEnded {
                call: 3,
                script: Some(1),
                operation: "execute_tool".into(),
                tool: "read".into(),
                duration_ms: 2,
                error: None,
                message: String::new(),
                arguments: Content::of(arguments, true),
                result: Some(Content::of(result, true)),
            }),
        }
    }

    #[test]
    fn a_call_is_one_line_with_the_names_of_opentelemetry() {
        assert_eq!(
            write(call("{}", "a")),
            concat!(
                r#"{"seq":7,"time":"1970-01-01T00:00:00Z","type":"call","gen_ai.tool.call.id":3,"script":1,"#,
                r#""gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"read","duration_ms":2,"#,
                r#""arguments":{"bytes":2,"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","text":"{}"},"#,
                r#""result":{"bytes":1,"sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","text":"a"}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_result_with_many_files_and_a_long_text_fits() {
        let file = OutputFile { name: "x".repeat(200), size_bytes: 1, sha256: "0".repeat(64) };
        let result = RunResult {
            text: "\u{1}".repeat(100_000),
            text_bytes: 100_000,
            files: vec![file; 1000],
            files_total: 1000,
            ..RunResult::default()
        };
        let event = Event::RunEnded(RunEnded { duration_ms: 1, result });
        let text = write(Line { seq: 1, time: Timestamp::UNIX_EPOCH, event });
        assert!(text.len() <= LINE_MAX_BYTES, "{}", text.len());
        let Event::RunEnded(ended) = serde_json::from_str::<Line>(&text).unwrap().event else { panic!("{text}") };
        assert_eq!((ended.result.files.len(), ended.result.files_total, ended.result.text_bytes), (62, 1000, 100_000));
        assert!(ended.result.is_cut());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_line_fits_and_is_read_back(
            arguments in "\\PC{0,2000}",
            copies in 1_usize..60,
            result in "[\\x00-\\x1fé\"日]{0,9000}",
        ) {
            let line = call(&arguments.repeat(copies), &result.repeat(copies / 10));
            let text = write(line.clone());
            prop_assert!(text.len() <= LINE_MAX_BYTES);
            prop_assert_eq!(text.matches('\n').count(), 1);
            let read: Line = serde_json::from_str(&text).unwrap();
            let (Event::Call(read), Event::Call(written)) = (read.event, line.event) else { panic!("{text}") };
            prop_assert!(written.arguments.text.unwrap().starts_with(&read.arguments.text.unwrap()));
            prop_assert_eq!(read.result.unwrap().sha256, written.result.unwrap().sha256);
        }
    }
}
