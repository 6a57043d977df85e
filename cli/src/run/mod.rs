//! `anchorhold run`: the manifests of a job, run on this machine.
//!
//! The same plan, the same runner and the same confinement as in a pod; what a cluster would mount are folders here. In
//! order: check the manifests, choose the job, find its folders, compile the plan, start the runner, follow its record,
//! print the result.

mod child;
mod compile;
mod follow;
mod output;
mod refusal;
mod result;
mod select;
pub(crate) mod show;
mod sources;

use std::fs::{self, File};
use std::io::{self, BufRead, IsTerminal, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use anchorhold_plan::{Outcome, RunPlan};
use anchorhold_runner::record::{LINE_MAX_BYTES, Line};
use tempfile::TempDir;

pub(crate) use child::follow_parent;

use crate::args::{Output, RunArgs};
use crate::exit::Exit;
use crate::finding::Severity;
use crate::validate::{self, Checked};
use child::Ended;
use follow::{Followed, Follower};
use refusal::Refusal;
use result::Summary;
use select::Selected;

/// Bytes of what the runner said on standard error that are worth telling.
const LAST_WORDS_BYTES: u64 = 2_000;

/// Runs the job and prints its result.
pub(crate) fn run(args: &RunArgs) -> io::Result<Exit> {
    let checked = validate::check(&args.paths);
    if checked.count(Severity::Error) > 0 {
        for finding in checked.findings.iter().filter(|finding| finding.severity == Severity::Error) {
            say!("{finding}");
        }
        return Ok(Exit::Usage);
    }
    match prepare_and_run(args, &checked) {
        Ok(exit) => Ok(exit),
        Err(Failure::Refused(refusal)) => {
            say!("{refusal}");
            Ok(Exit::Usage)
        }
        Err(Failure::Output(error)) => Err(error),
    }
}

/// Why there is no result.
enum Failure {
    /// Nothing was run.
    Refused(Refusal),
    /// Standard output, or the file of the record, does not take what is written.
    Output(io::Error),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

fn prepare_and_run(args: &RunArgs, checked: &Checked) -> Result<Exit, Failure> {
    let selected = select::select(checked, args.job.as_deref())?;
    let scratch = scratch()?;
    let sources = sources::resolve(checked, &selected, &args.sources, scratch.path())?;
    let out = output::prepare(args.out.as_deref(), scratch.path())?;
    let Some(out_text) = out.to_str() else {
        return Err(Refusal::from(format!("--out {}: the path is not UTF-8; name another", out.display())).into());
    };
    let plan = compile::compile(&selected, sources, out_text.to_owned());
    let record = args.record.as_deref().map(create_record).transpose()?;
    let (ended, followed) = execute(args, &plan, scratch.path(), record)?;
    let result = &followed.result;
    let summary = Summary {
        job: &plan.job.name,
        outcome: result.outcome.unwrap_or(Outcome::Internal),
        interrupted: ended.interrupted,
        message: &result.message,
        place: place(&selected, &result.message),
        text: followed.text(),
        text_cut: result.text_bytes > followed.text().len() as u64,
        text_bytes: result.text_bytes,
        usage: result.usage,
        failed_calls: followed.failed_calls,
        duration_ms: followed.duration_ms,
        out: args.out.as_ref().map(|_| out.as_path()),
        files: &result.files,
        files_total: result.files_total,
        confined: !args.unconfined,
    };
    result::print(&summary, args.output).map_err(Failure::Output)?;
    Ok(result::exit(&ended, result))
}

/// Where in the manifest the script's error stands: its message names the line of the script.
fn place(selected: &Selected<'_>, message: &str) -> Option<String> {
    let (line, rest) = message.split_once("script.js:")?.1.split_once(':')?;
    let column = rest.split(|character: char| !character.is_ascii_digit()).next()?;
    let script = selected.object.node.get("spec")?.get("script")?;
    let at = script.place_in_text(line.parse().ok()?, column.parse().ok()?)?;
    Some(format!("{}:{}:{}", selected.object.file, at.line, at.column))
}

/// Starts the runner and follows it to its end.
fn execute(args: &RunArgs, plan: &RunPlan, scratch: &Path, record: Option<File>) -> Result<(Ended, Followed), Failure> {
    let failed = |what: &str, error: io::Error| Failure::from(Refusal::from(format!("failed to {what}: {error}")));
    let json = plan.to_json().map_err(|error| Refusal::from(error.to_string()))?;
    let plan_file = scratch.join("plan.json");
    fs::write(&plan_file, json).map_err(|error| failed("write the plan", error))?;
    let errors_file = scratch.join("errors");
    let errors = File::create(&errors_file).map_err(|error| failed("write beside the plan", error))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed("start the runtime", error))?;
    let shows = args.output == Output::Human && io::stderr().is_terminal();
    let mut follower = Follower { record, shows, calls: 0, followed: Followed::default() };
    let timeout = Duration::from_secs(plan.limits.timeout_seconds);
    let ended = runtime
        .block_on(child::run(&plan_file, args.unconfined, timeout, errors, |bytes, line| follower.take(bytes, line)))
        .map_err(|error| failed("follow the runner", error))?;
    let Follower { followed: heard, .. } = follower;
    let complete = result::complete(&ended, heard, &last_words(&errors_file));
    Ok((ended, complete))
}

/// The run's own folder, for the plan and what the job has no other folder for. Removed when it is dropped.
fn scratch() -> Result<TempDir, Refusal> {
    let made = tempfile::Builder::new().prefix("anchorhold-").tempdir();
    made.map_err(|error| format!("failed to make a temporary folder: {error}").into())
}

/// Opens the file for the record. An older record is replaced; anything else that is there stays as it is.
fn create_record(path: &Path) -> Result<File, Refusal> {
    let shown = path.display();
    let failed = |error: io::Error| Refusal::from(format!("--record {shown}: failed to create the file: {error}"));
    match fs::metadata(path) {
        Ok(there) if there.is_file() && there.len() > 0 && !is_record(path).map_err(failed)? => {
            return Err(format!("--record {shown}: the file exists and is no record; name another").into());
        }
        Ok(_) | Err(_) => {}
    }
    File::create(path).map_err(failed)
}

fn is_record(path: &Path) -> io::Result<bool> {
    let mut first = Vec::new();
    let mut input = io::BufReader::new(File::open(path)?).take(LINE_MAX_BYTES as u64);
    input.read_until(b'\n', &mut first)?;
    Ok(serde_json::from_slice::<Line>(&first).is_ok())
}

/// The end of what the runner said on standard error, in one line.
fn last_words(path: &Path) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(LAST_WORDS_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(LAST_WORDS_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    read().unwrap_or_default()
}
