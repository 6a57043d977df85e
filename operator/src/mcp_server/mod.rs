//! An McpServer's reconcile: is the registration valid, and what of it is known.
//!
//! Servers are not probed by this version, and the conditions say so: nothing here claims that one can be reached.

mod status;
mod validate;

use std::sync::Arc;

use anchorhold_crds::McpServer;
use jiff::Timestamp;
use kube::ResourceExt as _;
use kube::runtime::controller::Action;

use crate::context::Context;
use crate::error::Error;
use crate::reference::{self, LOOK_AGAIN};
use crate::status::{apply, tell_refusal};
use crate::stores::full_name;

/// Looks at an McpServer once. It writes its status, and only when that changed.
pub async fn reconcile(server: Arc<McpServer>, ctx: Arc<Context>) -> Result<Action, Error> {
    let now = Timestamp::now();
    let old = server.status.clone().unwrap_or_default();
    // dereference (client required)
    let ca_bundle_missing = ca_bundle_missing(&ctx, &server).await?;
    // everything else is pure
    let verdict = validate::validate(&server.spec);
    let new = status::new_status(&server, ca_bundle_missing.as_deref(), verdict, now);
    if new != old {
        apply(&ctx, &*server, &new).await?;
        tell_refusal(&ctx, &*server, &old.conditions, &new.conditions).await;
    }
    // ConfigMaps are not watched.
    Ok(if ca_bundle_missing.is_some() { Action::requeue(LOOK_AGAIN) } else { Action::await_change() })
}

async fn ca_bundle_missing(ctx: &Context, server: &McpServer) -> Result<Option<String>, Error> {
    let Some(tls) = &server.spec.tls else { return Ok(None) };
    let Some(namespace) = server.namespace() else {
        return Err(Error::bug("McpServer", full_name(server), "has no namespace"));
    };
    let found = reference::config_map_key(ctx, &namespace, &tls.ca_bundle_config_map_ref).await?;
    Ok(reference::missing("spec.tls.caBundleConfigMapRef", &tls.ca_bundle_config_map_ref, found))
}
