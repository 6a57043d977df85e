//! The text that was sent: its fence, its options line, its places.

use serde::Deserialize;

/// A script's own wishes, from its first line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) max_output_tokens: Option<u64>,
    pub(super) timeout_ms: Option<u64>,
}

/// A script as it is run. Its lines are the lines of the text that was sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) script: String,
    pub(super) options: Options,
}

const MARK: &str = "@options";
const EXAMPLE: &str = "// @options: {\"max_output_tokens\": 2000, \"timeout_ms\": 30000}";

/// Takes the fence off and reads the options. The error says what to write instead.
pub(super) fn parse(text: &str) -> Result<Source, String> {
    if text.len() > anchorhold_plan::SCRIPT_MAX_BYTES {
        return Err(format!(
            "the script has {} bytes; at most {} are run",
            text.len(),
            anchorhold_plan::SCRIPT_MAX_BYTES
        ));
    }
    if text.contains('\0') {
        return Err("the script contains a NUL character; write it as \\0 inside a string".into());
    }
    let script = without_fence(text);
    if script.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return Err("the script is empty; write JavaScript, for example: return await tools.ls({})".into());
    }
    let options = options(&script)?;
    Ok(Source { script, options })
}

/// The text between a Markdown fence around the whole of it, with an empty line where the fence began.
fn without_fence(text: &str) -> String {
    let plain = || text.trim_start_matches('\u{feff}').to_owned();
    let body = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let skipped = text.get(..text.len() - body.len()).unwrap_or_default();
    let Some((opening, rest)) = body.split_once('\n') else { return plain() };
    let fence_length = opening.bytes().take_while(|byte| *byte == b'`').count();
    let language = opening.get(fence_length..).unwrap_or_default().trim();
    let fence = "`".repeat(fence_length);
    if fence_length < 3 || language.contains(|c: char| c == '`' || c.is_whitespace()) {
        return plain();
    }
    let Some(inner) = rest.trim_end().strip_suffix(fence.as_str()) else { return plain() };
    if !(inner.is_empty() || inner.ends_with('\n')) {
        return plain();
    }
    let lines_before = skipped.matches('\n').count() + 1;
    format!("{}{inner}", "\n".repeat(lines_before))
}

/// The options of the first line that is not empty because of a fence.
fn options(script: &str) -> Result<Options, String> {
    let first = script.trim_start_matches('\n').lines().next().unwrap_or_default();
    let first = first.trim_start_matches('\u{feff}').trim();
    let Some(json) = options_json(first) else {
        if is_near_miss(first) {
            return Err(format!("the first line looks like options but is not; write it like this: {EXAMPLE}"));
        }
        return Ok(Options::default());
    };
    let read: Wanted = serde_json::from_str(json).map_err(|error| {
        format!("the options on the first line cannot be used: {}; example: {EXAMPLE}", reason(&error))
    })?;
    if read.timeout_ms == Some(0) {
        return Err(format!(
            "the options on the first line cannot be used: timeout_ms is at least 1; example: {EXAMPLE}"
        ));
    }
    Ok(Options { max_output_tokens: read.max_output_tokens, timeout_ms: read.timeout_ms })
}

/// Keys that are unknown, occur twice or have another type are errors of the parser.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default, deserialize_with = "integer")]
    max_output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "integer")]
    timeout_ms: Option<u64>,
}

/// `null` is no integer.
fn integer<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    u64::deserialize(deserializer).map(Some)
}

fn options_json(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("//")?.trim_start().strip_prefix(MARK)?.trim_start();
    rest.strip_prefix(':').map(str::trim)
}

fn is_near_miss(line: &str) -> bool {
    let Some(comment) = line.strip_prefix("//").or_else(|| line.strip_prefix("/*")) else { return false };
    let comment = comment.trim_start_matches(['/', '*', ' ', '\t']).to_ascii_lowercase();
    let word = comment.strip_prefix('@').unwrap_or(&comment);
    let named = word.strip_prefix("options").or_else(|| word.strip_prefix("option"));
    named.is_some_and(|rest| rest.trim_start().starts_with([':', '{', '=']))
}

