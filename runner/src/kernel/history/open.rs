//! Finds the repository a path belongs to, and opens it.
//!
//! Of a repository's configuration two keys are read, which say how its objects and references are stored. No other key has
//! an effect, so none of them can name a program, a hook, a filter or a file to include.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;

use super::super::display;
use super::super::roots::{FileKind, Located, PathError, Place, Root, Roots};
use super::budget::Budget;
use super::ground::{Ground, Spot};
use super::inspect::inspect;
use super::objects::Objects;
use crate::tool::ToolError;

/// Bytes of `.git` files and `commondir`: one path each, and a path of Linux has at most 4,096 bytes.
const MOST_POINTER_BYTES: u64 = 4200;
/// Bytes of a configuration file.
const MOST_CONFIG_BYTES: u64 = 1 << 20;
/// Bytes of the list of commits at which a shallow clone ends: 100,000 of them.
const MOST_SHALLOW_BYTES: u64 = 41 * 100_000;

/// A repository, open for reading.
pub(super) struct Repository<'a> {
    /// The folder as tools know it.
    pub(super) shown: String,
    /// The folder with `HEAD`.
    pub(super) git: Spot<'a>,
    /// The folder with what linked worktrees share; the same folder where there are none.
    pub(super) common: Spot<'a>,
    pub(super) objects: Objects,
    /// Commits whose parents were not fetched.
    pub(super) shallow: HashSet<ObjectId>,
}

/// What a path belongs to.
pub(super) struct Found<'a> {
    pub(super) repository: Repository<'a>,
    /// The path within the repository; empty for all of it.
    pub(super) inner: Vec<u8>,
    /// The path as the caller wrote it.
    pub(super) named: String,
}

/// Opens the repository that `path` is in: the folder itself, or the nearest folder above it. What is at the path may have
/// been deleted since. Without a path: the only source.
pub(super) fn open<'a>(roots: &'a Roots, path: Option<&str>, budget: &Budget) -> Result<Found<'a>, ToolError> {
    let path = match (path, roots.sources()) {
        (Some(path), _) => path,
        (None, [only]) => only.shown(),
        (None, sources) => {
            let names = sources.iter().map(Root::shown).collect::<Vec<_>>().join(", ");
            return Err(ToolError::InvalidArguments(format!("path is missing; the job's sources are {names}")));
        }
    };
    let (located, gone) = nearest(roots, path)?;
    let Located { root, below, kind, named } = located;
    let named = if gone.as_os_str().is_empty() { named } else { display::name(path.trim_end_matches('/').as_bytes()) };
    let ground = Ground::new(roots)?;
    let start = if kind == FileKind::Folder { below.as_path() } else { below.parent().unwrap_or(Path::new("")) };
    for folder in start.ancestors() {
        budget.check()?;
        let spot = ground.beneath(root, folder)?;
        if let Some(git) = git_folder(&ground, &spot)? {
            let inner = below.strip_prefix(folder).unwrap_or(Path::new("")).join(&gone);
            let repository = Repository::open(&ground, spot.shown(), git, budget)?;
            return Ok(Found { repository, inner: inner.as_os_str().as_bytes().to_vec(), named });
        }
    }
    Err(ToolError::Failed(format!(
        "{named} is in no git repository: neither {} nor a folder between holds a .git",
        root.shown()
    )))
}

