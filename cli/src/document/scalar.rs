//! What an unquoted scalar means.
//!
//! `kubectl` reads YAML 1.1 in part (`yes` is true, `010` is 8), most other tools read YAML 1.2 (`yes` is a text, `010`
//! is 10). A manifest whose meaning depends on the reader is not taken: it is asked to be quoted or spelled out.

use serde_json::Number;

use super::Value;

/// Spellings that only YAML 1.1 takes for a boolean.
const OLD_BOOLEANS: [&str; 16] =
    ["y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"];

/// The meaning of an unquoted scalar.
pub(super) fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    if OLD_BOOLEANS.contains(&text) {
        return unclear(
            text,
            format!("unquoted {text} is a boolean to kubectl and a text to others; write \"{text}\", true or false"),
        );
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.')) {
        return Value::Text(text.to_owned());
    }
    number(text)
}

/// The meaning of a text that starts as a number does.
fn number(text: &str) -> Value {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return unclear(
            text,
            format!("{text} is not a number that JSON can hold; write a finite number, or quote a text"),
        );
    }
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits(unsigned) {
        if unsigned.len() > 1 && unsigned.starts_with('0') {
            return unclear(
                text,
                format!("{text} is octal to kubectl and decimal to others; quote a text, or leave out the leading 0"),
            );
        }
        let digits = text.strip_prefix('+').unwrap_or(text);
        return match (digits.parse::<i64>(), digits.parse::<u64>()) {
            (Ok(value), _) => Value::Number(value.into()),
            (_, Ok(value)) => Value::Number(value.into()),
            _ => unclear(text, "this number does not fit into 64 bits; quote it if it is a text".into()),
        };
    }
    if has_other_base(unsigned)
        || (unsigned.contains('_') && unsigned.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_'))
    {
        return unclear(
            text,
            format!(
                "{text} is a number to some readers of YAML and a text to others; quote it, or write it in decimal digits"
            ),
        );
    }
    if is_float(unsigned)
        && let Some(number) = text.strip_prefix('+').unwrap_or(text).parse().ok().and_then(Number::from_f64)
    {
        return Value::Number(number);
    }
    Value::Text(text.to_owned())
}

/// `0x1F`, `0b11`, `0o17`.
fn has_other_base(unsigned: &str) -> bool {
    let base = |prefix: [&str; 2], radix: u32| {
        prefix
            .iter()
            .find_map(|prefix| unsigned.strip_prefix(prefix))
            .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)))
    };
    base(["0x", "0X"], 16) || base(["0b", "0B"], 2) || base(["0o", "0O"], 8)
}

/// `1.5`, `.5`, `1.`, `1e3`, `1.5e-3`: the floats of YAML's core schema.
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

fn unclear(text: &str, advice: String) -> Value {
    Value::Unclear { text: text.to_owned(), advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        match resolve(text) {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "text",
            Value::Unclear { .. } => "unclear",
            Value::List(_) | Value::Map(_) => unreachable!("a scalar"),
        }
    }

    #[test]
    fn every_spelling_has_one_meaning_or_is_called_unclear() {
        let table = [
            ("null", ["", "~", "null", "Null", "NULL"].as_slice()),
            ("boolean", &["true", "True", "TRUE", "false", "False", "FALSE"]),
            ("number", &["0", "-1", "+7", "42", "18446744073709551615", "1.5", ".5", "1.", "1e3", "-1.5e-3", "1.10"]),
            (
                "text",
                &[
                    "truE",
                    "nuLL",
                    "-",
                    ".",
                    "1.2.3",
                    "10s",
                    "1Gi",
                    "2024-01-01",
                    "1:30",
                    "0xzz",
                    "1e",
                    "e3",
                    "+",
                    "a_1",
                ],
            ),
            (
                "unclear",
                &[
                    "yes", "NO", "on", "Off", "y", "N", "010", "-07", "0x1F", "0b11", "0o17", "1_000", ".inf", "-.Inf",
                    ".nan",
                ],
            ),
            ("unclear", &["99999999999999999999"]),
        ];
        for (wanted, texts) in table {
            for text in texts {
                assert_eq!(kind(text), wanted, "{text:?}");
            }
        }
    }

    #[test]
    fn advice_names_what_was_written() {
        assert_eq!(
            resolve("yes"),
            unclear(
                "yes",
                "unquoted yes is a boolean to kubectl and a text to others; write \"yes\", true or false".into()
            )
        );
        assert_eq!(resolve("-9223372036854775808"), Value::Number(i64::MIN.into()));
    }
}
