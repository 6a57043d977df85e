//! The network gate against real sockets on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use anchorhold_plan::Gate;
use anchorhold_runner::gate::{GateOutcome, Pause, Rounds, pass};

/// Long enough that only a gate that hangs would reach it.
const LONG_MS: u64 = 300_000;

fn probe(canaries: &[SocketAddr], timeout_ms: u64) -> Gate {
    Gate::Probe { canaries: canaries.to_vec(), rounds: 3, timeout_ms }
}

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An address that refuses connections.
fn refusing() -> SocketAddr {
    listen().1
}

fn sleep(time: Duration) -> Pause {
    std::thread::sleep(time);
    Pause::Over
}

#[test]
fn a_closed_network_passes_after_the_rounds_asked_for() {
    let outcome = pass(&probe(&[refusing(), refusing()], LONG_MS), sleep);
    assert!(matches!(outcome, GateOutcome::Enforced(Rounds { tried: 3, closed: 3 })), "{outcome:?}");
}

#[test]
fn an_open_network_fails_at_the_time_out_and_names_the_canary() {
    let (_listener, open) = listen();
    let outcome = pass(&probe(&[refusing(), open], 1), sleep);
    assert!(
        matches!(outcome, GateOutcome::NotEnforced { open: Some(canary), rounds: Rounds { closed: 0, .. } } if canary == open),
        "{outcome:?}"
    );
}

#[test]
fn a_network_that_closes_late_passes_only_after_whole_rounds_of_closure() {
    let (listener, canary) = listen();
    let mut open = Some(listener);
    let mut pauses = 0;
    let outcome = pass(&probe(&[canary], LONG_MS), |_| {
        pauses += 1;
        if pauses == 2 {
            open.take();
        }
        Pause::Over
    });
    assert!(matches!(outcome, GateOutcome::Enforced(Rounds { tried: 5, closed: 3 })), "{outcome:?}");
}

#[test]
fn a_network_that_opens_again_starts_the_count_anew() {
    let canary = refusing();
    let mut open = None;
    let mut pauses = 0;
    let outcome = pass(&probe(&[canary], LONG_MS), |_| {
        pauses += 1;
        match pauses {
            2 => open = Some(TcpListener::bind(canary).unwrap()),
            3 => open = None,
            _ => {}
        }
        Pause::Over
    });
    // Two closed, one open, three closed.
    assert!(matches!(outcome, GateOutcome::Enforced(Rounds { tried: 6, closed: 3 })), "{outcome:?}");
}

#[test]
fn a_canary_that_gives_no_answer_at_all_counts_as_closed() {
    // A full backlog drops what arrives, as a policy that drops packets does.
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
    rustix::net::listen(&socket, 0).unwrap();
    let listener = TcpListener::from(socket);
    let canary = listener.local_addr().unwrap();
    let mut filling = Vec::new();
    while let Ok(connection) = std::net::TcpStream::connect_timeout(&canary, Duration::from_millis(200)) {
        filling.push(connection);
        assert!(filling.len() < 100, "the backlog never fills");
    }
    let outcome = pass(&probe(&[canary], LONG_MS), sleep);
    assert!(matches!(outcome, GateOutcome::Enforced(Rounds { tried: 3, closed: 3 })), "{outcome:?}");
}

#[test]
fn a_canary_that_answers_is_sent_nothing() {
    let (listener, canary) = listen();
    assert!(matches!(pass(&probe(&[canary], 1), sleep), GateOutcome::NotEnforced { .. }));
    let (mut connection, _) = listener.accept().unwrap();
    let mut received = Vec::new();
    // The connection was closed with a reset.
    assert!(connection.read_to_end(&mut received).is_err());
    assert_eq!(received, b"");
}

#[test]
fn a_stop_between_two_rounds_ends_the_gate() {
    let outcome = pass(&probe(&[refusing()], LONG_MS), |_| Pause::Stop);
    assert!(matches!(outcome, GateOutcome::Stopped), "{outcome:?}");
}

#[test]
fn a_gate_without_a_probe_opens_no_connection_and_says_so() {
    let refuse = |_| panic!("nothing is waited for");
    assert!(matches!(pass(&Gate::Assume, refuse), GateOutcome::Assumed));
    assert!(matches!(pass(&Gate::NoCluster, refuse), GateOutcome::NoCluster));
}
