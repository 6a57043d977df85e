//! Which headers a server may be given. CEL checks literals when they are written; these functions check the same, and
//! the resolved value of a Secret before a job starts.

use thiserror::Error;

/// The longest name of a header, bytes.
pub const HEADER_NAME_MAX: usize = 128;
/// The longest value of a header, bytes. Servers commonly refuse more than 8 KiB of headers in all.
pub const HEADER_VALUE_MAX: usize = 4096;

/// Names that are refused as they are, in lower case: they steer the connection, or a proxy writes them and servers
/// believe them.
pub(crate) const REFUSED_NAMES: [&str; 14] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "accept",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-real-ip",
];
/// Beginnings of names that are refused, in lower case.
pub(crate) const REFUSED_PREFIXES: [&str; 3] = ["mcp-", "proxy-", "x-forwarded-"];

/// Why a header is refused. The text names what to do and never shows a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderRefusal {
    /// The name is no token of RFC 9110.
    #[error("the name of a header consists of letters, digits and !#$%&'*+-.^_`|~, at most 128 of them: correct it")]
    NameSyntax,
    /// The name is one we or the transport write.
    #[error("this header steers the connection, names the client or belongs to MCP and cannot be set: remove it")]
    NameReserved,
    /// The value is empty or longer than [`HEADER_VALUE_MAX`].
    #[error("the value of a header has 1 to 4096 characters: correct it")]
    ValueLength,
    /// The value holds something other than printable ASCII.
    #[error(
        "the value of a header must be printable ASCII without line breaks and without spaces at its ends: remove the other characters (a Secret made from a file often ends in a line break)"
    )]
    ValueCharacters,
    /// The value reads as a command or a variable to programs that expand such things.
    #[error(
        "the value of a header must not start with ! and must not contain ${{…}} or $NAME: a program that expands them would see something else; write the value itself or take it from a Secret"
    )]
    ValueInterpretable,
}

/// Checks the name of a header.
pub fn check_header_name(name: &str) -> Result<(), HeaderRefusal> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > HEADER_NAME_MAX || !name.bytes().all(token) {
        return Err(HeaderRefusal::NameSyntax);
    }
    let lower = name.to_ascii_lowercase();
    // Some servers read `_` as `-`, so that X_Forwarded_For would arrive as X-Forwarded-For.
    let read = lower.replace('_', "-");
    if REFUSED_NAMES.contains(&read.as_str()) || REFUSED_PREFIXES.iter().any(|prefix| read.starts_with(prefix)) {
        return Err(HeaderRefusal::NameReserved);
    }
    Ok(())
}

/// Checks the value of a header, literal or resolved.
pub fn check_header_value(value: &str) -> Result<(), HeaderRefusal> {
    if value.is_empty() || value.len() > HEADER_VALUE_MAX {
        return Err(HeaderRefusal::ValueLength);
    }
    if !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) || value.trim_matches(' ') != value {
        return Err(HeaderRefusal::ValueCharacters);
    }
    if value.starts_with('!') || holds_variable(value) {
        return Err(HeaderRefusal::ValueInterpretable);
    }
    Ok(())
}

/// Whether a `$` is followed by what makes it a variable: `{`, a letter or `_`. A `$` before a digit or a space is text.
fn holds_variable(value: &str) -> bool {
    value.as_bytes().windows(2).any(|pair| match pair {
        [b'$', next] => *next == b'{' || *next == b'_' || next.is_ascii_alphabetic(),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_headers_pass() {
        for name in ["Authorization", "X-Team", "x-api-key", "Cookie", "X-Mcp", "Hosted", "Accept-Language"] {
            assert_eq!(check_header_name(name), Ok(()), "{name}");
        }
        for value in ["Bearer abc.def-_~+/=", "platform", "50$", "$5", "a!b", "100% {x}"] {
            assert_eq!(check_header_value(value), Ok(()), "{value}");
        }
    }

    #[test]
    fn names_that_steer_the_connection_or_that_a_proxy_writes_are_reserved() {
        for name in [
            "Host",
            "CONNECTION",
            "Keep-Alive",
            "TE",
            "Trailer",
            "Upgrade",
            "Transfer-Encoding",
            "Proxy-Authorization",
            "Content-Length",
            "Forwarded",
            "X-Forwarded-For",
            "X_Forwarded_For",
            "x-real-ip",
            "Mcp-Session-Id",
            "mcp-x",
        ] {
            assert_eq!(check_header_name(name), Err(HeaderRefusal::NameReserved), "{name}");
        }
    }

    #[test]
    fn names_that_are_no_tokens_are_refused() {
        for name in ["", "a b", "a:b", "a\r\nb", "ä", &"a".repeat(HEADER_NAME_MAX + 1)] {
            assert_eq!(check_header_name(name), Err(HeaderRefusal::NameSyntax), "{name:?}");
        }
    }

    #[test]
    fn values_a_program_could_expand_are_refused() {
        for value in ["!cat /etc/passwd", "${TOKEN}", "Bearer $TOKEN", "$_x", "a${b}c"] {
            assert_eq!(check_header_value(value), Err(HeaderRefusal::ValueInterpretable), "{value}");
        }
    }

    #[test]
    fn values_with_other_than_printable_ascii_are_refused() {
        for value in ["a\nb", "token\n", "a\0", "\u{7f}", "é", " a", "a ", "a\tb"] {
            assert_eq!(check_header_value(value), Err(HeaderRefusal::ValueCharacters), "{value:?}");
        }
        for value in [String::new(), "a".repeat(HEADER_VALUE_MAX + 1)] {
            assert_eq!(check_header_value(&value), Err(HeaderRefusal::ValueLength));
        }
    }
}
