//! A job in a fresh folder: its sources, its output folder and its plan.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use anchorhold_plan::{
    Gate, JobIdentity, KernelTool, Limits, OutputVolume, PLAN_VERSION, Program, RecordOptions, RunPlan, RunResult,
    Source, ToolCaller,
};
use anchorhold_runner::kernel::roots::Roots;
use anchorhold_runner::kernel::shell::Shell;
use anchorhold_runner::kernel::{Allowance, Cancel, Kernel};
use anchorhold_runner::record::{Event, Line};
use anchorhold_runner::tool::{ToolError, ToolOutput};
use serde_json::Value;
use tempfile::TempDir;

pub struct Job {
    pub folder: TempDir,
    pub plan: RunPlan,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    /// The termination message.
    pub result: Option<RunResult>,
    pub record: Vec<Line>,
    pub stderr: String,
}

impl Job {
    /// A job with one source, `app`, that holds `main.rs`.
    pub fn new() -> Self {
        Self::with_sources(&["app"])
    }

    pub fn with_sources(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        for name in names.iter().chain(&["out"]) {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let plan = RunPlan {
            version: PLAN_VERSION,
            job: JobIdentity { namespace: "local".into(), name: "test".into(), uid: String::new() },
            program: Program::Script { source: "return 1".into() },
            sources: names.iter().map(|name| Source { name: (*name).into(), path: at(name) }).collect(),
            output: OutputVolume { path: at("out"), size_limit_bytes: 1 << 20 },
            tools: KernelTool::granted(None),
            limits: Limits::default(),
            gate: Gate::NoCluster,
            record: RecordOptions { content: true },
        };
        let job = Self { folder, plan };
        for name in names {
            job.file(&format!("{name}/main.rs"), "fn main() {}\n");
        }
        job
    }

    pub fn script(mut self, source: &str) -> Self {
        self.plan.program = Program::Script { source: source.into() };
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(name)).unwrap();
    }

    /// The tools over this job's folders.
    pub fn kernel(&self) -> Kernel {
        Kernel::new(Arc::new(Roots::open_all(&self.plan).unwrap()))
    }

    /// The same with a shell, confined as in a run; what it writes and nobody keeps goes to the folder `tmp`.
    pub fn kernel_with_shell(&self) -> Kernel {
        self.kernel().with_shell(self.shell())
    }

    pub fn shell(&self) -> Shell {
        let scratch = self.path("tmp");
        fs::create_dir_all(&scratch).unwrap();
        let shell = Shell::new(&self.plan, env!("CARGO_BIN_EXE_anchorhold-runner"), scratch);
        shell.with_guarded_git(&self.path("bin")).unwrap()
    }

    /// What a tool tells a script: text as it is, a value as JSON, or `code: message`.
    pub fn call(&self, tool: KernelTool, arguments: Value) -> String {
        told(self.kernel().call(tool, arguments, &allowance(ToolCaller::Script)))
    }

    /// What a tool tells a model.
    pub fn call_by_model(&self, tool: KernelTool, arguments: Value) -> String {
        told(self.kernel().call(tool, arguments, &allowance(ToolCaller::Model)))
    }

    /// A tool's structured answer.
    pub fn value(&self, tool: KernelTool, mut arguments: Value) -> Value {
        arguments["output"] = "json".into();
        match self.kernel().call(tool, arguments, &allowance(ToolCaller::Script)) {
            Ok(ToolOutput::Json(value)) => value,
            other => panic!("{other:?}"),
        }
    }

    /// Starts the real runner.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let text = serde_json::to_string(&self.plan).unwrap();
        fs::write(self.path("plan.json"), text).unwrap();
        self.command(arguments).spawn().unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anchorhold-runner"));
        command
            .arg("--plan")
            .arg(self.path("plan.json"))
            .arg("--termination-log")
            .arg(self.path("termination"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the real runner to its end.
    pub fn run(&self) -> Ended {
        self.run_with(&[])
    }

    pub fn run_with(&self, arguments: &[&str]) -> Ended {
        self.ended(self.spawn(arguments).wait_with_output().unwrap())
    }

    pub fn ended(&self, output: Output) -> Ended {
        let message = fs::read_to_string(self.path("termination")).unwrap_or_default();
        Ended {
            code: output.status.code(),
            result: RunResult::parse(&message),
            record: String::from_utf8(output.stdout)
                .unwrap()
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// The result, which the termination message and the last line of the record must agree on.
    pub fn result(&self) -> &RunResult {
        let result = self.result.as_ref().expect("there is a termination message");
        match self.record.last().map(|line| &line.event) {
            Some(Event::RunEnded(ended)) => assert_eq!(&ended.result, result),
            other => panic!("the record ends with {other:?}"),
        }
        result
    }

    /// What the script returned and printed.
    pub fn text(&self) -> &str {
        &self.result().text
    }
}

pub fn allowance(caller: ToolCaller) -> Allowance {
    Allowance { caller, result_bytes: 16 << 20, cancel: Cancel::default() }
}

pub fn told(result: Result<ToolOutput, ToolError>) -> String {
    match result {
        Ok(ToolOutput::Text(text)) => text,
        Ok(ToolOutput::Json(value)) => value.to_string(),
        Err(error) => format!("{}: {error}", error.code()),
    }
}
