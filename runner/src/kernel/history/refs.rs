//! Branches, tags and `HEAD`, read through the job's folders.

use std::cell::OnceCell;

use gix_hash::ObjectId;
use gix_ref::{FullNameRef, packed};

use super::super::display;
use super::super::roots::FileKind;
use super::ground::Spot;
use super::open::Repository;
use crate::tool::ToolError;

/// Bytes of a file that holds one reference: two names of at most 4,096 bytes.
const MOST_BYTES: u64 = 8192;
/// Bytes of all packed references; about 1,000,000 of them.
const MOST_PACKED_BYTES: u64 = 64 << 20;
/// References to references, as in git.
const MOST_STEPS: usize = 5;
/// Names that are compared with one that does not exist.
const MOST_NAMES: usize = 5_000;
/// Folders within `refs`.
const MOST_DEPTH: usize = 8;

/// The references of a repository.
pub(super) struct References<'r, 'a> {
    repository: &'r Repository<'a>,
    packed: OnceCell<Option<packed::Buffer>>,
}

enum Target {
    Object(ObjectId),
    Name(String),
}

impl<'r, 'a> References<'r, 'a> {
    pub(super) fn new(repository: &'r Repository<'a>) -> Self {
        Self { repository, packed: OnceCell::new() }
    }

    /// The object a name stands for, by git's order: as it is, a tag, a branch, a remote.
    pub(super) fn find(&self, name: &str) -> Result<Option<ObjectId>, ToolError> {
        let pseudo = name.ends_with("HEAD") && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let as_it_is = (pseudo || name.starts_with("refs/")).then(|| name.to_owned());
        let places = ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"].map(|place| format!("{place}{name}"));
        let remote = format!("refs/remotes/{name}/HEAD");
        for full in as_it_is.into_iter().chain(places).chain([remote]) {
            if let Some(id) = self.follow(&full)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// The branch `HEAD` names, without `refs/heads/`; `None` when it is detached.
    pub(super) fn head_branch(&self) -> Result<Option<String>, ToolError> {
        Ok(match self.loose("HEAD")? {
            Some(Target::Name(name)) => Some(name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned()),
            Some(Target::Object(_)) | None => None,
        })
    }

    fn follow(&self, name: &str) -> Result<Option<ObjectId>, ToolError> {
        let mut name = name.to_owned();
        for _ in 0..=MOST_STEPS {
            match self.look(&name)? {
                None => return Ok(None),
                Some(Target::Object(id)) => return Ok(Some(id)),
                Some(Target::Name(next)) => name = next,
            }
        }
        Err(ToolError::Failed(format!("reference {} leads to itself", display::name(name.as_bytes()))))
    }

    fn look(&self, name: &str) -> Result<Option<Target>, ToolError> {
        if <&FullNameRef>::try_from(name).is_err() {
            return Ok(None);
        }
        if let Some(target) = self.loose(name)? {
            return Ok(Some(target));
        }
        let Some(packed) = self.packed()? else { return Ok(None) };
        // The library takes a part of a name for a name as well; only the whole one is meant here.
        match packed.try_find(name) {
            Ok(Some(found)) if found.name.as_bstr() == name => {
                Ok(ObjectId::from_hex(found.target).ok().map(Target::Object))
            }
            Ok(_) => Ok(None),
            Err(_) => Err(self.broken_packed()),
        }
    }

    /// The content of a reference's own file.
    fn loose(&self, name: &str) -> Result<Option<Target>, ToolError> {
        let own = !name.starts_with("refs/")
            || ["refs/bisect/", "refs/worktree/", "refs/rewritten/"].iter().any(|private| name.starts_with(private));
        let folder = if own { &self.repository.git } else { &self.repository.common };
        let Some(content) = folder.read(name, MOST_BYTES)? else { return Ok(None) };
        let content = content.trim_ascii();
        let broken = || {
            let shown = display::join(&folder.shown(), &display::name(name.as_bytes()));
            ToolError::Failed(format!("{shown} is damaged: it names neither a commit nor a branch"))
        };
        match content.strip_prefix(b"ref:") {
            Some(next) => {
                let next = std::str::from_utf8(next.trim_ascii()).map_err(|_| broken())?;
                <&FullNameRef>::try_from(next).map_err(|_| broken())?;
                Ok(Some(Target::Name(next.to_owned())))
            }
            None => Ok(Some(Target::Object(ObjectId::from_hex(content).map_err(|_| broken())?))),
        }
    }

    fn packed(&self) -> Result<Option<&packed::Buffer>, ToolError> {
        if let Some(packed) = self.packed.get() {
            return Ok(packed.as_ref());
        }
        let content = self.repository.common.read("packed-refs", MOST_PACKED_BYTES)?;
        let packed = match content {
            None => None,
            Some(content) => {
                Some(packed::Buffer::from_bytes(&content, gix_hash::Kind::Sha1).map_err(|_| self.broken_packed())?)
            }
        };
        Ok(self.packed.get_or_init(|| packed).as_ref())
    }

    fn broken_packed(&self) -> ToolError {
        ToolError::Failed(format!("{}/packed-refs is damaged; git fsck says more", self.repository.common.shown()))
    }

    /// Names of branches and tags, the shortest form that is understood. At most a bounded number, in no order.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        if let Ok(Some(packed)) = self.packed()
            && let Ok(references) = packed.iter()
        {
            let full = references.filter_map(Result::ok).map(|reference| reference.name.as_bstr().to_string());
            names.extend(full.take(MOST_NAMES));
        }
        for place in ["refs/heads", "refs/tags", "refs/remotes"] {
            collect(&self.repository.common, place, MOST_DEPTH, &mut names);
        }
        let mut names: Vec<String> = names
            .into_iter()
            .filter_map(|name| {
                let places = ["refs/heads/", "refs/tags/", "refs/remotes/"];
                places.iter().find_map(|place| name.strip_prefix(place).map(str::to_owned))
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn collect(folder: &Spot<'_>, place: &str, depth: usize, names: &mut Vec<String>) {
    let Ok(entries) = folder.root.entries(&folder.below.join(place)) else { return };
    for entry in entries.map_while(Result::ok) {
        if names.len() >= 2 * MOST_NAMES {
            return;
        }
        let Ok(name) = String::from_utf8(entry.name) else { continue };
        let name = format!("{place}/{name}");
        match entry.kind {
            FileKind::Folder if depth > 0 => collect(folder, &name, depth - 1, names),
            FileKind::File => names.push(name),
            _ => {}
        }
    }
}
