//! What `up` asks of the node's API server. Everything here blocks and belongs on a thread in the node's network
//! (`netns::inside`): the connections stay on the thread that made them. Questions that are asked again and again take
//! a request that fails, as some do on a busy machine, for a no.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{Container, Node, Pod, PodSpec, ServiceAccount};
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::images::PAUSE;
use super::node::NODE_NAME;
use super::wait;

/// One request, on a machine that is busy with the start of the node.
const REQUEST: Duration = Duration::from_secs(15);
const READY_POD: &str = "anchorhold-node-ready";

/// A connection as the administrator.
pub(crate) struct Cluster {
    runtime: Runtime,
    client: Client,
}

impl Cluster {
    pub(crate) fn connect(kubeconfig: &Path) -> Result<Self> {
        // One provider is linked; a second call finds it installed, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime =
            Builder::new_current_thread().enable_all().build().context("cannot start an asynchronous runtime")?;
        let client = runtime.block_on(async {
            let file = Kubeconfig::read_from(kubeconfig)?;
            let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
            config.connect_timeout = Some(REQUEST);
            config.read_timeout = Some(REQUEST);
            // The node is on loopback, whatever the caller's environment says.
            config.proxy_url = None;
            anyhow::Ok(Client::try_from(config)?)
        });
        let client = client.with_context(|| format!("cannot use {}", kubeconfig.display()))?;
        Ok(Self { runtime, client })
    }

    /// Whether the API server says of itself that it is ready.
    pub(crate) fn ready(&self) -> bool {
        let request = http::Request::get("/readyz").body(Vec::new());
        request.is_ok_and(|request| self.ask(self.client.request_text(request)).is_ok())
    }

    /// Whether the kubelet has registered the node.
    pub(crate) fn node_exists(&self) -> bool {
        self.node().is_some()
    }

    /// Whether the node's condition Ready is true.
    pub(crate) fn node_ready(&self) -> bool {
        let conditions =
            self.node().and_then(|node| node.status).and_then(|status| status.conditions).unwrap_or_default();
        conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
    }

    /// Whether pods can be created in the namespace `default`: before its service account exists, none can.
    pub(crate) fn default_service_account_exists(&self) -> bool {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), "default");
        self.ask(accounts.get_opt("default")).is_ok_and(|account| account.is_some())
    }

    /// Runs a pod to its end and removes it.
    pub(crate) fn run_a_pod(&self, deadline: Instant) -> Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "default");
        self.ask(pods.create(&PostParams::default(), &ready_pod())).context("cannot create the first pod")?;
        let phase = wait::until("the first pod to end", deadline, || {
            let status = self.ask(pods.get_opt(READY_POD)).ok().flatten().and_then(|pod| pod.status);
            let phase = status.and_then(|status| status.phase).unwrap_or_default();
            Ok(["Succeeded", "Failed"].contains(&phase.as_str()).then_some(phase))
        })?;
        if phase != "Succeeded" {
            bail!("the first pod has failed; see `cargo xtask cluster exec -- kubectl describe pod {READY_POD}`");
        }
        self.ask(pods.delete(READY_POD, &DeleteParams::default().grace_period(0)))
            .context("cannot delete the first pod")?;
        Ok(())
    }

    fn node(&self) -> Option<Node> {
        self.ask(Api::<Node>::all(self.client.clone()).get_opt(NODE_NAME)).ok().flatten()
    }

    fn ask<T>(&self, request: impl Future<Output = kube::Result<T>>) -> Result<T> {
        let answer = self.runtime.block_on(async { timeout(REQUEST, request).await });
        Ok(answer.context("the API server has not answered in time")??)
    }
}

fn ready_pod() -> Pod {
    Pod {
        metadata: ObjectMeta { name: Some(READY_POD.to_owned()), ..ObjectMeta::default() },
        spec: Some(PodSpec {
            containers: vec![Container {
                name: "pause".to_owned(),
                image: Some(PAUSE.to_owned()),
                image_pull_policy: Some("Never".to_owned()),
                args: Some(vec!["exit".to_owned(), "0".to_owned()]),
                ..Container::default()
            }],
            dns_policy: Some("Default".to_owned()),
            restart_policy: Some("Never".to_owned()),
            automount_service_account_token: Some(false),
            enable_service_links: Some(false),
            ..PodSpec::default()
        }),
        status: None,
    }
}
