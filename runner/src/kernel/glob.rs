//! Globs as callers write them: without a slash they mean a name at any depth, with one a path.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::tool::ToolError;

/// Longer globs than this are no globs; the bound keeps the automaton small.
const MAX_BYTES: usize = 4096;

/// A glob that was read.
#[derive(Debug)]
pub(super) struct Glob {
    matcher: GlobMatcher,
    whole_path: bool,
    negated: bool,
}

/// Reads a glob. A leading `!` turns its meaning around, a leading `/` or `./` anchors it where it is anchored anyway.
pub(super) fn parse(tool: &str, argument: &str, text: &str) -> Result<Glob, ToolError> {
    let refuse = |problem: &str| Err(ToolError::InvalidArguments(format!("{tool}: {argument} {problem}")));
    let (negated, glob) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let whole_path = glob.contains('/');
    let glob = glob.strip_prefix("./").unwrap_or(glob).trim_start_matches('/');
    if glob.is_empty() {
        return refuse("is empty; give a glob like *.rs");
    }
    if glob.len() > MAX_BYTES {
        return refuse(&format!("has {} bytes; at most {MAX_BYTES} are accepted", glob.len()));
    }
    match GlobBuilder::new(glob).literal_separator(true).empty_alternates(true).build() {
        Ok(glob) => Ok(Glob { matcher: glob.compile_matcher(), whole_path, negated }),
        Err(error) => refuse(&format!("is no glob: {}", error.kind())),
    }
}

impl Glob {
    /// Whether it matches a path below the folder that is searched.
    pub(super) fn is_match(&self, relative: &Path) -> bool {
        let subject = if self.whole_path { relative } else { relative.file_name().map_or(relative, Path::new) };
        self.matcher.is_match(subject) != self.negated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        parse("find", "pattern", glob).unwrap().is_match(Path::new(path))
    }

    #[test]
    fn a_glob_without_a_slash_means_a_name_at_any_depth() {
        assert!(matches("*.rs", "src/deep/main.rs"));
        assert!(matches("{main,lib}.rs", "src/lib.rs"));
        assert!(!matches("*.rs", "src.rs/readme"));
    }

    #[test]
    fn a_glob_with_a_slash_means_the_path() {
        assert!(matches("src/**/*.rs", "src/a/b.rs"));
        assert!(matches("src/**/*.rs", "src/b.rs"));
        assert!(matches("./src/*.rs", "src/b.rs"));
        assert!(!matches("src/*.rs", "src/a/b.rs"));
        assert!(!matches("src/*.rs", "lib/src/b.rs"));
    }

    #[test]
    fn an_exclamation_mark_turns_it_around() {
        assert!(matches("!*.min.js", "a.js"));
        assert!(!matches("!*.min.js", "x/a.min.js"));
    }

    #[test]
    fn what_is_no_glob_is_named() {
        let refused = |glob: &str| parse("grep", "glob", glob).unwrap_err().to_string();
        assert_eq!(refused(""), "grep: glob is empty; give a glob like *.rs");
        assert_eq!(refused("a[b"), "grep: glob is no glob: unclosed character class; missing ']'");
    }
}
