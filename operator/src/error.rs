//! Why a reconcile did not finish, and who has to act.
//!
//! What a user wrote wrongly is not an [`Error`]: it becomes a condition of the object. An error is a request that did
//! not come through, or a promise of our own that did not hold.

use kube::core::Status;

/// A reconcile that did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request to the API server failed.
    #[error("failed to {verb} {kind} {object}")]
    Api {
        /// What was attempted: `create`, `patch the status of`, …
        verb: &'static str,
        /// The kind of the object.
        kind: &'static str,
        /// `namespace/name`.
        object: String,
        /// What came back.
        source: Box<kube::Error>,
    },
    /// The installation's canary does not answer, so no runner could prove that its network is closed.
    #[error("failed to reach the network canaries; no pod is started until they answer")]
    Canary(#[from] crate::canary::CanaryError),
    /// A reconcile took longer than it may.
    #[error("gave up on {kind} {object} after {seconds} s")]
    TimedOut {
        /// The kind of the object.
        kind: &'static str,
        /// `namespace/name`.
        object: String,
        /// The deadline.
        seconds: u64,
    },
    /// An object of the API server lacks what every stored object has, or we built one that cannot be written.
    #[error("{kind} {object}: {problem}")]
    Bug {
        /// The kind of the object.
        kind: &'static str,
        /// `namespace/name`, as far as known.
        object: String,
        /// The promise that does not hold.
        problem: String,
    },
}

/// Who has to act on an [`Error`], and so how it is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Nobody: it passes (conflict, throttling, server error, time-out). Retried with the object's back-off.
    Transient,
    /// An administrator: our own permissions do not reach. Retried slowly.
    Forbidden,
    /// We: the operator is wrong. Retried slowly.
    Bug,
    /// Nobody: the object of the reconcile is gone. Not retried.
    Gone,
}

impl Error {
    /// A failed request: `Error::api("create", "Pod", "team-a/review-0", source)`.
    pub fn api(verb: &'static str, kind: &'static str, object: impl Into<String>, source: kube::Error) -> Self {
        Self::Api { verb, kind, object: object.into(), source: Box::new(source) }
    }

    /// A broken promise of our own.
    pub fn bug(kind: &'static str, object: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Bug { kind, object: object.into(), problem: problem.into() }
    }

    /// Who has to act.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Api { source, .. } => classify(source),
            Self::Canary(_) | Self::TimedOut { .. } => Class::Transient,
            Self::Bug { .. } => Class::Bug,
        }
    }

    /// One word for conditions, Events and metric labels. It never carries a name or a message.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Api { source, .. } => match classify(source) {
                Class::Transient => "ApiUnavailable",
                Class::Forbidden => "ApiForbidden",
                Class::Bug => "ApiRejected",
                Class::Gone => "ObjectGone",
            },
            Self::Canary(_) => "CanaryUnreachable",
            Self::TimedOut { .. } => "TimedOut",
            Self::Bug { .. } => "InternalError",
        }
    }

    /// The API server's own answer, when there is one.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Api { source, .. } => api_status(source),
            Self::Canary(_) | Self::TimedOut { .. } | Self::Bug { .. } => None,
        }
    }
}

/// The API server's own answer, when there is one.
#[must_use]
pub fn api_status(error: &kube::Error) -> Option<&Status> {
    match error {
        kube::Error::Api(status) => Some(status),
        _ => None,
    }
}

/// The error with everything that caused it, once: `failed to create Pod a/b: pods "b" already exists (409)`.
#[must_use]
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        // kube's own text adds the whole answer in debug form.
        let answer = cause
            .downcast_ref::<kube::Error>()
            .or_else(|| cause.downcast_ref::<Box<kube::Error>>().map(|boxed| &**boxed))
            .and_then(api_status);
        let cause_text = match answer {
            Some(status) => format!("{} ({})", status.message, status.code),
            None => cause.to_string(),
        };
        // kube's errors repeat their source in their own text.
        if !text.contains(&cause_text) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause_text);
        }
        next = if answer.is_some() { None } else { cause.source() };
    }
    text
}

fn classify(error: &kube::Error) -> Class {
    let Some(status) = api_status(error) else {
        // Everything else is a connection, a time-out or a cut answer.
        return Class::Transient;
    };
    match status.code {
        401 | 403 => Class::Forbidden,
        404 | 410 => Class::Gone,
        408 | 409 | 429 | 500..=599 => Class::Transient,
        _ => Class::Bug,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(code: u16, message: &str) -> Error {
        let status = Status { code, ..Status::failure(message, "Because") };
        Error::api("create", "Pod", "team-a/review-0", kube::Error::Api(status.boxed()))
    }

    #[test]
    fn each_answer_of_the_api_server_says_who_has_to_act() {
        let classes = [401, 403, 404, 410, 409, 429, 500, 504, 400, 422].map(|code| api(code, "").class());
        assert_eq!(
            classes,
            [
                Class::Forbidden,
                Class::Forbidden,
                Class::Gone,
                Class::Gone,
                Class::Transient,
                Class::Transient,
                Class::Transient,
                Class::Transient,
                Class::Bug,
                Class::Bug,
            ]
        );
    }

    #[test]
    fn the_chain_names_the_attempt_and_says_each_cause_once() {
        assert_eq!(chain(&api(409, "it exists")), "failed to create Pod team-a/review-0: it exists (409)");
        let Error::Api { source, .. } = api(409, "it exists") else { panic!("an API error") };
        assert_eq!(chain(&*source), "it exists (409)");
    }

    #[test]
    fn a_reason_is_one_word_without_names() {
        assert_eq!(api(403, "pods is forbidden").reason(), "ApiForbidden");
        assert_eq!(Error::bug("Job", "a/b", "has no uid").reason(), "InternalError");
    }
}
