//! CEL rules that several kinds share. A rule that names no bound of its own relies on the `maxLength` and `maxItems` of
//! its field: the API server refuses a CRD whose rules could cost too much.

use kube::core::Rule;

/// A DNS label: what becomes a path piece, a volume name or a part of a tool name.
pub(crate) fn dns_label(field: &str) -> Rule {
    Rule::new("self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')").message(
        format!("{field} must consist of lower case letters, digits and '-', and start and end with a letter or digit")
            .as_str(),
    )
}

/// The name of a Kubernetes object (a DNS subdomain).
pub(crate) fn object_name(field: &str) -> Rule {
    Rule::new("self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')").message(
        format!("{field} must be the name of an object: lower case letters, digits, '-' and '.', starting and ending with a letter or digit")
            .as_str(),
    )
}

/// A key of a ConfigMap or Secret.
pub(crate) fn data_key(field: &str) -> Rule {
    Rule::new("self.matches('^[-._a-zA-Z0-9]+$') && self != '.' && self != '..'")
        .message(format!("{field} must be a key: letters, digits, '-', '_' and '.'").as_str())
}

/// A path that stays below where it is mounted.
pub(crate) fn relative_path(field: &str) -> Rule {
    // One pattern: splitting a path costs more than the API server grants to a rule in a list within a list.
    Rule::new("!self.matches('^/|(^|/)[.][.](/|$)|[[:cntrl:]]')")
        .message(format!("{field} must be a relative path without '..': write it from the top of the volume").as_str())
}

/// Text with something in it besides white space.
pub(crate) fn not_blank(field: &str) -> Rule {
    Rule::new(r"self.matches('\\S')").message(format!("{field} is empty: write something or leave it out").as_str())
}

/// Text of at most 256 KiB: its bytes count, since the plan's ConfigMap holds 1 MiB in all.
pub(crate) fn at_most_256_kib(field: &str) -> Rule {
    Rule::new("bytes(self).size() <= 262144").message(
        format!("{field} must be at most 256 KiB: put long material into a source and have it read from there")
            .as_str(),
    )
}

/// Text without control characters other than tab, line feed and carriage return.
pub(crate) fn printable(field: &str) -> Rule {
    Rule::new(r"!self.matches('[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]')")
        .message(format!("{field} contains a control character: remove it").as_str())
}

/// Exactly one of these fields is set.
pub(crate) fn exactly_one(fields: &[&str], message: &str) -> Rule {
    let set: Vec<_> = fields.iter().map(|field| format!("has(self.{field})")).collect();
    Rule::new(format!("[{}].filter(set, set).size() == 1", set.join(", "))).message(message)
}

/// At most one of these fields is set.
pub(crate) fn at_most_one(fields: &[&str], message: &str) -> Rule {
    let set: Vec<_> = fields.iter().map(|field| format!("has(self.{field})")).collect();
    Rule::new(format!("[{}].filter(set, set).size() <= 1", set.join(", "))).message(message)
}

/// An optional field of a Job's spec that never changes.
pub(crate) fn unchanged(field: &str) -> Rule {
    Rule::new(format!(
        "has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    ))
    .message(format!("spec.{field} of a Job cannot change: delete the Job or create one of another name").as_str())
}

/// A positive amount of storage.
pub(crate) fn positive_quantity(field: &str) -> Rule {
    Rule::new("isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0'))")
        .message(format!("{field} must be a positive amount such as 500Mi or 2Gi").as_str())
}

/// The name of an object that becomes a label value and a part of other names.
pub(crate) fn short_name(kind: &str) -> Rule {
    Rule::new("self.metadata.name.size() <= 63").message(
        format!("the name of {kind} must be at most 63 characters (it becomes a label value): choose a shorter metadata.name")
            .as_str(),
    )
}

/// A name or pattern of tools.
pub(crate) fn name_pattern() -> Rule {
    Rule::new("!self.matches('[[:space:][:cntrl:]]')")
        .message("a tool pattern is a tool's name, with * for any characters, and has no white space")
}

/// A pattern of files.
pub(crate) fn file_pattern() -> Rule {
    Rule::new("!self.matches('^[!#]|(^|/)[.][.](/|$)|[[:cntrl:]]')")
        .message("a file pattern is written as in .gitignore, without a leading ! or # and without '..'")
}
