//! What the operator counts. Every name is in this file:
//!
//! | name | type | labels | meaning |
//! |---|---|---|---|
//! | `anchorhold_build_info` | gauge | `version` | 1 |
//! | `anchorhold_leader` | gauge | | 1 while this replica reconciles |
//! | `anchorhold_objects` | gauge | `kind` | objects in the stores |
//! | `anchorhold_reconcile_duration_seconds` | histogram | `kind` | duration of each reconcile |
//! | `anchorhold_reconcile_failures_total` | counter | `kind`, `reason` | reconciles that did not finish |
//! | `anchorhold_watch_errors_total` | counter | `kind` | watches that broke and were resumed |
//! | `anchorhold_attempts_started_total` | counter | | pods created |
//! | `anchorhold_jobs_finished_total` | counter | `reason` | Jobs that ended; `Completed` or the reason of their failure |
//!
//! Labels are closed lists: never the name of an object, never a message.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// The kinds that are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Kind {
    /// Ours.
    Job,
    /// Ours.
    Agent,
    /// Ours.
    McpServer,
    /// The pods of our jobs.
    Pod,
}

impl Kind {
    /// Every watched kind.
    pub const ALL: [Self; 4] = [Self::Job, Self::Agent, Self::McpServer, Self::Pod];

    /// The kind as a manifest spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Job => "Job",
            Self::Agent => "Agent",
            Self::McpServer => "McpServer",
            Self::Pod => "Pod",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    kind: Kind,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

/// The counters. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Metrics {
    leader: Gauge,
    objects: Family<KindLabel, Gauge>,
    reconcile_duration: Family<KindLabel, Histogram>,
    reconcile_failures: Family<FailureLabels, Counter>,
    watch_errors: Family<KindLabel, Counter>,
    attempts_started: Counter,
    jobs_finished: Family<ReasonLabel, Counter>,
}

impl Metrics {
    /// The counters, all at zero, and the registry that prints them.
    #[must_use]
    pub fn new() -> (Self, Registry) {
        let metrics = Self {
            leader: Gauge::default(),
            objects: Family::default(),
            // From a reconcile that has nothing to do to one that runs into its deadline.
            reconcile_duration: Family::new_with_constructor(|| {
                Histogram::new([0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0])
            }),
            reconcile_failures: Family::default(),
            watch_errors: Family::default(),
            attempts_started: Counter::default(),
            jobs_finished: Family::default(),
        };
        let Self {
            leader,
            objects,
            reconcile_duration,
            reconcile_failures,
            watch_errors,
            attempts_started,
            jobs_finished,
        } = metrics.clone();
        let mut registry = Registry::with_prefix("anchorhold");
        registry.register("build", "The version of this operator", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        registry.register("leader", "1 while this replica reconciles", leader);
        registry.register("objects", "Objects in the stores", objects);
        registry.register_with_unit(
            "reconcile_duration",
            "Duration of each reconcile",
            Unit::Seconds,
            reconcile_duration,
        );
        registry.register("reconcile_failures", "Reconciles that did not finish", reconcile_failures);
        registry.register("watch_errors", "Watches that broke and were resumed", watch_errors);
        registry.register("attempts_started", "Pods created", attempts_started);
        registry.register("jobs_finished", "Jobs that ended, by reason", jobs_finished);
        for kind in Kind::ALL {
            metrics.set_objects(kind, 0);
        }
        (metrics, registry)
    }

    /// Whether this replica reconciles.
    pub fn set_leader(&self, leader: bool) {
        self.leader.set(leader.into());
    }

    /// How many objects of a kind the stores hold.
    pub fn set_objects(&self, kind: Kind, count: usize) {
        self.objects.get_or_create(&KindLabel { kind }).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// A reconcile ended, well or not.
    pub fn reconciled(&self, kind: Kind, duration: Duration) {
        self.reconcile_duration.get_or_create(&KindLabel { kind }).observe(duration.as_secs_f64());
    }

    /// A reconcile did not finish.
    pub fn reconcile_failed(&self, kind: Kind, reason: &'static str) {
        self.reconcile_failures.get_or_create(&FailureLabels { kind, reason }).inc();
    }

    /// A watch broke.
    pub fn watch_failed(&self, kind: Kind) {
        self.watch_errors.get_or_create(&KindLabel { kind }).inc();
    }

    /// A pod was created for a job.
    pub fn attempt_started(&self) {
        self.attempts_started.inc();
    }

    /// A Job ended: `Completed`, or the reason of its failure.
    pub fn job_finished(&self, reason: &'static str) {
        self.jobs_finished.get_or_create(&ReasonLabel { reason }).inc();
    }
}

/// The text a Prometheus server reads.
pub fn render(registry: &Registry) -> Result<String, std::fmt::Error> {
    let mut rendered = String::new();
    text::encode(&mut rendered, registry)?;
    Ok(rendered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_table_is_rendered() {
        let (metrics, registry) = Metrics::new();
        metrics.set_leader(true);
        metrics.set_objects(Kind::Job, 3);
        metrics.reconciled(Kind::Job, Duration::from_millis(3));
        metrics.reconcile_failed(Kind::Agent, "ApiForbidden");
        metrics.watch_failed(Kind::Pod);
        metrics.attempt_started();
        metrics.job_finished("Completed");
        let rendered = render(&registry).unwrap();
        for line in [
            concat!("anchorhold_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
            "anchorhold_leader 1",
            "anchorhold_objects{kind=\"Job\"} 3",
            "anchorhold_reconcile_duration_seconds_count{kind=\"Job\"} 1",
            "anchorhold_reconcile_failures_total{kind=\"Agent\",reason=\"ApiForbidden\"} 1",
            "anchorhold_watch_errors_total{kind=\"Pod\"} 1",
            "anchorhold_attempts_started_total 1",
            "anchorhold_jobs_finished_total{reason=\"Completed\"} 1",
        ] {
            assert!(rendered.lines().any(|rendered| rendered == line), "{line} is missing in:\n{rendered}");
        }
    }
}