/// Where the path leads, or its nearest part that still exists, and the rest.
fn nearest<'a>(roots: &'a Roots, path: &str) -> Result<(Located<'a>, PathBuf), ToolError> {
    let mut rest = PathBuf::new();
    let mut here = path.trim_end_matches('/');
    loop {
        match roots.locate(if here.is_empty() { path } else { here }) {
            Ok(Place::Beneath(located)) => return Ok((located, rest)),
            Ok(Place::Workspace) => match roots.sources() {
                [only] => {
                    let located = Located {
                        root: only,
                        below: PathBuf::new(),
                        kind: FileKind::Folder,
                        named: only.shown().to_owned(),
                    };
                    return Ok((located, rest));
                }
                sources => {
                    let names = sources.iter().map(Root::shown).collect::<Vec<_>>().join(", ");
                    return Err(ToolError::Failed(format!("{path} does not exist; the job's sources are {names}")));
                }
            },
            Err(error @ (PathError::Missing { .. } | PathError::NotAFolder { .. })) => {
                let (above, name) = match here.rsplit_once('/') {
                    Some((above, name)) if !above.is_empty() => (above, name),
                    None if roots.sources().len() == 1 && !here.is_empty() && here != "." => (".", here),
                    _ => return Err(error.into()),
                };
                if name == ".." {
                    return Err(error.into());
                }
                if !name.is_empty() && name != "." {
                    rest = if rest.as_os_str().is_empty() { name.into() } else { Path::new(name).join(rest) };
                }
                here = above.trim_end_matches('/');
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The folder of git's own files that belongs to this folder, if there is one.
fn git_folder<'a>(ground: &Ground<'a>, folder: &Spot<'a>) -> Result<Option<Spot<'a>>, ToolError> {
    let dot = folder.real.join(".git");
    let named = display::join(&folder.shown(), ".git");
    let git = match folder.kind(".git") {
        Some(FileKind::Folder) => ground.land(&dot, &named)?,
        Some(FileKind::Link) => {
            let landed = ground.land(&dot, &named)?;
            match landed.root.describe(&landed.below) {
                Ok((FileKind::Folder, _)) => landed,
                _ => return Err(ToolError::Failed(format!("{named} is a link to something that is no folder"))),
            }
        }
        Some(FileKind::File) => {
            let content = folder.read(".git", MOST_POINTER_BYTES)?.unwrap_or_default();
            let Some(target) = content.strip_prefix(b"gitdir:") else {
                return Err(ToolError::Failed(format!(
                    "{named} is a file, but not one that says where the repository is"
                )));
            };
            ground.land(&folder.real.join(pointed(target)), &named)?
        }
        Some(kind) => return Err(ToolError::Failed(format!("{named} is {kind}; a repository has a folder there"))),
        None => {
            let bare = folder.kind("HEAD") == Some(FileKind::File)
                && folder.kind("objects").is_some()
                && folder.kind("refs") == Some(FileKind::Folder);
            return Ok(bare.then(|| folder.clone()));
        }
    };
    if git.kind("HEAD").is_none() {
        return Err(ToolError::Failed(format!("{} is no git repository: it has no HEAD", git.shown())));
    }
    Ok(Some(git))
}

/// The path in a file that holds one.
fn pointed(content: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(content.trim_ascii().to_vec()))
}

impl<'a> Repository<'a> {
    fn open(ground: &Ground<'a>, shown: String, git: Spot<'a>, budget: &Budget) -> Result<Self, ToolError> {
        let common = match git.read("commondir", MOST_POINTER_BYTES)? {
            Some(content) => ground.land(&git.real.join(pointed(&content)), &format!("{}/commondir", git.shown()))?,
            None => git.clone(),
        };
        storage(&common, &shown)?;
        let objects = ground.land(&common.real.join("objects"), &format!("{}/objects", common.shown()))?;
        inspect(ground, &objects, budget)?;
        let shallow = common.read("shallow", MOST_SHALLOW_BYTES)?.unwrap_or_default();
        let shallow = shallow
            .split(|byte| *byte == b'\n')
            .filter_map(|line| ObjectId::from_hex(line.trim_ascii()).ok())
            .collect();
        Ok(Self { objects: Objects::open(&objects, &shown, budget.clone())?, shown, git, common, shallow })
    }
}

/// Refuses the ways to store a repository that cannot be read here.
fn storage(common: &Spot<'_>, shown: &str) -> Result<(), ToolError> {
    let Some(content) = common.read("config", MOST_CONFIG_BYTES)? else { return Ok(()) };
    let config = gix_config::File::from_bytes_no_includes(
        &content,
        gix_config::file::Metadata::api(),
        gix_config::file::init::Options::default(),
    )
    .map_err(|_| ToolError::Failed(format!("{}/config is no configuration of git; repair it", common.shown())))?;
    let value = |key: &str| config.string(key).map(|value| value.to_ascii_lowercase());
    if let Some(format) = value("extensions.objectFormat")
        && format != b"sha1"
    {
        return Err(ToolError::Failed(format!(
            "{shown} names its objects by {}; only repositories with SHA-1 names are read",
            display::name(&format)
        )));
    }
    if let Some(format) = value("extensions.refStorage")
        && format != b"files"
    {
        return Err(ToolError::Failed(format!(
            "{shown} stores its branches and tags as {}; only files are read: git refs migrate --ref-format=files",
            display::name(&format)
        )));
    }
    Ok(())
}
