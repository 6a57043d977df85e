//! `/healthz`, `/readyz` and `/metrics`: one short answer a connection.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use prometheus_client::registry::Registry;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::metrics::render;

/// More clients than a kubelet and a few Prometheus servers wait their turn.
const CONNECTIONS: usize = 32;
/// A connection that has not been answered by then is closed.
const CONNECTION_DEADLINE: Duration = Duration::from_secs(10);
/// Accepting fails when file descriptors run out; at once it would fail again.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);
/// The text format `prometheus_client` writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How far this replica has come. Shared between the one who works and the one who answers.
#[derive(Debug, Default)]
pub struct Readiness(AtomicU8);

/// The stages of a replica's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// The API server has not answered yet.
    Starting = 0,
    /// Another replica holds the Lease; this one would take over.
    Standby = 1,
    /// This replica holds the Lease and fills its stores.
    Syncing = 2,
    /// This replica reconciles.
    Reconciling = 3,
    /// The signal to stop has come.
    Stopping = 4,
}

impl Readiness {
    /// Moves on.
    pub fn set(&self, stage: Stage) {
        self.0.store(stage as u8, Ordering::Relaxed);
    }

    /// Where it stands.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.0.load(Ordering::Relaxed) {
            1 => Stage::Standby,
            2 => Stage::Syncing,
            3 => Stage::Reconciling,
            4 => Stage::Stopping,
            _ => Stage::Starting,
        }
    }
}

/// Serves until the future is dropped.
pub async fn serve(listener: TcpListener, readiness: Arc<Readiness>, registry: Arc<Registry>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // The semaphore is never closed.
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (readiness, registry) = (Arc::clone(&readiness), Arc::clone(&registry));
                connections.spawn(async move {
                    answer_connection(stream, &readiness, &registry).await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "failed to accept an HTTP connection");
                tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn answer_connection(stream: TcpStream, readiness: &Readiness, registry: &Registry) {
    let service = service_fn(|request: Request<Incoming>| {
        let response = answer(request.method(), request.uri().path(), readiness.stage(), registry);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // Whatever ends it early is the client's affair.
    let _: Result<Result<(), hyper::Error>, _> = tokio::time::timeout(CONNECTION_DEADLINE, connection).await;
}

fn answer(method: &Method, path: &str, stage: Stage, registry: &Registry) -> Response<String> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return text(StatusCode::METHOD_NOT_ALLOWED, "only GET is served here\n");
    }
    match path {
        "/healthz" => text(StatusCode::OK, "ok\n"),
        "/readyz" => match stage {
            Stage::Reconciling => text(StatusCode::OK, "reconciling\n"),
            Stage::Standby => text(StatusCode::OK, "standby: another replica reconciles\n"),
            Stage::Starting => text(StatusCode::SERVICE_UNAVAILABLE, "starting: the API server has not answered yet\n"),
            Stage::Syncing => text(StatusCode::SERVICE_UNAVAILABLE, "syncing: the stores are being filled\n"),
            Stage::Stopping => text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
        },
        "/metrics" => match render(registry) {
            Ok(rendered) => {
                let mut response = Response::new(rendered);
                response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(OPEN_METRICS));
                response
            }
            Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "failed to render the metrics\n"),
        },
        _ => text(StatusCode::NOT_FOUND, "served here: /healthz /readyz /metrics\n"),
    }
}

fn text(status: StatusCode, body: &str) -> Response<String> {
    let mut response = Response::new(body.to_owned());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::metrics::Metrics;

    fn get(path: &str, stage: Stage) -> (u16, String) {
        let (_, registry) = Metrics::new();
        let response = answer(&Method::GET, path, stage, &registry);
        (response.status().as_u16(), response.into_body())
    }

    #[test]
    fn a_standby_is_ready_and_a_syncing_leader_is_not() {
        assert_eq!(get("/readyz", Stage::Standby).0, 200);
        assert_eq!(get("/readyz", Stage::Reconciling).0, 200);
        for stage in [Stage::Starting, Stage::Syncing, Stage::Stopping] {
            assert_eq!(get("/readyz", stage).0, 503, "{stage:?}");
            assert_eq!(get("/healthz", stage).0, 200, "{stage:?}");
        }
    }

    #[test]
    fn what_is_not_served_says_what_is() {
        assert_eq!(get("/", Stage::Starting), (404, "served here: /healthz /readyz /metrics\n".into()));
        let (_, registry) = Metrics::new();
        assert_eq!(answer(&Method::POST, "/healthz", Stage::Starting, &registry).status(), 405);
    }

    #[test]
    fn a_stage_is_read_as_it_was_set() {
        let readiness = Readiness::default();
        for stage in [Stage::Starting, Stage::Standby, Stage::Syncing, Stage::Reconciling, Stage::Stopping] {
            readiness.set(stage);
            assert_eq!(readiness.stage(), stage);
        }
    }

    #[tokio::test]
    async fn metrics_are_served_over_a_real_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (metrics, registry) = Metrics::new();
        metrics.set_leader(true);
        let server = tokio::spawn(serve(listener, Arc::default(), Arc::new(registry)));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: operator\r\n\r\n").await.unwrap();
        let mut received = String::new();
        stream.read_to_string(&mut received).await.unwrap();
        server.abort();
        assert!(received.starts_with("HTTP/1.1 200 OK\r\n"), "{received}");
        assert!(received.contains(OPEN_METRICS) && received.contains("\nanchorhold_leader 1\n"), "{received}");
    }
}
