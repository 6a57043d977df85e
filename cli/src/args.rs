//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::exit::EXIT_CODES;

/// Runs and checks Anchorhold jobs without a cluster.
#[derive(Debug, Parser)]
#[command(name = "anchorhold", version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArgs),
    Validate(ValidateArgs),
    Report(ReportArgs),
    Version(VersionArgs),
    Completion(CompletionArgs),
    Runner(RunnerArgs),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Human,
    /// One JSON document on standard output, and nothing else there.
    Json,
}

/// Run one job of these manifests on this machine, without a cluster
///
/// The job runs in processes of its own, confined by Landlock and seccomp: it sees its sources, writes to its output
/// folder, and has no network. Its result is printed on standard output; on a terminal its calls are shown on standard
/// error as they happen.
///
/// Sources that live in a cluster need a folder of this machine: --source NAME=PATH, or an annotation of the Job,
/// `anchorhold.dev/local-source.NAME: PATH`, relative to the manifest's file. A ConfigMap is taken from the manifests.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  anchorhold run examples/quickstart\n",
    "  anchorhold run job.yaml agent.yaml --source app=~/src/app\n",
    "  anchorhold run . --job nightly -o json | jq -r .text\n",
    "  anchorhold run . --out ./result --record ./record.jsonl\n\n",
    "Exit codes:\n",
    "  0    the job completed\n",
    "  1    the job ran and failed\n",
    "  2    the command line or the manifests are wrong; nothing was run\n",
    "  3    this kernel cannot confine the job; nothing was run\n",
    "  130  interrupted",
))]
pub(crate) struct RunArgs {
    /// Manifests: files, folders (every *.yaml, *.yml and *.json beneath), or - for standard input
    #[arg(required = true, value_name = "DIR|FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// The Job to run, when the manifests hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) job: Option<String>,
    /// A folder of this machine to use for a source of the job; may be given for each
    #[arg(long = "source", value_name = "NAME=PATH", value_parser = parse_source)]
    pub(crate) sources: Vec<(String, PathBuf)>,
    /// Where the job's /out is kept; must be empty or new [default: a folder that is removed at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// A file to keep the job's record in (JSON lines)
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Run although this kernel cannot confine the job; it then sees and reaches what you can
    #[arg(long)]
    pub(crate) unconfined: bool,
    /// How the result is printed
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Output,
}

/// Check manifests offline, as the API server and the operator would
///
/// Each finding names file, line, column and field, and says what to do. Objects of other kinds are left alone. An
/// Agent, McpServer or ConfigMap that is named and not in these files is a warning: it may exist in the cluster. Claims,
/// Secrets and images are not looked for.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  anchorhold validate deploy/\n",
    "  kustomize build overlays/prod | anchorhold validate -\n",
    "  anchorhold validate --strict -o json job.yaml agent.yaml\n\n",
    "Exit codes:\n",
    "  0    no errors (with --strict: no warnings either)\n",
    "  2    the command line or a manifest is wrong",
))]
pub(crate) struct ValidateArgs {
    /// Manifests: files, folders (every *.yaml, *.yml and *.json beneath), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Warnings count as errors: every Agent, McpServer and ConfigMap that is named must be in these files
    #[arg(long)]
    pub(crate) strict: bool,
    /// How findings are printed
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Output,
}

/// Make one page of a run's record
///
/// The page is a single HTML file that loads and runs nothing: what was called, when, for how long, what was blocked and
/// cut, and the files that were written. Arguments and results are in it as far as they are in the record.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  anchorhold run examples/quickstart --record record.jsonl; anchorhold report record.jsonl --out report.html\n",
    "  kubectl logs find-todos-0 | anchorhold report - --out report.html\n\n",
    "Exit codes:\n",
    "  0    the page was written\n",
    "  2    the command line is wrong, or there is no record",
))]
pub(crate) struct ReportArgs {
    /// A record (JSON lines): a file, or - for standard input
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,
    /// Where the page is written [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Print the version
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  anchorhold version\n  anchorhold version -o json")]
pub(crate) struct VersionArgs {
    /// How the version is printed
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Output,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  source <(anchorhold completion bash)\n",
    "  anchorhold completion zsh > ~/.zfunc/_anchorhold\n",
    "  anchorhold completion fish > ~/.config/fish/completions/anchorhold.fish",
))]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Execute a plan; `anchorhold run` starts itself so.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct RunnerArgs {
    /// The process it ends with.
    #[arg(long)]
    pub(crate) parent: u32,
    /// The plan's file.
    #[arg(long)]
    pub(crate) plan: PathBuf,
    /// Do without confinement.
    #[arg(long)]
    pub(crate) unconfined: bool,
}

fn parse_source(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), path.into())),
        _ => Err("write it as NAME=PATH".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
