//! A program that takes the runner's place in a job's pod and tries what an escaped tool would try.
//!
//! It reads its orders from the plan (a script job whose script is JSON) and reports in the termination message, as the
//! runner does. It holds back nothing: no gate, no confinement of its own. What it cannot do is stopped by something else.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Orders {
    read: Vec<String>,
    write: Vec<String>,
    connect: Vec<SocketAddr>,
    resolve: Vec<String>,
    /// Seconds to go on trying connections: the attack counts as stopped when none came through at the end.
    persist: u64,
    /// Seconds to stay alive afterwards.
    stay: u64,
}

fn main() {
    let report = attack();
    let text = report.to_string();
    let result = json!({"stage": "Ended", "outcome": "Completed", "text": text, "textBytes": text.len(), "usage": {"scripts": 1}});
    println!("{result}");
    let _ = fs::write("/dev/termination-log", result.to_string());
}

fn attack() -> Value {
    let orders = match orders() {
        Ok(orders) => orders,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let read: Vec<_> = orders.read.iter().filter(|path| can_read(path)).collect();
    let written: Vec<_> = orders.write.iter().filter(|path| can_write(path)).collect();
    let resolved: Vec<_> =
        orders.resolve.iter().filter(|name| (name.as_str(), 443).to_socket_addrs().is_ok()).collect();
    let connected = connect(&orders.connect, Duration::from_secs(orders.persist));
    std::thread::sleep(Duration::from_secs(orders.stay));
    json!({"read": read, "written": written, "resolved": resolved, "connected": connected, "uid": rustix::process::getuid().as_raw()})
}

fn orders() -> Result<Orders, Box<dyn std::error::Error>> {
    let plan: Value = serde_json::from_slice(&fs::read("/etc/anchorhold/plan.json")?)?;
    let script = plan.pointer("/program/script/source").and_then(Value::as_str).ok_or("the plan has no script")?;
    Ok(serde_json::from_str(script)?)
}

/// A folder can be read when it can be listed and is not empty.
fn can_read(path: &str) -> bool {
    let mut byte = [0; 1];
    fs::File::open(path).and_then(|mut file| file.read(&mut byte)).is_ok_and(|read| read > 0)
        || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}

fn can_write(path: &str) -> bool {
    fs::OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| file.write_all(b"x")).is_ok()
}

/// The addresses that still accept a new connection when the time is over; one round for no time.
fn connect(addresses: &[SocketAddr], persist: Duration) -> Vec<SocketAddr> {
    let end = Instant::now() + persist;
    loop {
        let open: Vec<_> = addresses
            .iter()
            .copied()
            .filter(|address| TcpStream::connect_timeout(address, Duration::from_millis(500)).is_ok())
            .collect();
        if Instant::now() >= end {
            return open;
        }
    }
}
