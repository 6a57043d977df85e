//! From a job and its agent to the plan its runner executes on this machine. Total: everything was checked before.

use anchorhold_crds::quantity;
use anchorhold_plan::{
    Gate, JobIdentity, KernelTool, Limits, OutputVolume, PLAN_VERSION, Program, RecordOptions, RunPlan, Source,
};

use super::select::Selected;

/// The plan, as the operator would make it but for where folders lie and for the network's gate.
pub(super) fn compile(selected: &Selected<'_>, sources: Vec<Source>, output: String) -> RunPlan {
    let Selected { object, job, agent, script } = *selected;
    let unsigned = |value: i64| u64::try_from(value).unwrap_or(0);
    RunPlan {
        version: PLAN_VERSION,
        job: JobIdentity {
            namespace: object.identity.namespace.clone().unwrap_or_else(|| "local".to_owned()),
            name: object.identity.name.clone(),
            uid: String::new(),
        },
        program: Program::Script { source: script.to_owned() },
        sources,
        output: OutputVolume {
            path: output,
            // The rules of the schema hold: it is a positive amount.
            size_limit_bytes: quantity::whole(&job.spec.output.size_limit).unwrap_or(0),
        },
        tools: KernelTool::granted(agent.spec.tools.as_deref()),
        limits: Limits::of_script_job(
            unsigned(agent.spec.limits.timeout_seconds),
            agent.spec.limits.tool_calls.map(unsigned),
            job.spec.active_deadline_seconds.map(unsigned),
        ),
        gate: Gate::NoCluster,
        // The record stays on this machine, and the calls are shown with what they were asked.
        record: RecordOptions { content: true },
    }
}
