//! CEL rules for what goes over HTTP. They use no URL or IP functions of CEL: those parse otherwise in the API server than
//! in a program that checks offline, and both must judge alike. `url_check` and `header` judge the same values again.

use kube::core::Rule;

use crate::header::{HeaderRefusal, REFUSED_NAMES, REFUSED_PREFIXES};

/// A URL with a scheme we speak, a plain host, perhaps a port, and nothing after `#`.
pub(crate) fn url_shape(field: &str) -> Rule {
    Rule::new(
        r"self.matches('^https?://([A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?[.]?|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?([/?][!-~]*)?$') && !self.contains('#')",
    )
    .message(
        format!("{field} must be http:// or https://, a host, and perhaps a port and a path, without user, password and fragment, such as https://tracker.example.com/mcp")
            .as_str(),
    )
}

/// A URL whose host is not an address of the pod, the node or a group, in any spelling. A host that ends in a number is
/// an address to most resolvers (2130706433, 0x7f.1, 0177.0.0.1), so it must be one in the plain spelling. What a name
/// resolves to is checked when it is resolved.
pub(crate) fn url_address(field: &str) -> Rule {
    let plain = "([1-9]?[0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])";
    // In this order: names of the pod itself; IPv4 unspecified, loopback, link-local, multicast and reserved; IPv6
    // unspecified, loopback and IPv4-carrying (they begin with zeros), NAT64, multicast, link-local, cloud metadata.
    let refused = [
        r"([^/?:]*[.])?localhost[.]?([:/?]|$)",
        r"(0|127|169[.]254|22[4-9]|23[0-9]|24[0-9]|25[0-5])[.][0-9.]+([:/?]|$)",
        r"\\[(0{0,4}:|0{0,2}64:ff9b:|ff[0-9a-f]{2}:|fe[89ab][0-9a-f]:|fd00:0?ec2:[0:]*:0?254\\])",
    ]
    .join("|");
    Rule::new(format!(
        "!self.lowerAscii().matches('^https?://({refused})') \
         && (!self.lowerAscii().matches('^https?://([^/?:]*[.])?([0-9]+|0x[0-9a-f]*)[.]?([:/?]|$)') \
         || self.matches('^https?://{plain}[.]{plain}[.]{plain}[.]{plain}([:/?]|$)'))"
    ))
    .message(
        format!("{field} must not point to a loopback, link-local, unspecified or multicast address, nor spell an address unusually: write the server's own name or address")
            .as_str(),
    )
}

/// The name of a header as HTTP has it.
pub(crate) fn header_name() -> Rule {
    Rule::new(r"self.matches('^[-!#$%&\'*+.^_`|~0-9A-Za-z]+$')").message(HeaderRefusal::NameSyntax.to_string().as_str())
}

/// A header that neither steers the connection nor is written by a proxy.
pub(crate) fn header_name_allowed() -> Rule {
    let names = REFUSED_NAMES.map(|name| format!("'{name}'")).join(", ");
    let prefixes = REFUSED_PREFIXES.map(|prefix| format!("'{prefix}'")).join(", ");
    Rule::new(format!(
        "!(self.lowerAscii().replace('_', '-') in [{names}]) \
         && ![{prefixes}].exists(prefix, self.lowerAscii().replace('_', '-').startsWith(prefix))"
    ))
    .message(HeaderRefusal::NameReserved.to_string().as_str())
}

/// The value of a header as HTTP has it.
pub(crate) fn header_value_characters() -> Rule {
    Rule::new("self.matches('^[!-~]([ -~]*[!-~])?$')").message(HeaderRefusal::ValueCharacters.to_string().as_str())
}

/// A value that no program expands.
pub(crate) fn header_value_literal() -> Rule {
    Rule::new("!self.startsWith('!') && !self.matches('[$][{_A-Za-z]')")
        .message(HeaderRefusal::ValueInterpretable.to_string().as_str())
}
