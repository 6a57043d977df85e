//! One installation of the product, one namespace a test, all tests side by side.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

mod admission;
mod bad_input;
mod confinement;
mod disruption;
mod endings;
mod gate;
mod lifecycle;
mod sealed_shape;
mod sources;
