//! The history tools over real repositories, made by git; what git itself says is the control.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "history/bounds.rs"]
mod bounds;
#[path = "history/hostile.rs"]
mod hostile;
#[path = "history/ordinary.rs"]
mod ordinary;
#[path = "history/repository.rs"]
mod repository;
#[path = "history/revisions.rs"]
mod revisions;
#[path = "history/shapes.rs"]
mod shapes;

mod job;
