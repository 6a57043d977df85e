//! What came out, as ratios within the run, and whether each reached its goal.

use std::collections::BTreeMap;

use crate::measure::Kind;

#[derive(Default)]
pub(crate) struct Table {
    starts: BTreeMap<(&'static str, Kind), Vec<u64>>,
    requests: BTreeMap<Kind, f64>,
    bursts: BTreeMap<Kind, (usize, f64, f64)>,
    idle_mb: f64,
}

impl Table {
    pub(crate) fn start(&mut self, gate: &'static str, kind: Kind, milliseconds: u64) {
        eprintln!("{gate}: {}: {milliseconds} ms", kind.name());
        self.starts.entry((gate, kind)).or_default().push(milliseconds);
    }

    pub(crate) fn requests(&mut self, kind: Kind, each: f64) {
        eprintln!("{}: {each:.1} API requests each", kind.name());
        self.requests.insert(kind, each);
    }

    pub(crate) fn burst(&mut self, kind: Kind, count: usize, seconds: f64, requests: f64) {
        eprintln!("{count} x {}: {seconds:.1} s, {requests:.1} requests each", kind.name());
        self.bursts.insert(kind, (count, seconds, requests));
    }

    pub(crate) fn idle_operator(&mut self, megabytes: f64) {
        self.idle_mb = megabytes;
    }

    pub(crate) fn print(&self) {
        println!("\n| create to the first line | n | p50 ms | p90 ms |\n|---|---|---|---|");
        for ((gate, kind), times) in &self.starts {
            println!(
                "| {}, {gate} | {} | {} | {} |",
                kind.name(),
                times.len(),
                quantile(times, 50),
                quantile(times, 90)
            );
        }
        for (kind, each) in &self.requests {
            println!("\n{}, one at a time: {each:.1} API requests each", kind.name());
        }
        for (kind, (count, seconds, requests)) in &self.bursts {
            println!("\n{count} x {}: {seconds:.1} s, {requests:.1} API requests each", kind.name());
        }
        println!("\n| goal | measured | reached |\n|---|---|---|");
        let median = |gate, kind| self.starts.get(&(gate, kind)).map_or(f64::NAN, |times| float(quantile(times, 50)));
        let start = median("gate assumed", Kind::Job) / median("gate assumed", Kind::PodOfTwo);
        goal("start, gate assumed, / bare pod of two containers <= 1.15", start, 1.15);
        let burst = |kind| self.bursts.get(&kind).copied().unwrap_or((0, f64::NAN, f64::NAN));
        goal("a burst / as many batch/v1 Jobs <= 1.1", burst(Kind::Job).1 / burst(Kind::BatchJob).1, 1.1);
        let requests = |kind| self.requests.get(&kind).copied().unwrap_or(f64::NAN);
        goal("API requests a Job <= 26", requests(Kind::Job), 26.0);
        goal("in a burst / those of a batch/v1 Job <= 1.1", burst(Kind::Job).2 / burst(Kind::BatchJob).2, 1.1);
        goal("operator idle, MB <= 25", self.idle_mb, 25.0);
        let gate = median("gate probed", Kind::Job) - median("gate assumed", Kind::Job);
        println!("| the gate adds, ms (the policy engine's own delay; see docs/performance.md) | {gate:.0} | |");
    }
}

fn goal(name: &str, measured: f64, at_most: f64) {
    println!("| {name} | {measured:.2} | {} |", if measured <= at_most { "yes" } else { "NO" });
}

fn quantile(times: &[u64], percent: usize) -> u64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a bench are far below 2^52")]
fn float(milliseconds: u64) -> f64 {
    milliseconds as f64
}