/// The parser's sentence without its position, which counts from the brace.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

/// One line of the text, for an error that points at it; the first line is 1.
pub(super) fn line(script: &str, number: u32) -> Option<&str> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    script.lines().nth(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(text: &str) -> (Option<u64>, Option<u64>) {
        let options = parse(text).unwrap().options;
        (options.max_output_tokens, options.timeout_ms)
    }

    #[test]
    fn fault_11_options_are_read_with_free_spaces_and_after_a_byte_order_mark() {
        for line in [
            "// @options: {\"max_output_tokens\": 5, \"timeout_ms\": 6}",
            "//@options:{\"timeout_ms\":6,\"max_output_tokens\":5}",
            "\u{feff}//   @options  :  {\"max_output_tokens\": 5, \"timeout_ms\": 6}  ",
        ] {
            assert_eq!(wanted(&format!("{line}\nreturn 1")), (Some(5), Some(6)), "{line}");
        }
    }

    #[test]
    fn fault_11_a_near_miss_is_an_error_and_a_line_further_down_is_text() {
        for line in [
            "// @options {\"timeout_ms\": 1}",
            "/* @options: {} */",
            "// options: {}",
            "// @option: {}",
            "// @Options: {}",
        ] {
            assert!(parse(&format!("{line}\nreturn 1")).unwrap_err().contains("write it like this"), "{line}");
        }
        assert_eq!(wanted("const s = `\n// @options: {\"nope\": 1}\n`; return s"), (None, None));
        assert_eq!(wanted("// the options of this script are few\nreturn 1"), (None, None));
    }

    #[test]
    fn fault_10_values_that_cannot_be_honoured_are_named() {
        for (json, problem) in [
            ("{\"timeout_ms\": -1}", "invalid value: integer `-1`, expected u64"),
            ("{\"timeout_ms\": 0}", "timeout_ms is at least 1"),
            ("{\"timeout_ms\": NaN}", "expected value"),
            ("{\"timeout_ms\": 1.5}", "invalid type: floating point `1.5`, expected u64"),
            ("{\"max_output_tokens\": \"5\"}", "invalid type: string \"5\", expected u64"),
            ("{\"max\": 5}", "unknown field `max`, expected `max_output_tokens` or `timeout_ms`"),
            ("{\"timeout_ms\": 5, \"timeout_ms\": 6}", "duplicate field `timeout_ms`"),
        ] {
            let error = parse(&format!("// @options: {json}\nreturn 1")).unwrap_err();
            assert_eq!(error, format!("the options on the first line cannot be used: {problem}; example: {EXAMPLE}"));
        }
    }

    #[test]
    fn fault_13_a_fence_is_taken_off_and_lines_stay() {
        assert_eq!(parse("```js\nreturn 1\n```").unwrap().script, "\nreturn 1\n");
        assert_eq!(parse("\n```javascript\nreturn 1\n```\n").unwrap().script, "\n\nreturn 1\n");
        assert_eq!(parse("````\nreturn `x`\n````").unwrap().script, "\nreturn `x`\n");
        assert_eq!(wanted("```js\n// @options: {\"timeout_ms\": 7}\nreturn 1\n```").1, Some(7));
        assert_eq!(parse("return `\n```\n`").unwrap().script, "return `\n```\n`");
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        for (text, problem) in [
            ("", "the script is empty"),
            (" \n\t", "the script is empty"),
            ("```js\n```", "the script is empty"),
            ("return '\0'", "the script contains a NUL character"),
        ] {
            assert!(parse(text).unwrap_err().starts_with(problem), "{text:?}");
        }
        assert!(parse(&"x".repeat(300_000)).unwrap_err().starts_with("the script has 300000 bytes"));
    }
}
