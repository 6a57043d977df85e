use serde_json::{Value, json};

use super::{mcp_server, table, violations, with, without};
use crate::check::KindCheck;
use crate::header::{HeaderRefusal, check_header_name, check_header_value};
use crate::url_check::check_url;

const SHAPE: &str = "spec.url: spec.url must be http:// or https://, a host, and perhaps a port and a path, without user, password and fragment, such as https://tracker.example.com/mcp";
const ADDRESS: &str = "spec.url: spec.url must not point to a loopback, link-local, unspecified or multicast address, nor spell an address unusually: write the server's own name or address";

#[test]
fn a_url_of_another_host_is_accepted_by_rule_and_function_alike() {
    let check = KindCheck::of_kind("McpServer").unwrap();
    for url in [
        "https://tracker.example.com/mcp",
        "http://tracker.tools.svc.cluster.local:8080/mcp?x=a@b",
        "http://tracker",
        "http://10.96.0.12/mcp",
        "http://10.96.0.12:8080",
        "http://1.example.com/",
        "http://0.pool.example.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost.example.com/",
        "https://[2001:db8::1]:8443/mcp",
        "https://[fd00::12]/",
        "http://100.64.0.1/",
    ] {
        assert_eq!(violations(&check, &with(mcp_server(), "/spec/url", json!(url)), None), [""; 0], "{url}");
        assert!(check_url(url).is_ok(), "{url}");
    }
}

#[test]
fn a_url_of_no_other_host_is_refused_in_every_spelling_by_rule_and_function_alike() {
    let check = KindCheck::of_kind("McpServer").unwrap();
    for url in [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0X7F.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://127.0.0.1:80",
        "http://127.0.0.1?x",
        "http://0/",
        "http://0.0.0.0",
        "http://169.254.169.254/latest",
        "http://2852039166/",
        "http://0xa9fea9fe",
        "http://0251.0376.0251.0376/",
        "http://224.0.0.1/",
        "http://239.1.2.3/",
        "http://255.255.255.255/",
        "http://240.0.0.1/",
        "http://localhost:8080/",
        "http://LOCALHOST/",
        "http://a.localhost./",
        "http://[::1]/",
        "http://[::]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[0000::0001]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::FFFF:7F00:1]:80/",
        "http://[64:ff9b::7f00:1]/",
        "http://[0064:ff9b::1]/",
        "http://[fe80::1]/",
        "http://[FEBF::1]/",
        "http://[ff02::1]/",
        "http://[fd00:ec2::254]/",
        "http://[fd00:0ec2:0:0:0:0:0:0254]/",
    ] {
        assert_eq!(violations(&check, &with(mcp_server(), "/spec/url", json!(url)), None), [ADDRESS], "{url}");
        assert!(check_url(url).is_err(), "{url}");
    }
}

#[test]
fn a_url_is_plain_http() {
    let check = KindCheck::of_kind("McpServer").unwrap();
    for url in [
        "ftp://example.com/",
        "unix:///run/x.sock",
        "HTTPS://example.com/",
        "https:/example.com",
        "https:///mcp",
        "example.com",
        "https://user@example.com/",
        "https://user:pw@example.com/",
        "https://example.com#a",
        "https://example.com/#a",
        "https://example.com/a b",
        "https://exam\tple.com/",
        "https://example.com\\@evil.example/",
        "https://%31.example/",
        "https://bücher.example/",
        "https://example.com:port/",
        "https://example.com/\u{7f}",
        "/mcp",
    ] {
        assert_eq!(violations(&check, &with(mcp_server(), "/spec/url", json!(url)), None), [SHAPE], "{url}");
    }
}

#[test]
fn exactly_one_of_url_and_code_is_set() {
    const ONE: &str = "spec: an McpServer needs exactly one of url and code: set one and remove the other";
    let code = json!({ "repositories": [{ "name": "app", "url": "https://git.example.com/app.git" }] });
    let bare = without(mcp_server(), "/spec/url");
    table("McpServer", &mcp_server(), [("/spec/code", code.clone(), &[ONE])]);
    table("McpServer", &bare, [("/spec/enabled", json!(true), &[ONE]), ("/spec/code", code, &[])]);
}

