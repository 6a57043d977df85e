//! Where built programs and nodes live.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// `$ANCHORHOLD_CACHE`, else `anchorhold` in the user's cache folder. Nothing in it is needed that cannot be rebuilt.
pub(crate) fn folder() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("ANCHORHOLD_CACHE") {
        return std::path::absolute(&folder)
            .with_context(|| format!("cannot resolve ANCHORHOLD_CACHE={}", folder.display()));
    }
    let caches = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    Ok(caches.context("no cache folder: set ANCHORHOLD_CACHE, XDG_CACHE_HOME or HOME")?.join("anchorhold"))
}
