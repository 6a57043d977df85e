//! Which kind a document is of.

use anchorhold_crds::names::{API_VERSION, GROUP};

use super::suggest::nearest;
use crate::document::{Node, Position};

/// The kinds that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Job,
    Agent,
    McpServer,
    /// Not ours; a source of a job may be one of the same files.
    ConfigMap,
}

impl Kind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Job => "Job",
            Self::Agent => "Agent",
            Self::McpServer => "McpServer",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

/// What a document turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Identified {
    Known(Kind),
    /// A `v1` List: its items are documents of their own.
    List,
    /// An object of somebody else's kind.
    Foreign,
    /// Not an object of Kubernetes at all: neither apiVersion nor kind.
    NoObject,
    /// One of ours, as it seems, but not quite.
    Mistaken {
        at: Position,
        field: &'static str,
        message: String,
    },
}

/// Tells what a document is.
pub(super) fn identify(document: &Node) -> Identified {
    let text = |key| document.get(key).and_then(Node::text);
    let mistaken = |field, message| Identified::Mistaken { at: document.locate(field), field, message };
    let (api_version, kind) = match (text("apiVersion"), text("kind")) {
        (Some(api_version), Some(kind)) => (api_version, kind),
        (None, None) if document.get("apiVersion").is_none() && document.get("kind").is_none() => {
            return Identified::NoObject;
        }
        (None, _) => return mistaken("apiVersion", format!("is missing or no text; ours is {API_VERSION}")),
        (_, None) => return mistaken("kind", "is missing or no text; ours are Job, Agent and McpServer".into()),
    };
    match (api_version, kind) {
        (API_VERSION, "Job") => Identified::Known(Kind::Job),
        (API_VERSION, "Agent") => Identified::Known(Kind::Agent),
        (API_VERSION, "McpServer") => Identified::Known(Kind::McpServer),
        (API_VERSION, kind) => {
            let hint = nearest(kind, ["Job", "Agent", "McpServer"].into_iter()).map_or_else(
                || "the kinds are Job, Agent and McpServer".to_owned(),
                |kind| format!("did you mean {kind}?"),
            );
            mistaken("kind", format!("unknown kind \"{}\" of {API_VERSION}; {hint}", kind.escape_debug()))
        }
        ("v1", "ConfigMap") => Identified::Known(Kind::ConfigMap),
        ("v1", "List") => Identified::List,
        _ if api_version.split('/').next() == Some(GROUP)
            || nearest(api_version, [API_VERSION].into_iter()).is_some() =>
        {
            mistaken("apiVersion", format!("unknown version \"{}\"; write {API_VERSION}", api_version.escape_debug()))
        }
        _ => Identified::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    fn identified(text: &str) -> Identified {
        identify(&parse(text).0[0])
    }

    #[test]
    fn our_kinds_are_known_and_others_are_left_alone() {
        for (api_version, kind, wanted) in [
            (API_VERSION, "Job", Identified::Known(Kind::Job)),
            (API_VERSION, "Agent", Identified::Known(Kind::Agent)),
            (API_VERSION, "McpServer", Identified::Known(Kind::McpServer)),
            ("v1", "ConfigMap", Identified::Known(Kind::ConfigMap)),
            ("v1", "List", Identified::List),
            ("batch/v1", "Job", Identified::Foreign),
            ("apps/v1", "Deployment", Identified::Foreign),
        ] {
            assert_eq!(
                identified(&format!("apiVersion: {api_version}\nkind: {kind}\n")),
                wanted,
                "{api_version} {kind}"
            );
        }
        assert_eq!(identified("replicas: 2\n"), Identified::NoObject);
    }

    #[test]
    fn what_is_nearly_ours_is_a_mistake_with_its_place() {
        let table = [
            (
                "kind: Job\napiVersion: anchorhold.dev/v1\n",
                (2, 1, "apiVersion", "unknown version \"anchorhold.dev/v1\"; write anchorhold.dev/v1alpha1"),
            ),
            (
                "apiVersion: anchorhould.dev/v1alpha1\nkind: Job\n",
                (1, 1, "apiVersion", "unknown version \"anchorhould.dev/v1alpha1\"; write anchorhold.dev/v1alpha1"),
            ),
            (
                "apiVersion: anchorhold.dev/v1alpha1\nkind: MCPServers\n",
                (2, 1, "kind", "unknown kind \"MCPServers\" of anchorhold.dev/v1alpha1; did you mean McpServer?"),
            ),
            (
                "apiVersion: anchorhold.dev/v1alpha1\n",
                (1, 1, "kind", "is missing or no text; ours are Job, Agent and McpServer"),
            ),
            ("kind: Job\n", (1, 1, "apiVersion", "is missing or no text; ours is anchorhold.dev/v1alpha1")),
        ];
        for (text, (line, column, field, message)) in table {
            let wanted = Identified::Mistaken { at: Position { line, column }, field, message: message.into() };
            assert_eq!(identified(text), wanted);
        }
    }
}
