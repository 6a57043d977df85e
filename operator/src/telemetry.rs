//! Log lines on standard error.

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;

/// What kube logs there comes back to us as an error, and is logged once more with what was attempted. A directive of the
/// user for the same target wins.
const QUIET: &str = "kube_client::client::builder=off,kube_runtime::watcher=error";

/// Starts logging. Called once, before anything is worth a line.
pub fn init(level: &str, format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(format!("{QUIET},{level}"))
        .with_context(|| format!("failed to read --log-level \"{level}\""))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    }
    .map_err(|error| anyhow::anyhow!("failed to start logging: {error}"))
}
