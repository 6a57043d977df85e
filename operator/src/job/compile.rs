//! From a validated job to the plan its runner executes. The only place where a spec's field becomes a plan's. Pure and
//! total.

use anchorhold_plan::{
    Gate, JobIdentity, OUT, OutputVolume, PLAN_VERSION, Program, RecordOptions, RunPlan, Source, WORKSPACE,
};

use super::validate::ValidatedJob;

/// Compiles the plan of an attempt: the same for each, unless the Agent or the installation has changed in between.
pub(crate) fn compile(job: &ValidatedJob, gate: Gate) -> RunPlan {
    RunPlan {
        version: PLAN_VERSION,
        job: JobIdentity { namespace: job.namespace.clone(), name: job.name.clone(), uid: job.uid.clone() },
        program: Program::Script { source: job.script.clone() },
        sources: job
            .sources
            .iter()
            .map(|source| Source { name: source.name.clone(), path: format!("{WORKSPACE}/{}", source.name) })
            .collect(),
        output: OutputVolume { path: OUT.into(), size_limit_bytes: job.output.size_limit_bytes },
        tools: job.tools.clone(),
        limits: job.limits.clone(),
        gate,
        record: RecordOptions::default(),
    }
}
