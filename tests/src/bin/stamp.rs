//! The program of the pods that benches compare with: says when it began, and ends.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    // The first thing it does: this is the moment that a script's first line is measured against.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = format!("{{\"startedMs\":{}}}", now.as_millis());
    println!("{text}");
    let _ = fs::write("/dev/termination-log", text);
}
