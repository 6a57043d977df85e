//! `cargo xtask bench job-start`: from create to the script's first line, beside bare pods and batch/v1 Jobs.
//!
//! All times of one table come from one run on one node, interleaved, with a random pause between objects: the kubelet
//! looks at its containers once a second, and a fixed pause would lock onto that beat.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic, reason = "a bench that cannot go on stops")]

#[path = "job_start/measure.rs"]
mod measure;
#[path = "job_start/table.rs"]
mod table;

use anchorhold_cluster_tests::{Cluster, Installation};
use measure::{Bench, Kind};
use table::Table;

/// Objects of each kind in the sequential part.
const ROUNDS: usize = 20;
/// Objects at once in the burst.
const BURST: usize = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let rounds = number("ROUNDS", ROUNDS);
    let burst = number("BURST", BURST);
    let _ = Installation::with(&["networkPolicy.enforcement=Assume"]);
    let bench = Bench::new(Cluster::connect().await).await;
    let mut table = Table::default();
    bench.settle().await;
    table.idle_operator(measure::operator_resident_mb());
    for kind in [Kind::PodOfOne, Kind::PodOfTwo, Kind::BatchJob, Kind::Job] {
        bench.start_of(kind).await; // The first of a kind warms caches and is not counted.
    }
    for _ in 0..rounds {
        for kind in [Kind::PodOfOne, Kind::PodOfTwo, Kind::BatchJob, Kind::Job] {
            table.start("gate assumed", kind, bench.start_of(kind).await);
        }
    }
    for kind in [Kind::BatchJob, Kind::Job] {
        table.requests(kind, bench.requests_of(kind, 10).await);
    }
    for kind in [Kind::BatchJob, Kind::Job] {
        let (seconds, requests) = bench.burst(kind, burst).await;
        table.burst(kind, burst, seconds, requests);
    }
    let _ = Installation::with(&[]);
    bench.settle().await;
    bench.start_of(Kind::Job).await;
    for _ in 0..rounds {
        for kind in [Kind::PodOfTwo, Kind::Job] {
            table.start("gate probed", kind, bench.start_of(kind).await);
        }
    }
    table.print();
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
