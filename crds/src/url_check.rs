//! Which URLs and addresses may be registered. CEL checks the literal when it is written; the operator checks the same
//! here, and every address a name resolves to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;
use url::{Host, Url};

/// Why a URL or an address is refused. The text says what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlRefusal {
    /// It is no URL.
    #[error("this is not a URL: write https://host/path")]
    Syntax(#[source] url::ParseError),
    /// The scheme is another one.
    #[error("the scheme must be http or https: other transports are not supported")]
    Scheme,
    /// There is a user or a password.
    #[error("a URL must not contain a user or password: put credentials into a Secret and name it")]
    Credentials,
    /// There is a fragment.
    #[error("a URL must not contain a fragment (#…): remove it")]
    Fragment,
    /// There is white space or a control character, which a parser would drop without a word.
    #[error("a URL must not contain white space or control characters: remove them")]
    Characters,
    /// The host stands for the pod or the node itself, or for no single host.
    #[error("{address} is a {what} address and never reachable from a job: write the address or name of the server")]
    Address {
        /// The address, in its plain spelling.
        address: String,
        /// What it is.
        what: &'static str,
    },
}

/// Checks a URL and returns it parsed. A host that is an address is judged in whatever way it is spelt (decimal, octal,
/// hexadecimal, IPv4-mapped); a host that is a name is judged by [`check_address`] once it is resolved.
pub fn check_url(text: &str) -> Result<Url, UrlRefusal> {
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(UrlRefusal::Characters);
    }
    let url = Url::parse(text).map_err(UrlRefusal::Syntax)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlRefusal::Scheme);
    }
    let authority = text.split_once(':').map_or("", |(_, rest)| rest.trim_start_matches(['/', '\\']));
    let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlRefusal::Credentials);
    }
    if url.fragment().is_some() {
        return Err(UrlRefusal::Fragment);
    }
    match url.host() {
        Some(Host::Ipv4(address)) => check_address(address.into())?,
        Some(Host::Ipv6(address)) => check_address(address.into())?,
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            if name == "localhost" || name.ends_with(".localhost") {
                return Err(UrlRefusal::Address { address: name.to_owned(), what: "loopback" });
            }
        }
        None => return Err(UrlRefusal::Syntax(url::ParseError::EmptyHost)),
    }
    Ok(url)
}

/// Checks an address that a job would connect to: it must belong to another host, and to one. The API server's own
/// address is refused as well; only the operator knows it.
pub fn check_address(address: IpAddr) -> Result<(), UrlRefusal> {
    let what = match address {
        IpAddr::V4(address) => ipv4_fault(address),
        IpAddr::V6(address) => ipv6_fault(address),
    };
    what.map_or(Ok(()), |what| Err(UrlRefusal::Address { address: address.to_string(), what }))
}

fn ipv4_fault(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        // 0.0.0.0/8 reaches the host itself on Linux.
        [0, ..] => Some("unspecified"),
        [127, ..] => Some("loopback"),
        // Cloud metadata lives here.
        [169, 254, ..] => Some("link-local"),
        [224..=239, ..] => Some("multicast"),
        [240..=255, ..] => Some("reserved or broadcast"),
        _ => None,
    }
}

