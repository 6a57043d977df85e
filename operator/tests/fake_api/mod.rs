//! An API server that keeps objects in a map, logs what it is asked, and fails on request. It stands for the real one
//! only where that shows no such failure on request: everything else is shown on a real cluster.

#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed expectation is a failed test")]

pub mod operator;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::Json;
use serde_json::{Value, json};

/// A running fake. It ends with the runtime of its test.
#[derive(Clone)]
pub struct FakeApi {
    state: Arc<Mutex<World>>,
    address: SocketAddr,
}

#[derive(Default)]
struct World {
    /// By `plural/name`.
    objects: BTreeMap<String, Value>,
    log: Vec<String>,
    faults: Vec<Fault>,
    version: u64,
}

/// One answer that is not what the map says.
pub struct Fault {
    /// The request it answers, as in the log.
    pub request: &'static str,
    /// The HTTP status.
    pub code: u16,
    /// The reason in the body.
    pub reason: &'static str,
    /// The message in the body.
    pub message: &'static str,
    /// Whether the write takes place all the same: the answer is lost, not the request.
    pub lost: bool,
}

impl FakeApi {
    /// Starts on a port of its own.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Self { state: Arc::default(), address: listener.local_addr().unwrap() };
        let router = Router::new().fallback(answer).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        fake
    }

    /// A client without retries, so that a failure is seen as often as it was asked for.
    pub fn client(&self) -> kube::Client {
        let config = kube::Config::new(format!("http://{}", self.address).parse().unwrap());
        kube::client::ClientBuilder::try_from(config).unwrap().build()
    }

    /// The address that answers connections; good for a canary, too.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts an object there as if somebody else had.
    pub fn put(&self, plural: &str, mut object: Value) {
        let mut world = self.world();
        world.version += 1;
        object["metadata"]["resourceVersion"] = world.version.to_string().into();
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        world.objects.insert(format!("{plural}/{name}"), object);
    }

    /// Changes an object as if somebody else had.
    pub fn change(&self, key: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(key).unwrap();
        change(&mut object);
        self.put(key.split('/').next().unwrap(), object);
    }

    /// Takes an object away as if somebody else had.
    pub fn take(&self, key: &str) -> Option<Value> {
        self.world().objects.remove(key)
    }

    /// The object at `plural/name`.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.world().objects.get(key).cloned()
    }

    /// Every object of a kind.
    pub fn all(&self, plural: &str) -> Vec<Value> {
        let prefix = format!("{plural}/");
        self.world()
            .objects
            .iter()
            .filter(|(key, _)| key.starts_with(&prefix))
            .map(|(_, object)| object.clone())
            .collect()
    }

    /// The next request of that kind is answered so.
    pub fn fail(&self, fault: Fault) {
        self.world().faults.push(fault);
    }

    /// The requests since the last call, such as `POST pods/count-0`; Events are left out.
    pub fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.world().log)
            .iter()
            .filter(|line| !line.contains(" events/"))
            .map(|line| without_hash(line))
            .collect()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A plan's name is that of its content, and canaries listen where there is room: `count-plan-0123456789` is `count-plan`.
pub fn without_hash(line: &str) -> String {
    match line.split_once("-plan-") {
        Some((before, after)) => format!("{before}-plan{}", after.get(10..).unwrap_or_default()),
        None => line.to_owned(),
    }
}

async fn answer(State(fake): State<FakeApi>, method: Method, uri: Uri, body: Bytes) -> (StatusCode, Json<Value>) {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut world = fake.world();
    let mut path: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
    let status = path.pop_if(|last| *last == "status").is_some();
    // …/namespaces/<namespace>/<plural>[/<name>]
    let place = path.iter().position(|part| *part == "namespaces").unwrap_or_default();
    let plural = path.get(place + 2).copied().unwrap_or_default();
    let name = match path.get(place + 3) {
        Some(name) => (*name).to_owned(),
        None => body["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
    };
    let key = format!("{plural}/{name}");
    let line = format!("{method} {key}{}", if status { "/status" } else { "" });
    world.log.push(line.clone());
    let fault = world
        .faults
        .iter()
        .position(|fault| fault.request == without_hash(&line))
        .map(|index| world.faults.remove(index));
    match fault {
        Some(Fault { code, reason, message, lost, .. }) => {
            if lost {
                let _ = world.write(&method, &key, &body, status);
            }
            refuse(code, reason, message)
        }
        None => world.write(&method, &key, &body, status),
    }
}

impl World {
    fn write(&mut self, method: &Method, key: &str, body: &Value, status: bool) -> (StatusCode, Json<Value>) {
        self.version += 1;
        let version = Value::from(self.version.to_string());
        let known = self.objects.get_mut(key);
        match (method.as_str(), known) {
            ("GET", Some(object)) => (StatusCode::OK, Json(object.clone())),
            ("POST", Some(_)) => refuse(409, "AlreadyExists", &format!("{key} already exists")),
            ("POST", None) => {
                let mut object = body.clone();
                object["metadata"]["uid"] = format!("uid-of-{key}").into();
                object["metadata"]["creationTimestamp"] = k8s_time_now().into();
                object["metadata"]["resourceVersion"] = version;
                if key.starts_with("pods/") {
                    object["status"] = json!({"phase": "Pending"});
                }
                self.objects.insert(key.to_owned(), object.clone());
                (StatusCode::CREATED, Json(object))
            }
            ("PATCH", Some(object)) => {
                let wanted = &body["metadata"]["resourceVersion"];
                if !wanted.is_null() && *wanted != object["metadata"]["resourceVersion"] {
                    return refuse(409, "Conflict", "the object has been modified");
                }
                if status {
                    object["status"] = body["status"].clone();
                } else {
                    merge(object, body);
                }
                object["metadata"]["resourceVersion"] = version;
                (StatusCode::OK, Json(object.clone()))
            }
            ("DELETE", Some(object)) => {
                let wanted = &body["preconditions"]["resourceVersion"];
                if !wanted.is_null() && *wanted != object["metadata"]["resourceVersion"] {
                    return refuse(409, "Conflict", "the precondition does not hold");
                }
                (StatusCode::OK, Json(self.objects.remove(key).unwrap_or_default()))
            }
            _ => refuse(404, "NotFound", &format!("{key} not found")),
        }
    }
}

fn refuse(code: u16, reason: &str, message: &str) -> (StatusCode, Json<Value>) {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message});
    (StatusCode::from_u16(code).unwrap(), Json(body))
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    for (key, value) in patch {
        match value {
            Value::Null => {
                target.as_object_mut().unwrap().remove(key);
            }
            Value::Object(_) if target[key].is_object() => merge(&mut target[key], value),
            value => target[key] = value.clone(),
        }
    }
}

fn k8s_time_now() -> String {
    format!("{:.0}", jiff::Timestamp::now())
}
