//! The canaries: addresses that any unrestricted pod reaches. A runner proves its NetworkPolicy by failing to reach
//! them, which proves something only while they answer. So the operator reaches them itself before it makes a pod.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Service;
use kube::{Api, Client};
use tokio::net::{TcpListener, TcpStream};

/// How long one answer is trusted.
const TRUSTED_FOR: Duration = Duration::from_secs(10);
/// A canary is one hop away; one that takes longer is not worth relying on.
const CONNECT_DEADLINE: Duration = Duration::from_secs(2);
/// For the lookup of the canary Service.
const LOOKUP_DEADLINE: Duration = Duration::from_secs(5);

/// Accepting fails when file descriptors run out; at once it would fail again.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// The operator's own canary Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanaryService {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Why the canaries cannot be relied upon.
#[derive(Debug, thiserror::Error)]
pub enum CanaryError {
    /// A canary refuses connections.
    #[error("failed to connect to canary {address}")]
    Refused {
        /// The canary.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// A canary does not answer.
    #[error("canary {address} did not answer within {} s", CONNECT_DEADLINE.as_secs())]
    Silent {
        /// The canary.
        address: SocketAddr,
    },
    /// The canary Service cannot be read.
    #[error("failed to read canary Service {service}")]
    Lookup {
        /// `namespace/name`.
        service: String,
        /// Why.
        source: Box<kube::Error>,
    },
    /// The canary Service has no usable address.
    #[error("canary Service {service} {problem}")]
    Service {
        /// `namespace/name`.
        service: String,
        /// What is missing.
        problem: &'static str,
    },
    /// There is nothing to probe.
    #[error("no canary is configured; pass --canary or --canary-service, or --network-policy-enforcement Assume")]
    None,
}

/// Knows the canaries and when they last answered.
pub struct Canary {
    client: Client,
    fixed: Vec<SocketAddr>,
    service: Option<CanaryService>,
    answered: Mutex<Option<Answer>>,
}

struct Answer {
    at: Instant,
    addresses: Arc<[SocketAddr]>,
}

impl Canary {
    /// Canaries at fixed addresses, and behind a Service whose address is looked up.
    #[must_use]
    pub fn new(client: Client, fixed: Vec<SocketAddr>, service: Option<CanaryService>) -> Self {
        Self { client, fixed, service, answered: Mutex::new(None) }
    }

    /// The addresses of all canaries, each of which answered within the last ten seconds.
    pub async fn check(&self) -> Result<Arc<[SocketAddr]>, CanaryError> {
        if let Some(answer) = &*self.answered.lock().unwrap_or_else(PoisonError::into_inner)
            && answer.at.elapsed() < TRUSTED_FOR
        {
            return Ok(Arc::clone(&answer.addresses));
        }
        let mut addresses = self.fixed.clone();
        if let Some(service) = &self.service {
            addresses.extend(self.look_up(service).await?);
        }
        if addresses.is_empty() {
            return Err(CanaryError::None);
        }
        try_join_all(addresses.iter().copied().map(connect)).await?;
        let addresses: Arc<[SocketAddr]> = addresses.into();
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Answer { at: Instant::now(), addresses: Arc::clone(&addresses) });
        Ok(addresses)
    }

    async fn look_up(&self, service: &CanaryService) -> Result<Vec<SocketAddr>, CanaryError> {
        let full_name = format!("{}/{}", service.namespace, service.name);
        let api: Api<Service> = Api::namespaced(self.client.clone(), &service.namespace);
        let found = tokio::time::timeout(LOOKUP_DEADLINE, api.get(&service.name))
            .await
            .map_err(|_| CanaryError::Service { service: full_name.clone(), problem: "could not be read in time" })?
            .map_err(|source| CanaryError::Lookup { service: full_name.clone(), source: Box::new(source) })?;
        addresses(&found).map_err(|problem| CanaryError::Service { service: full_name, problem })
    }
}

/// Every cluster IP of the Service, with its first port.
fn addresses(service: &Service) -> Result<Vec<SocketAddr>, &'static str> {
    let spec = service.spec.as_ref().ok_or("has no spec")?;
    let port = spec.ports.iter().flatten().next().ok_or("has no port")?;
    let port = u16::try_from(port.port).map_err(|_| "has a port out of range")?;
    let addresses: Vec<_> = spec
        .cluster_ips
        .iter()
        .flatten()
        .filter_map(|ip| ip.parse().ok())
        .map(|ip| SocketAddr::new(ip, port))
        .collect();
    if addresses.is_empty() { Err("has no cluster IP") } else { Ok(addresses) }
}

async fn connect(address: SocketAddr) -> Result<(), CanaryError> {
    match tokio::time::timeout(CONNECT_DEADLINE, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(source)) => Err(CanaryError::Refused { address, source }),
        Err(_) => Err(CanaryError::Silent { address }),
    }
}

/// Accepts every connection and closes it at once, until dropped: what runners must fail to reach.
pub async fn serve(listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(stream),
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection as a canary");
                tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(spec: &serde_json::Value) -> Service {
        serde_json::from_value(serde_json::json!({"spec": spec})).unwrap()
    }

    #[test]
    fn a_service_gives_each_of_its_cluster_ips() {
        let dual = service(&serde_json::json!({"clusterIPs": ["10.1.0.9", "fd00::9"], "ports": [{"port": 8090}]}));
        assert_eq!(addresses(&dual), Ok(vec!["10.1.0.9:8090".parse().unwrap(), "[fd00::9]:8090".parse().unwrap()]));
    }

    #[test]
    fn a_service_without_an_address_is_no_canary() {
        let headless = service(&serde_json::json!({"clusterIPs": ["None"], "ports": [{"port": 8090}]}));
        assert_eq!(addresses(&headless), Err("has no cluster IP"));
        assert_eq!(addresses(&service(&serde_json::json!({"clusterIPs": ["10.1.0.9"]}))), Err("has no port"));
    }

    fn offline() -> Client {
        // Nothing is sent: these canaries have no Service to look up.
        Client::try_from(kube::Config::new("http://127.0.0.1:1".parse().unwrap())).unwrap()
    }

    #[tokio::test]
    async fn a_canary_that_answers_is_trusted_for_a_while_and_one_that_refuses_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let canary = Canary::new(offline(), vec![address], None);
        let server = tokio::spawn(serve(listener));
        assert_eq!(*canary.check().await.unwrap(), [address]);
        server.abort();
        assert!(server.await.unwrap_err().is_cancelled());
        assert_eq!(*canary.check().await.unwrap(), [address], "it answered just now");
        let fresh = Canary::new(offline(), vec![address], None);
        assert!(
            matches!(fresh.check().await, Err(CanaryError::Refused { address: refused, .. }) if refused == address)
        );
    }

    #[tokio::test]
    async fn no_canary_at_all_proves_nothing() {
        assert!(matches!(Canary::new(offline(), Vec::new(), None).check().await, Err(CanaryError::None)));
    }
}
