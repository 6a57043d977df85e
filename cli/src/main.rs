//! Entry point.

#![forbid(unsafe_code)]

mod document;

fn main() {}
