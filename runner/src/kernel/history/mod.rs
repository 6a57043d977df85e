//! `git_log`, `git_show` and `git_blame`: the history of the repositories in the job's folders.
//!
//! No program is started and none can be named: the parts of gitoxide used here read objects and nothing else, references
//! and the two configuration keys that matter are read through the job's folders. The object store is the one library
//! that opens files by path. What it will open is looked through first ([`inspect`]), and beneath that the process may read
//! nothing but the sources.

mod at;
mod blame;
mod blaming;
mod budget;
mod changes;
mod commit;
mod follow;
mod ground;
mod inspect;
mod lines;
mod log;
mod objects;
mod open;
mod patch;
mod period;
mod person;
mod refs;
mod revision;
mod show;
mod walk;

pub(super) use blame::{DESCRIPTION as BLAME_DESCRIPTION, SCHEMA as BLAME_SCHEMA, call as blame};
pub(super) use log::{DESCRIPTION as LOG_DESCRIPTION, SCHEMA as LOG_SCHEMA, call as log};
pub(super) use show::{DESCRIPTION as SHOW_DESCRIPTION, SCHEMA as SHOW_SCHEMA, call as show};
