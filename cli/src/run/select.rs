//! Which job is run, and as which agent.

use anchorhold_crds::{Agent, Job};

use super::refusal::Refusal;
use crate::validate::{Checked, Kind, Object, Typed, find};

/// The job to run with its agent. Both are valid by themselves and with each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected<'c> {
    pub(super) object: &'c Object,
    pub(super) job: &'c Job,
    pub(super) agent: &'c Agent,
    pub(super) script: &'c str,
}

/// Finds the one job, or the named one, and its agent.
pub(super) fn select<'c>(checked: &'c Checked, wanted: Option<&str>) -> Result<Selected<'c>, Refusal> {
    let jobs: Vec<&Object> = checked.objects.iter().filter(|object| object.kind == Kind::Job).collect();
    let object = match (wanted, jobs.as_slice()) {
        (None, [only]) => *only,
        (None, []) => return Err("the manifests hold no Job; name a file or folder that does".into()),
        (None, jobs) => {
            let names = names(jobs);
            return Err(format!("the manifests hold {} Jobs; choose one with --job: {names}", jobs.len()).into());
        }
        (Some(name), jobs) => match jobs.iter().filter(|object| object.identity.name == name).collect::<Vec<_>>()[..] {
            [found] => found,
            [] if jobs.is_empty() => return Err("the manifests hold no Job; name a file or folder that does".into()),
            [] => return Err(format!("no Job is called {name}; the manifests hold: {}", names(jobs)).into()),
            _ => return Err(format!("several Jobs are called {name}; name the file of the one to run").into()),
        },
    };
    let Some(Typed::Job(job)) = &object.typed else {
        return Err(Refusal::at(object, "", "is not valid"));
    };
    let name = &job.spec.agent_ref.name;
    let agent = find(&checked.objects, Kind::Agent, name, object.identity.namespace.as_deref());
    let Some(Typed::Agent(agent)) = agent.and_then(|agent| agent.typed.as_ref()) else {
        let message =
            format!("Agent {name} is not in these files: add its file to the command line, or write one (kind: Agent)");
        return Err(Refusal::at(object, "spec.agentRef.name", message));
    };
    if agent.spec.suspend {
        let message = format!("Agent {name} is suspended: set its spec.suspend to false");
        return Err(Refusal::at(object, "spec.agentRef.name", message));
    }
    if job.spec.suspend {
        return Err(Refusal::at(object, "spec.suspend", "the job is suspended: set it to false"));
    }
    if job.spec.cancel.is_some() {
        return Err(Refusal::at(object, "spec.cancel", "the job is cancelled: remove the field"));
    }
    let Some(script) = &job.spec.script else {
        return Err(Refusal::at(object, "spec.script", "is missing: only scripts are run in this version"));
    };
    Ok(Selected { object, job, agent, script })
}

fn names(jobs: &[&Object]) -> String {
    jobs.iter().map(|object| object.identity.name.as_str()).collect::<Vec<_>>().join(", ")
}