fn ipv6_fault(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    let [first, ..] = segments;
    if address.is_unspecified() {
        return Some("unspecified");
    }
    if address.is_loopback() {
        return Some("loopback");
    }
    if first & 0xff00 == 0xff00 {
        return Some("multicast");
    }
    if first & 0xffc0 == 0xfe80 {
        return Some("link-local");
    }
    // AWS answers for its metadata at this unique-local address as well.
    if segments == [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254] {
        return Some("metadata");
    }
    // ::/96 (compatible), ::ffff:0:0/96 (mapped) and 64:ff9b::/96 (NAT64) carry an IPv4 address; a packet filter that was
    // told the one form does not see the other.
    let carries_ipv4 = matches!(segments, [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..]);
    carries_ipv4.then_some("IPv4-in-IPv6")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_other_hosts_pass() {
        for url in [
            "https://tracker.example.com/mcp",
            "http://tracker.tools.svc.cluster.local:8080/mcp?x=a@b",
            "http://10.96.0.12/mcp",
            "https://[2001:db8::1]:8443/mcp",
            "https://192.0.2.1/a@b",
        ] {
            assert_eq!(check_url(url).map(|_| ()), Ok(()), "{url}");
        }
    }

    #[test]
    fn every_spelling_of_an_address_that_is_not_another_host_is_refused() {
        for (url, address, what) in [
            ("http://127.0.0.1/", "127.0.0.1", "loopback"),
            ("http://127.1/", "127.0.0.1", "loopback"),
            ("http://2130706433/", "127.0.0.1", "loopback"),
            ("http://0x7f000001/", "127.0.0.1", "loopback"),
            ("http://0x7f.1/", "127.0.0.1", "loopback"),
            ("http://0177.0.0.1/", "127.0.0.1", "loopback"),
            ("http://127.0.0.1./", "127.0.0.1", "loopback"),
            ("http://%31%32%37.0.0.1/", "127.0.0.1", "loopback"),
            ("http://①②⑦.0.0.1/", "127.0.0.1", "loopback"),
            ("http://[::1]/", "::1", "loopback"),
            ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1", "IPv4-in-IPv6"),
            ("http://[::ffff:a9fe:a9fe]/", "::ffff:169.254.169.254", "IPv4-in-IPv6"),
            ("http://[::7f00:1]/", "::7f00:1", "IPv4-in-IPv6"),
            ("http://[64:ff9b::7f00:1]/", "64:ff9b::7f00:1", "IPv4-in-IPv6"),
            ("http://169.254.169.254/latest", "169.254.169.254", "link-local"),
            ("http://2852039166/", "169.254.169.254", "link-local"),
            ("http://[fe80::1]/", "fe80::1", "link-local"),
            ("http://[fd00:ec2::254]/", "fd00:ec2::254", "metadata"),
            ("http://0.0.0.0/", "0.0.0.0", "unspecified"),
            ("http://0/", "0.0.0.0", "unspecified"),
            ("http://[::]/", "::", "unspecified"),
            ("http://224.0.0.1/", "224.0.0.1", "multicast"),
            ("http://[ff02::1]/", "ff02::1", "multicast"),
            ("http://255.255.255.255/", "255.255.255.255", "reserved or broadcast"),
            ("http://localhost:8080/", "localhost", "loopback"),
            ("http://LOCALHOST./", "localhost", "loopback"),
            ("http://a.localhost/", "a.localhost", "loopback"),
        ] {
            assert_eq!(check_url(url), Err(UrlRefusal::Address { address: address.into(), what }), "{url}");
        }
    }

    #[test]
    fn what_is_no_plain_http_url_is_refused_by_name() {
        for (url, refusal) in [
            ("ftp://example.com/", UrlRefusal::Scheme),
            ("unix:///run/x.sock", UrlRefusal::Scheme),
            ("https://user@example.com/", UrlRefusal::Credentials),
            ("https://user:pw@example.com/", UrlRefusal::Credentials),
            ("https://@example.com/", UrlRefusal::Credentials),
            ("https:/\\user@example.com/", UrlRefusal::Credentials),
            ("https://example.com/#a", UrlRefusal::Fragment),
            ("https://example.com/a b", UrlRefusal::Characters),
            ("https://exam\tple.com/", UrlRefusal::Characters),
            ("example.com/mcp", UrlRefusal::Syntax(url::ParseError::RelativeUrlWithoutBase)),
            ("https://", UrlRefusal::Syntax(url::ParseError::EmptyHost)),
        ] {
            assert_eq!(check_url(url), Err(refusal), "{url}");
        }
    }
}
