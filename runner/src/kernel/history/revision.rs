//! A revision as a caller writes it: a name or a hash, and steps from there.

use std::fmt::Write;

use gix_hash::{ObjectId, Prefix};
use gix_object::Kind;

use super::super::display;
use super::open::Repository;
use super::refs::References;
use crate::tool::ToolError;

/// Bytes of a revision: git's own names of branches are at most 255, and a step or two fit as well.
const MOST_BYTES: usize = 200;
/// Parents that one revision may go back.
const MOST_STEPS: u32 = 100_000;
/// Tags of tags.
const MOST_TAGS: usize = 32;
/// What the messages say.
const ALLOWED: &str =
    "give a branch, a tag, HEAD or a commit hash, and behind it ~n, ^n or ^{}, as in HEAD~3 or v1.2^2";

/// Refuses what is no single revision, whatever the repository holds.
///
/// # Errors
/// [`ToolError::InvalidArguments`] that says what is wrong and what is allowed.
pub(super) fn check(tool: &str, revision: &str) -> Result<(), ToolError> {
    let problem = if revision.is_empty() {
        "is empty"
    } else if revision.len() > MOST_BYTES {
        "is longer than 200 bytes"
    } else if revision.starts_with('-') {
        "begins with -"
    } else if revision.chars().any(char::is_control) {
        "contains a control character"
    } else if revision.trim() != revision || revision.contains(' ') {
        "contains a space"
    } else if revision.contains("@{") {
        "asks for a reflog or an upstream, which are not read"
    } else if revision.starts_with(':') || revision.contains("^{/") {
        "searches or asks for the index, which is not done"
    } else if revision.contains("..") {
        "is a range, where one commit is wanted"
    } else if revision.contains(['*', '?', '[', '\\']) {
        "contains *, ?, [ or \\, which no name of git does"
    } else {
        return Ok(());
    };
    let shown = display::prefix(revision, 60);
    let shown = display::name(shown.as_bytes());
    Err(ToolError::InvalidArguments(format!("{tool}: revision \"{shown}\" {problem}; {ALLOWED}")))
}

/// The object a revision stands for. It passed [`check`].
pub(super) fn resolve(repository: &Repository<'_>, revision: &str) -> Result<ObjectId, ToolError> {
    let end = revision.find(['~', '^']).unwrap_or(revision.len());
    let (base, mut steps) = revision.split_at_checked(end).unwrap_or((revision, ""));
    let mut at = self::base(repository, revision, base)?;
    while let Some(step) = steps.chars().next() {
        let rest = steps.get(1..).unwrap_or_default();
        if step == '^'
            && let Some(inside) = rest.strip_prefix('{')
        {
            let (kind, after) = inside.split_once('}').ok_or_else(|| malformed(revision, steps))?;
            at = match kind {
                "" => peeled(repository, at)?,
                "commit" => commit(repository, at, revision)?,
                "tree" => repository.objects.step(commit(repository, at, revision)?)?.tree,
                _ => return Err(malformed(revision, steps)),
            };
            steps = after;
            continue;
        }
        let digits = rest.len() - rest.trim_start_matches(|character: char| character.is_ascii_digit()).len();
        let (number, after) = rest.split_at_checked(digits).unwrap_or((rest, ""));
        let number: u32 = if number.is_empty() { 1 } else { number.parse().map_err(|_| malformed(revision, steps))? };
        let here = commit(repository, at, revision)?;
        at = match step {
            '^' if number == 0 => here,
            '^' => parent(repository, here, number as usize, revision)?,
            '~' if number > MOST_STEPS => return Err(malformed(revision, steps)),
            '~' => {
                let mut at = here;
                for _ in 0..number {
                    at = parent(repository, at, 1, revision)?;
                }
                at
            }
            _ => return Err(malformed(revision, steps)),
        };
        steps = after;
    }
    Ok(at)
}

/// The commit an object stands for: itself, or what a tag points to.
pub(super) fn commit(repository: &Repository<'_>, id: ObjectId, revision: &str) -> Result<ObjectId, ToolError> {
    let id = peeled(repository, id)?;
    match repository.objects.header(&id)? {
        Some((Kind::Commit, _)) => Ok(id),
        Some((kind, _)) => Err(ToolError::Failed(format!("revision {revision} is a {kind}, where a commit is needed"))),
        None => Err(ToolError::Failed(format!(
            "revision {revision} is commit {id}, which is not in {}: the clone is shallow or partial, or the repository is damaged",
            repository.shown
        ))),
    }
}

