//! What may be registered. CEL checks most of it when it is written; this checks it all, in the spelling that counts.

use anchorhold_crds::{McpServerReason, McpServerSpec, check_header_name, check_header_value, check_url};
use url::Url;

use crate::error::chain;

/// Why a registration is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: McpServerReason,
    /// Begins with the field and ends with what to do. It never shows a header's value.
    pub(crate) message: String,
}

/// The URL, parsed; everything else of the spec is fine as it stands.
pub(crate) fn validate(spec: &McpServerSpec) -> Result<Url, Refusal> {
    if let Some(found) = spec.not_implemented() {
        return Err(refusal(McpServerReason::NotImplemented, format!("{} {}", found.field, found.message)));
    }
    let Some(url) = &spec.url else {
        return Err(refusal(McpServerReason::InvalidSpec, "spec.url is missing: an McpServer needs it".into()));
    };
    let url =
        check_url(url).map_err(|error| refusal(McpServerReason::InvalidUrl, format!("spec.url: {}", chain(&error))))?;
    for (index, header) in spec.headers.iter().enumerate() {
        let field = format!("spec.headers[{index}]");
        let name = header.name.escape_debug();
        let refused = |text: String| refusal(McpServerReason::HeaderRefused, text);
        check_header_name(&header.name).map_err(|error| refused(format!("{field}.name \"{name}\": {error}")))?;
        match (&header.value, &header.value_from) {
            (Some(value), None) => {
                check_header_value(value).map_err(|error| refused(format!("{field}.value of \"{name}\": {error}")))?;
            }
            (None, Some(_)) => {}
            (Some(_), Some(_)) | (None, None) => {
                return Err(refused(format!(
                    "{field} \"{name}\" needs exactly one of value and valueFrom: set one and remove the other"
                )));
            }
        }
        if spec.headers.iter().take(index).any(|other| other.name.eq_ignore_ascii_case(&header.name)) {
            return Err(refused(format!("{field}.name \"{name}\" occurs twice: keep one")));
        }
    }
    Ok(url)
}

fn refusal(reason: McpServerReason, message: String) -> Refusal {
    Refusal { reason, message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(spec: serde_json::Value) -> Result<Option<String>, (McpServerReason, String)> {
        match validate(&serde_json::from_value(spec).unwrap()) {
            Ok(url) => Ok(url.host_str().map(ToOwned::to_owned)),
            Err(Refusal { reason, message }) => Err((reason, message)),
        }
    }

    fn with_header(header: &serde_json::Value) -> (McpServerReason, String) {
        verdict(json!({"url": "https://tracker.example.com/mcp", "headers": [header]})).unwrap_err()
    }

    #[test]
    fn a_server_with_headers_from_literals_and_secrets_is_accepted() {
        let spec = json!({
            "url": "https://tracker.example.com/mcp",
            "headers": [
                {"name": "Authorization", "valueFrom": {"secretKeyRef": {"name": "tracker", "key": "authorization"}}},
                {"name": "X-Team", "value": "platform"},
            ],
        });
        assert_eq!(verdict(spec), Ok(Some("tracker.example.com".into())));
    }

    #[test]
    fn a_value_that_a_harness_could_interpret_is_refused_and_not_shown() {
        for value in ["!cat /secret", "${TOKEN}", "Bearer $TOKEN"] {
            let (reason, message) = with_header(&json!({"name": "X-Key", "value": value}));
            assert_eq!(reason, McpServerReason::HeaderRefused);
            assert!(message.starts_with("spec.headers[0].value of \"X-Key\": "), "{message}");
            assert!(!message.contains(value), "{message}");
        }
    }

    #[test]
    fn names_that_steer_the_connection_are_refused() {
        for name in ["Host", "Mcp-Session-Id", "X-Forwarded-For", "Proxy-Authorization"] {
            let (reason, message) = with_header(&json!({"name": name, "value": "x"}));
            assert_eq!(reason, McpServerReason::HeaderRefused);
            assert!(message.starts_with(&format!("spec.headers[0].name \"{name}\": ")), "{message}");
        }
    }

    #[test]
    fn the_same_header_twice_and_a_header_without_a_value_are_refused() {
        let twice = json!({"url": "https://a.example.com", "headers": [{"name": "X-A", "value": "1"}, {"name": "x-a", "value": "2"}]});
        assert_eq!(
            verdict(twice),
            Err((McpServerReason::HeaderRefused, "spec.headers[1].name \"x-a\" occurs twice: keep one".into()))
        );
        assert!(with_header(&json!({"name": "X-A"})).1.contains("exactly one of value and valueFrom"));
    }

    #[test]
    fn an_address_of_the_node_is_refused_in_every_spelling() {
        for url in
            ["http://127.0.0.1/", "http://2852039166/mcp", "http://[::ffff:127.0.0.1]/", "http://localhost:3000/"]
        {
            assert_eq!(verdict(json!({"url": url})).unwrap_err().0, McpServerReason::InvalidUrl, "{url}");
        }
    }

    #[test]
    fn a_managed_code_server_is_not_implemented() {
        let code = json!({"code": {"repositories": [{"name": "app", "url": "https://git.example.com/app.git"}]}});
        let (reason, message) = verdict(code).unwrap_err();
        assert_eq!(reason, McpServerReason::NotImplemented);
        assert!(message.starts_with("spec.code is not implemented in this version"), "{message}");
    }
}
