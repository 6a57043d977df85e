//! How much a job may use. Every value has a default, a hard bound, and is checked when a plan is parsed.

use serde::{Deserialize, Serialize};

/// The limits of one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Seconds the whole run may take, from the runner's start. 1 to 604,800 (a week).
    pub timeout_seconds: u64,
    /// Tool calls the job may make in all, nested ones included. 1 to 1,000,000.
    pub tool_calls: u64,
    /// The limits of each script.
    pub script: ScriptLimits,
}

/// The limits of one script. A script's own `@options` may lower the deadline and the output, never raise them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptLimits {
    /// Milliseconds until the script's process is killed; waiting for a slot counts. 1 to 604,800,000.
    pub timeout_ms: u64,
    /// Output a script may return, in tokens of 4 bytes of UTF-8. At most 1,000,000.
    pub output_tokens: u64,
    /// The engine's heap, bytes. 1 MiB (below it the engine aborts while it starts) to 4 GiB.
    pub heap_bytes: u64,
    /// Scripts that run at once; more wait in order of arrival. 1 to 16.
    pub concurrent: u32,
    /// Tool calls of one script. 1 to 1,000,000.
    pub calls: u32,
    /// Tool calls of one script that are in flight; more wait. 1 to 1,024.
    pub calls_in_flight: u32,
    /// Bytes of one call's arguments as JSON. 1 KiB to 64 MiB.
    pub argument_bytes: u64,
    /// Bytes of one call's result. 1 KiB to 64 MiB.
    pub result_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout_seconds: 3600, tool_calls: 100_000, script: ScriptLimits::default() }
    }
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self {
            timeout_ms: 120_000,
            output_tokens: 8_000,
            heap_bytes: 256 << 20,
            concurrent: 2,
            calls: 10_000,
            calls_in_flight: 64,
            argument_bytes: 1 << 20,
            result_bytes: 16 << 20,
        }
    }
}

impl Limits {
    /// The limits of a job whose program is one script. The run ends at the job's own deadline, or at the agent's time-out
    /// when it has none; so does the script when the job names a deadline, and otherwise after the default 120 s at most.
    #[must_use]
    pub fn of_script_job(
        agent_timeout_seconds: u64,
        agent_tool_calls: Option<u64>,
        deadline_seconds: Option<u64>,
    ) -> Self {
        let mut limits = Self { timeout_seconds: deadline_seconds.unwrap_or(agent_timeout_seconds), ..Self::default() };
        if let Some(calls) = agent_tool_calls {
            limits.tool_calls = calls;
        }
        let whole = limits.timeout_seconds.saturating_mul(1000);
        limits.script.timeout_ms = if deadline_seconds.is_some() { whole } else { limits.script.timeout_ms.min(whole) };
        limits
    }

    /// The first value out of its bounds, as `(field path, value, lowest, highest)`.
    #[must_use]
    pub fn out_of_bounds(&self) -> Option<(&'static str, u64, u64, u64)> {
        let script = &self.script;
        [
            ("limits.timeoutSeconds", self.timeout_seconds, 1, 604_800),
            ("limits.toolCalls", self.tool_calls, 1, 1_000_000),
            ("limits.script.timeoutMs", script.timeout_ms, 1, 604_800_000),
            ("limits.script.outputTokens", script.output_tokens, 0, 1_000_000),
            ("limits.script.heapBytes", script.heap_bytes, 1 << 20, 4 << 30),
            ("limits.script.concurrent", script.concurrent.into(), 1, 16),
            ("limits.script.calls", script.calls.into(), 1, 1_000_000),
            ("limits.script.callsInFlight", script.calls_in_flight.into(), 1, 1_024),
            ("limits.script.argumentBytes", script.argument_bytes, 1 << 10, 64 << 20),
            ("limits.script.resultBytes", script.result_bytes, 1 << 10, 64 << 20),
        ]
        .into_iter()
        .find(|(_, value, lowest, highest)| value < lowest || value > highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_within_their_bounds() {
        assert_eq!(Limits::default().out_of_bounds(), None);
    }

    #[test]
    fn a_script_ends_at_the_deadline_of_its_job_or_after_two_minutes() {
        let table = [((3600, None), (3600, 120_000)), ((30, None), (30, 30_000)), ((30, Some(900)), (900, 900_000))];
        for ((agent, deadline), (timeout_seconds, timeout_ms)) in table {
            let limits = Limits::of_script_job(agent, Some(7), deadline);
            assert_eq!(
                (limits.timeout_seconds, limits.script.timeout_ms, limits.tool_calls),
                (timeout_seconds, timeout_ms, 7)
            );
            assert_eq!(limits.out_of_bounds(), None);
        }
    }

    #[test]
    fn a_heap_that_aborts_the_engine_is_named() {
        let mut limits = Limits::default();
        limits.script.heap_bytes = 1000;
        assert_eq!(limits.out_of_bounds(), Some(("limits.script.heapBytes", 1000, 1 << 20, 4 << 30)));
    }
}