/// What a tag points to, tags of tags followed.
pub(super) fn peeled(repository: &Repository<'_>, mut id: ObjectId) -> Result<ObjectId, ToolError> {
    let mut buffer = Vec::new();
    for _ in 0..MOST_TAGS {
        let Some((Kind::Tag, _)) = repository.objects.header(&id)? else { return Ok(id) };
        let data = repository.objects.get(&id, &mut buffer)?;
        let tag = gix_object::TagRef::from_bytes(data.data, gix_hash::Kind::Sha1)
            .map_err(|_| repository.objects.damaged(&id))?;
        id = tag.target();
    }
    Err(ToolError::Failed(format!("tag {id} is one of more than {MOST_TAGS} tags that point to one another")))
}

fn base(repository: &Repository<'_>, revision: &str, base: &str) -> Result<ObjectId, ToolError> {
    let references = References::new(repository);
    let base = if base == "@" { "HEAD" } else { base };
    if let Some(id) = references.find(base)? {
        return Ok(id);
    }
    if base == "HEAD" {
        let branch = references.head_branch()?.unwrap_or_default();
        return Err(ToolError::Failed(format!(
            "{} has no commit: HEAD is branch {}, which does not exist{}",
            repository.shown,
            display::name(branch.as_bytes()),
            others(&references)
        )));
    }
    // `git describe` writes v1.2-3-g<hash>.
    let hash = base.rsplit_once("-g").map_or(base, |(_, hash)| hash);
    if (4..=40).contains(&hash.len())
        && let Ok(prefix) = Prefix::from_hex(hash)
    {
        match repository.objects.by_prefix(prefix)? {
            Some(Ok(id)) => return Ok(id),
            Some(Err(())) => {
                return Err(ToolError::Failed(format!(
                    "{hash} is the beginning of several objects; give more of the hash"
                )));
            }
            None => {}
        }
    }
    Err(unknown(repository, &references, revision, base))
}

fn unknown(repository: &Repository<'_>, references: &References<'_, '_>, revision: &str, base: &str) -> ToolError {
    let names = references.names();
    let mut near: Vec<(f64, &String)> = names
        .iter()
        .map(|name| (strsim::jaro_winkler(name, base), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut message = format!("revision {revision} does not exist in {}", repository.shown);
    let near: Vec<&str> = near.iter().take(3).map(|(_, name)| name.as_str()).collect();
    let _ = if near.is_empty() {
        write!(message, "{}", others(references))
    } else {
        write!(message, "; near names: {}", display::name(near.join(", ").as_bytes()))
    };
    ToolError::Failed(message)
}

/// What there is instead.
fn others(references: &References<'_, '_>) -> String {
    let names = references.names();
    let shown: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    match (shown.as_slice(), names.len() > shown.len()) {
        ([], _) => "; there is no branch and no tag".to_owned(),
        (_, more) => {
            let more = if more { " and more" } else { "" };
            format!("; branches and tags: {}{more}", display::name(shown.join(", ").as_bytes()))
        }
    }
}

fn parent(repository: &Repository<'_>, id: ObjectId, number: usize, revision: &str) -> Result<ObjectId, ToolError> {
    let parents = repository.parents(&repository.objects.step(id)?);
    parents.get(number - 1).copied().ok_or_else(|| {
        let shallow = if repository.shallow.contains(&id) { ": the clone is shallow and ends there" } else { "" };
        ToolError::Failed(format!(
            "revision {revision} goes too far: commit {} has {}{shallow}",
            short(&id),
            display::count(parents.len() as u64, "parent", "parents")
        ))
    })
}

fn malformed(revision: &str, steps: &str) -> ToolError {
    ToolError::InvalidArguments(format!("revision {revision} is not understood from {steps} on; {ALLOWED}"))
}

/// A commit's hash as it is shown: long enough to be the only one in any repository that fits a job.
pub(super) fn short(id: &ObjectId) -> String {
    id.to_hex_with_len(12).to_string()
}
