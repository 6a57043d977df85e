//! The path of a field, as `kubectl` writes it: `spec.sources[0].name`.

use std::fmt;

/// A path that grows as a tree is walked; it borrows its parents.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path<'a> {
    /// The object itself.
    Root,
    /// A key of a map.
    Key(&'a Path<'a>, &'a str),
    /// An item of a list.
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    /// The path of one of its keys.
    pub(crate) fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    /// The path of one of its items.
    pub(crate) fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Self::Key(parent, key) if !is_plain(key) => write!(f, "{parent}[{}]", key.escape_debug()),
            Self::Key(Path::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
        }
    }
}

/// One step from a value to one inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The steps of a written path. A bracket that holds no number is a key, as in `metadata.labels[app.kubernetes.io/name]`.
pub(super) fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some((inside, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
            steps.push(inside.parse().map_or(Step::Key(inside.trim_matches('"')), Step::Index));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            if !key.is_empty() {
                steps.push(Step::Key(key));
            } else if !after.starts_with('.') {
                break; // an unclosed bracket: what is before it is as near as can be
            }
            rest = after;
        }
    }
    steps
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_kubectl_writes_it() {
        let root = Path::Root;
        let metadata = root.key("metadata");
        let labels = metadata.key("labels");
        assert_eq!(labels.key("app.kubernetes.io/name").to_string(), "metadata.labels[app.kubernetes.io/name]");
        let spec = root.key("spec");
        let sources = spec.key("sources");
        assert_eq!(sources.index(3).key("name").to_string(), "spec.sources[3].name");
    }

    #[test]
    fn a_written_path_is_read_back_and_a_broken_one_ends_where_it_breaks() {
        assert_eq!(
            steps("spec.sources[3].name"),
            [Step::Key("spec"), Step::Key("sources"), Step::Index(3), Step::Key("name")]
        );
        assert_eq!(steps("a[b.c/d]"), [Step::Key("a"), Step::Key("b.c/d")]);
        assert_eq!(steps("items[0].spec"), [Step::Key("items"), Step::Index(0), Step::Key("spec")]);
        assert_eq!(steps("a[0"), [Step::Key("a")]);
        assert_eq!(steps("a..b"), [Step::Key("a"), Step::Key("b")]);
        assert_eq!(steps(""), []);
    }
}