#[test]
fn headers_and_tls_belong_to_a_url() {
    const URL_ONLY: &str =
        "spec: headers and tls belong to a server with a url: remove them, a managed code server needs none";
    let code = with(
        without(mcp_server(), "/spec/url"),
        "/spec/code",
        json!({ "repositories": [{ "name": "app", "url": "https://git.example.com/app.git" }] }),
    );
    let tls = json!({ "caBundleConfigMapRef": { "name": "ca", "key": "ca.crt" } });
    table(
        "McpServer",
        &code,
        [
            ("/spec/headers", json!([{ "name": "X-Team", "value": "a" }]), &[URL_ONLY]),
            ("/spec/tls", tls.clone(), &[URL_ONLY]),
        ],
    );
    let plain = with(mcp_server(), "/spec/url", json!("http://tracker.example.com/"));
    table(
        "McpServer",
        &plain,
        [("/spec/tls", tls.clone(), &["spec: spec.tls has no effect on an http:// URL: use https:// or remove it"])],
    );
    table("McpServer", &mcp_server(), [("/spec/tls", tls, &[])]);
}

#[test]
fn header_names_are_judged_alike_by_rule_and_function() {
    let check = KindCheck::of_kind("McpServer").unwrap();
    for name in [
        "Authorization",
        "X-Team",
        "x_team",
        "X-Mcp",
        "Cookie",
        "Host",
        "host",
        "CONNECTION",
        "Keep-Alive",
        "TE",
        "Trailer",
        "Upgrade",
        "Transfer-Encoding",
        "Transfer_Encoding",
        "Proxy-Authorization",
        "Proxy-X",
        "Content-Length",
        "Content-Type",
        "Accept",
        "Expect",
        "Forwarded",
        "X-Forwarded-For",
        "X_Forwarded_Host",
        "x-real-ip",
        "Mcp-Session-Id",
        "mcp-x",
        "a b",
        "a:b",
        "a\nb",
        "ä",
        "a/b",
    ] {
        let object = with(mcp_server(), "/spec/headers", json!([{ "name": name, "value": "a" }]));
        let expected = match check_header_name(name) {
            Ok(()) => vec![],
            Err(refusal) => vec![format!("spec.headers[0].name: {refusal}")],
        };
        assert_eq!(violations(&check, &object, None), expected, "{name:?}");
    }
}

#[test]
fn header_values_are_judged_alike_by_rule_and_function() {
    let check = KindCheck::of_kind("McpServer").unwrap();
    for value in [
        "Bearer abc",
        "50$",
        "$5",
        "a!b",
        "!cat",
        "! a",
        "${TOKEN}",
        "Bearer $TOKEN",
        "$_x",
        "a${b}c",
        "a\nb",
        "a\n",
        "a\0",
        "é",
        " a",
        "a ",
        "a\tb",
        "a b",
    ] {
        let object = with(mcp_server(), "/spec/headers", json!([{ "name": "X-Team", "value": value }]));
        let expected = match check_header_value(value) {
            Ok(()) => vec![],
            Err(refusal) => vec![format!("spec.headers[0].value: {refusal}")],
        };
        assert_eq!(violations(&check, &object, None), expected, "{value:?}");
    }
    let long = with(mcp_server(), "/spec/headers", json!([{ "name": "X-Team", "value": "a".repeat(4097) }]));
    assert_eq!(
        violations(&check, &long, None),
        ["spec.headers[0].value: has 4097 characters; at most 4096 are allowed"]
    );
    assert_eq!(check_header_value(&"a".repeat(4097)), Err(HeaderRefusal::ValueLength));
}

#[test]
fn a_header_is_named_once_and_has_one_value() {
    const ONE: &str =
        "spec.headers[0]: a header needs exactly one of value and valueFrom: set one and remove the other";
    let secret = json!({ "secretKeyRef": { "name": "tracker", "key": "token" } });
    table(
        "McpServer",
        &mcp_server(),
        [
            ("/spec/headers", json!([{ "name": "X-Team" }]), &[ONE]),
            ("/spec/headers", json!([{ "name": "X-Team", "value": "a", "valueFrom": secret }]), &[ONE]),
            (
                "/spec/headers",
                json!([{ "name": "X-Team", "value": "a" }, { "name": "x-team", "value": "b" }]),
                &["spec.headers: two headers have the same name (upper and lower case do not differ): keep one"],
            ),
        ],
    );
}

