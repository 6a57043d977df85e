//! Scripts in real worker processes of the real program, over a small set of tools.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test stops at the first surprise"
)]

mod faults;
mod hostile;
mod limits;
mod support;
mod tools;
mod values;
