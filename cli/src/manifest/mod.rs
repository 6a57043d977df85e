//! Manifest files, before anybody looks into them.

mod files;

pub(crate) use files::{ManifestFile, read};
