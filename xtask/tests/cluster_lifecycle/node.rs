//! A node of the tests' own, in a folder of its own.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;

use crate::machine::{cgroups, processes_in, processes_of};

const XTASK: &str = env!("CARGO_BIN_EXE_xtask");

pub(crate) struct Node {
    pub(crate) folder: PathBuf,
    _parent: TempDir,
}

impl Node {
    /// A node that is not up yet. `name` must be no other test's.
    pub(crate) fn new(name: &str) -> Self {
        let parent = TempDir::new().unwrap();
        Self { folder: parent.path().join(format!("lifecycle-{name}")), _parent: parent }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(XTASK);
        command.arg("cluster").args(arguments.first()).arg("--dir").arg(&self.folder).args(arguments.iter().skip(1));
        command
    }

    pub(crate) fn attempt(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What the command printed; it must succeed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.attempt(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let mut all = vec!["exec", "--", "kubectl"];
        all.extend(arguments);
        self.run(&all)
    }

    pub(crate) fn status(&self) -> serde_json::Value {
        serde_json::from_slice(&self.attempt(&["status", "-o", "json"]).stdout).unwrap()
    }

    /// The process number of a component on this machine.
    pub(crate) fn component(&self, name: &str) -> Option<u32> {
        let status = self.status();
        let component = status["components"].as_array()?.iter().find(|component| component["name"] == name)?;
        component["pid"].as_u64()?.try_into().ok()
    }

    /// What names the node's network for the kernel.
    pub(crate) fn network(&self) -> PathBuf {
        fs::read_link(self.status()["netns"].as_str().unwrap()).unwrap()
    }

    /// Starts `up` and does not wait for it.
    pub(crate) fn begin(&self) -> Child {
        self.command(&["up"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// A pod that runs until it is told to stop, and runs now.
    pub(crate) fn run_a_pod(&self, name: &str) {
        self.kubectl(&["run", name, "--image=localhost/pause:1", "--image-pull-policy=Never", "--restart=Never"]);
        self.kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", &format!("pod/{name}")]);
    }

    /// Nothing with the node's name or in its network is there.
    pub(crate) fn assert_gone(&self, network: Option<&PathBuf>) {
        assert_eq!(processes_of(&self.folder), Vec::<u32>::new(), "processes");
        if let Some(network) = network {
            until("the network to be empty", || processes_in(network).is_empty());
        }
        let prefix = format!("anchorhold-{}-", self.folder.file_name().unwrap().to_str().unwrap());
        assert_eq!(cgroups(&prefix), Vec::<PathBuf>::new(), "cgroups");
        assert!(!self.folder.exists(), "files");
    }
}

impl Drop for Node {
    /// A failed test leaves no node behind, either.
    fn drop(&mut self) {
        let _ = self.attempt(&["down"]);
    }
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}\n{}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < deadline, "gave up waiting for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
