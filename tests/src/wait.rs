//! Waiting for the world to become as expected.

use std::fmt::Debug;
use std::future::Future;
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine of two cores before the test gives up.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Looks every 100 ms until `look` gives a value; panics after [`PATIENCE`] with what was seen last.
pub async fn until<T, S: Debug, F>(what: &str, mut look: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, S>>,
{
    let end = Instant::now() + PATIENCE;
    loop {
        match look().await {
            Ok(value) => return value,
            Err(seen) => assert!(Instant::now() < end, "waited {PATIENCE:?} for {what}; last seen: {seen:#?}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
