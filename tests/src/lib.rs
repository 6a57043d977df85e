//! What the cluster tests share: a client, a namespace of their own, the product's installation, and words for a job's life.
//!
//! Objects are made from YAML and read as JSON, as a user would with kubectl; the tests know no Rust type of the product.
//! Every wait has a deadline, and a test that fails prints what a person would look at.

#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a failed expectation here is a failed test"
)]
#![expect(clippy::must_use_candidate, reason = "a program is run for its effect as often as for its words")]
#![expect(clippy::indexing_slicing, reason = "a JSON value answers a missing key with null")]

pub mod case;
pub mod cluster;
pub mod command;
pub mod installation;
pub mod job;
pub mod node;
pub mod operator;
pub mod relay;
pub mod wait;

pub use case::Case;
pub use cluster::Cluster;
pub use installation::Installation;
