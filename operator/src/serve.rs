//! One process from its first line to its last: listen, stand by, lead, stop.

use std::hash::{BuildHasher as _, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use kube::{Client, Config};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::args::Args;
use crate::canary::{self, Canary};
use crate::context::Context;
use crate::feed::Scope;
use crate::http::{self, Readiness, Stage};
use crate::lease::Elector;
use crate::metrics::Metrics;
use crate::settings::PolicyEnforcement;
use crate::stores::Stores;
use crate::{controller, telemetry};

/// What is under way may take this long to finish after the signal to stop. A pod has 30 s by default.
const STOP_DEADLINE: Duration = Duration::from_secs(20);
/// A watch hears a bookmark about every minute, and the API server ends it after less than five. A connection that is
/// silent for longer is dead, however open it looks.
const READ_DEADLINE: Duration = Duration::from_secs(295);
/// Two threads are enough for waiting, and each costs memory.
const WORKER_THREADS: usize = 2;
/// Only name resolution blocks.
const BLOCKING_THREADS: usize = 2;

/// Runs the operator until it is told to stop. An error means that it could not start, or lost the Lease.
pub fn run(args: Args) -> anyhow::Result<()> {
    telemetry::init(&args.log_level, args.log_format)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let outcome = runtime.block_on(serve(args));
    // Whoever lost the Lease must not write another byte: nothing is waited for.
    runtime.shutdown_background();
    outcome
}

async fn serve(args: Args) -> anyhow::Result<()> {
    let settings = args.settings();
    let fixed_canaries = args.fixed_canaries()?;
    let Args {
        canary_service,
        canary_listen,
        namespace: namespaces,
        listen,
        leader_election,
        lease_namespace,
        lease_name,
        identity,
        concurrency,
        // Read by `settings` and `fixed_canaries`, or before the runtime began.
        runner_image: _,
        runner_image_pull_policy: _,
        network_policy_enforcement: _,
        canary: _,
        log_level: _,
        log_format: _,
        kubernetes_service_host: _,
        kubernetes_service_port: _,
    } = args;

    let stop = stop_signal()?;
    let readiness = Arc::new(Readiness::default());
    let (metrics, registry) = Metrics::new();
    let mut listeners = JoinSet::new();
    let listener = bind(listen, "health and metrics").await?;
    listeners.spawn(http::serve(listener, Arc::clone(&readiness), Arc::new(registry)));
    if let Some(address) = canary_listen {
        listeners.spawn(canary::serve(bind(address, "the canary").await?));
    }

    let mut config =
        Config::infer().await.context("failed to find the API server: no kubeconfig, and not in a cluster")?;
    config.read_timeout = Some(READ_DEADLINE);
    let client = Client::try_from(config).context("failed to make a client of the API server")?;
    let identity = identity.unwrap_or_else(random_identity);
    let lease_namespace = lease_namespace.unwrap_or_else(|| client.default_namespace().to_owned());
    if settings.enforcement == PolicyEnforcement::Assume {
        tracing::warn!("network policies are assumed to be enforced: no job proves it");
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), identity, %listen, ?namespaces, "started");

    let canary = Canary::new(client.clone(), fixed_canaries, canary_service);
    let (stores, writers) = Stores::new();
    let ctx = Arc::new(Context::new(client.clone(), settings, stores, canary, metrics, &identity));
    let reconcile = reconcile(Arc::clone(&ctx), Arc::clone(&readiness), stop.clone(), async move |stop| {
        controller::run(ctx, writers, Scope::all_of(&namespaces), concurrency, stop).await;
    });
    if !leader_election {
        return reconcile.await;
    }
    let mut elector = Elector::new(client, &lease_namespace, lease_name.clone(), identity);
    tokio::select! {
        () = stopped(stop.clone()) => return Ok(()),
        () = elector.acquire(|| readiness.set(Stage::Standby)) => {}
    }
    tracing::info!(lease_namespace, lease_name, "took the Lease");
    tokio::select! {
        outcome = reconcile => {
            elector.release().await;
            outcome
        }
        () = elector.hold() => bail!("lost the Lease {lease_namespace}/{lease_name}: another replica may go on"),
    }
}

/// Leads: reconciles until told to stop, and a little longer for what is under way.
async fn reconcile(
    ctx: Arc<Context>,
    readiness: Arc<Readiness>,
    stop: watch::Receiver<bool>,
    controllers: impl AsyncFnOnce(watch::Receiver<bool>),
) -> anyhow::Result<()> {
    readiness.set(Stage::Syncing);
    ctx.metrics.set_leader(true);
    let synced = async {
        if ctx.stores.ready().await {
            readiness.set(Stage::Reconciling);
            tracing::info!("the stores are filled");
        }
        std::future::pending::<()>().await;
    };
    let deadline = async {
        stopped(stop.clone()).await;
        readiness.set(Stage::Stopping);
        tracing::info!("stopping");
        tokio::time::sleep(STOP_DEADLINE).await;
    };
    let outcome = tokio::select! {
        () = controllers(stop.clone()) => {
            if *stop.borrow() { Ok(()) } else { Err(anyhow::anyhow!("a part of the operator ended that must not end")) }
        }
        () = synced => Ok(()),
        () = deadline => Err(anyhow::anyhow!("gave up on what was under way {} s after the signal to stop", STOP_DEADLINE.as_secs())),
    };
    ctx.metrics.set_leader(false);
    outcome
}

async fn bind(address: SocketAddr, what: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("failed to listen on {address} for {what}"))
}

/// Becomes true with SIGTERM or SIGINT.
fn stop_signal() -> anyhow::Result<watch::Receiver<bool>> {
    let mut terminate = signal(SignalKind::terminate()).context("failed to listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("failed to listen for SIGINT")?;
    let (stop_tx, stop_rx) = watch::channel(false);
    // Lives as long as the runtime, like the signals.
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stop_tx.send_replace(true);
        stop_tx.closed().await;
    });
    Ok(stop_rx)
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // The sender lives until every receiver is gone, so an error cannot come before a stop.
    let _: Result<_, watch::error::RecvError> = stop.wait_for(|stop| *stop).await;
}

/// A name no other process has: std seeds its hash maps from the system's randomness.
fn random_identity() -> String {
    format!("anchorhold-operator-{:016x}", RandomState::new().hash_one(std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processes_do_not_share_a_random_identity() {
        assert_ne!(random_identity(), random_identity());
    }
}