#[test]
fn a_server_with_secrets_serves_its_own_namespace_only() {
    const SAME: &str = "spec: a server with Secrets serves its own namespace only: set spec.allowedNamespaces.from to Same, or register it in each namespace";
    const SELECTOR: &str = "spec.allowedNamespaces: spec.allowedNamespaces.selector goes with from: Selector, and from: Selector needs it: set both or neither";
    let secret = with(
        mcp_server(),
        "/spec/headers",
        json!([{ "name": "Authorization", "valueFrom": { "secretKeyRef": { "name": "tracker", "key": "token" } } }]),
    );
    let selector = json!({ "from": "Selector", "selector": { "matchLabels": { "team": "a" } } });
    table(
        "McpServer",
        &secret,
        [
            ("/spec/allowedNamespaces", json!({ "from": "Same" }), &[]),
            ("/spec/allowedNamespaces", json!({ "from": "All" }), &[SAME]),
            ("/spec/allowedNamespaces", selector.clone(), &[SAME]),
        ],
    );
    table(
        "McpServer",
        &mcp_server(),
        [
            ("/spec/allowedNamespaces", json!({}), &[]),
            ("/spec/allowedNamespaces", json!({ "from": "All" }), &[]),
            ("/spec/allowedNamespaces", selector, &[]),
            ("/spec/allowedNamespaces", json!({ "from": "Selector" }), &[SELECTOR]),
            ("/spec/allowedNamespaces", json!({ "selector": { "matchLabels": { "team": "a" } } }), &[SELECTOR]),
        ],
    );
}

#[test]
fn time_outs_are_bounded_and_fit_together() {
    table(
        "McpServer",
        &mcp_server(),
        [
            (
                "/spec/requestTimeoutSeconds",
                json!(3601),
                &["spec.requestTimeoutSeconds: is 3601; at most 3600 is allowed"],
            ),
            (
                "/spec/requestTimeoutSeconds",
                json!(5),
                &[
                    "spec: spec.requestTimeoutSeconds must not be less than spec.connectTimeoutSeconds: raise the one or lower the other",
                ],
            ),
            ("/spec/probeIntervalSeconds", json!(29), &["spec.probeIntervalSeconds: is 29; at least 30 is allowed"]),
        ],
    );
}

#[test]
fn the_name_of_a_server_fits_into_the_names_of_its_tools() {
    table(
        "McpServer",
        &mcp_server(),
        [(
            "/metadata/name",
            json!("a.b"),
            &[
                "the name of an McpServer becomes a part of its tools' names and must not contain '.': use '-' in metadata.name",
            ],
        )],
    );
}

#[test]
fn a_repository_has_a_plain_url_and_a_plain_ref() {
    const URL: &str = "spec.code.repositories[0].url: the URL of a repository is https://host/path or ssh://user@host/path, without a password: put credentials into secretRef";
    const REF: &str = "spec.code.repositories[0].ref: ref is a branch, a tag or a full commit: letters, digits, '.', '_', '-' and '/', not starting with '-' and without '..'";
    const PATTERN: &str = "spec.code.excludePatterns[0]: a file pattern is written as in .gitignore, without a leading ! or # and without '..'";
    let base = without(mcp_server(), "/spec/url");
    let url = |url: &str| json!([{ "name": "app", "url": url }]);
    let revision = |revision: &str| json!([{ "name": "app", "url": "https://git.example.com/app", "ref": revision }]);
    table(
        "McpServer",
        &base,
        [
            ("/spec/code/repositories", url("https://git.example.com:8443/a/b.git"), &[]),
            ("/spec/code/repositories", url("ssh://git@git.example.com/a/b.git"), &[]),
            ("/spec/code/repositories", url("https://user:pw@git.example.com/a"), &[URL]),
            ("/spec/code/repositories", url("ssh://git:pw@git.example.com/a"), &[URL]),
            ("/spec/code/repositories", url("git@git.example.com:a/b.git"), &[URL]),
            ("/spec/code/repositories", url("file:///etc"), &[URL]),
            ("/spec/code/repositories", url("ext::sh -c id"), &[URL]),
            ("/spec/code/repositories", url("https://git.example.com/a b"), &[URL]),
            ("/spec/code/repositories", revision("release/1.x"), &[]),
            ("/spec/code/repositories", revision("--upload-pack=id"), &[REF]),
            ("/spec/code/repositories", revision("a..b"), &[REF]),
            (
                "/spec/code/repositories",
                Value::Array(vec![]),
                &["spec.code.repositories: has 0 entries; at least 1 must be there"],
            ),
        ],
    );
    let base = with(base, "/spec/code/repositories", url("https://git.example.com/app"));
    table(
        "McpServer",
        &base,
        [
            ("/spec/code/excludePatterns", json!(["*.pem", "/secrets/"]), &[]),
            ("/spec/code/excludePatterns", json!(["!*.pem"]), &[PATTERN]),
            ("/spec/code/excludePatterns", json!(["../x"]), &[PATTERN]),
        ],
    );
}
