//! A relay between an operator and the API server that kills the operator at a chosen request.
//!
//! It stands in for nothing: every request goes to the real API server. It counts the operator's writes and sends SIGKILL
//! either before one is passed on or after the server has answered it, so that each step of the pipeline is the last one
//! the operator took.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustix::process::{Pid, Signal, kill_process};

/// When the operator is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The server never sees the request.
    BeforeRequest(usize),
    /// The server has done it; the operator never learns.
    AfterRequest(usize),
    /// Not at all.
    Never,
}

/// A running relay.
pub struct Relay {
    /// Where the operator finds its API server.
    pub address: SocketAddr,
    state: Arc<Shared>,
    serving: tokio::task::JoinHandle<()>,
}

struct Shared {
    upstream: SocketAddr,
    client: Client<HttpConnector, Body>,
    user: HeaderValue,
    moment: Moment,
    writes: AtomicUsize,
    victim: AtomicI32,
    struck: AtomicUsize,
}

impl Relay {
    /// Starts on a free port of loopback; requests are made as `user`.
    pub async fn start(upstream: SocketAddr, user: &str, moment: Moment) -> Self {
        let state = Arc::new(Shared {
            upstream,
            client: Client::builder(TokioExecutor::new()).build_http(),
            user: HeaderValue::from_str(user).expect("a user's name"),
            moment,
            writes: AtomicUsize::new(0),
            victim: AtomicI32::new(0),
            struck: AtomicUsize::new(0),
        });
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let router = Router::new().fallback(pass).with_state(state.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.expect("the relay serves") });
        Self { address, state, serving }
    }

    /// Names the process to kill.
    pub fn aim(&self, pid: u32) {
        self.state.victim.store(i32::try_from(pid).expect("a process id"), Ordering::SeqCst);
    }

    /// Whether it has killed.
    #[must_use]
    pub fn has_struck(&self) -> bool {
        self.state.struck.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn pass(State(state): State<Arc<Shared>>, mut request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    // Leases and Events are not steps of the pipeline.
    let write = request.method() != Method::GET && !path.contains("/leases") && !path.contains("/events");
    let number = if write { state.writes.fetch_add(1, Ordering::SeqCst) } else { usize::MAX };
    if state.moment == Moment::BeforeRequest(number) && write {
        return strike(&state);
    }
    let uri = format!("http://{}{path}", state.upstream);
    *request.uri_mut() = uri.parse::<Uri>().expect("a path of the API");
    request.headers_mut().insert("impersonate-user", state.user.clone());
    for group in ["system:serviceaccounts", "system:authenticated"] {
        request.headers_mut().append("impersonate-group", HeaderValue::from_static(group));
    }
    request.headers_mut().remove("host");
    match state.client.request(request).await {
        Ok(_) if state.moment == Moment::AfterRequest(number) && write => strike(&state),
        Ok(response) => response.map(Body::new),
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

fn strike(state: &Shared) -> Response {
    if let Some(pid) = Pid::from_raw(state.victim.load(Ordering::SeqCst)) {
        kill_process(pid, Signal::KILL).expect("the operator is alive");
        state.struck.fetch_add(1, Ordering::SeqCst);
    }
    StatusCode::BAD_GATEWAY.into_response()
}
