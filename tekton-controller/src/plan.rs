//! The words in which a reconcile pass speaks with the world.
//!
//! A pass is a pure function that is *run again with more answers*: it takes the object, the
//! configuration, the time and the [`Answers`] known so far. Where it needs something from outside it
//! asks ([`Answers::ask`]); an unanswered question ends the run with [`Waiting`]. An executor (the
//! Kubernetes shell, or [`crate::memory`]) answers and calls the same function again, until it returns a
//! [`Pass`]. So a decision never holds a client, and a crash between two answers loses nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tekton_api::config::Config;

use crate::images::Images;

/// Names one object of the API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ObjectRef {
    /// `v1`, `tekton.dev/v1`, …
    pub api_version: String,
    /// `Pod`, `TaskRun`, …
    pub kind: String,
    /// Namespace; empty for cluster-wide kinds.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl ObjectRef {
    /// Names an object.
    pub fn new(
        api_version: impl Into<String>,
        kind: impl Into<String>,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The reference of an object given as JSON; absent members are empty.
    pub fn of(object: &Value) -> Self {
        let text = |path: &str| {
            object
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Self {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{} {}/{}",
            self.api_version, self.kind, self.namespace, self.name
        )
    }
}

/// A change to an existing object.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// RFC 6902 operations.
    Json(Value),
    /// RFC 7386 merge patch.
    Merge(Value),
}

/// One thing a pass wants to know or to have done.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Reads one object. The answer is the object.
    Get(ObjectRef),
    /// The same where a slightly outdated state does no harm: an executor may answer from what it watches.
    Cached(ObjectRef),
    /// Lists objects of a kind in a namespace. The answer is a JSON array, in order of creation.
    List {
        /// API version of the kind.
        api_version: String,
        /// Kind of the items.
        kind: String,
        /// Namespace to look in.
        namespace: String,
        /// Label selector; empty selects everything.
        labels: String,
    },
    /// Creates an object. The answer is the stored object.
    Create {
        /// The whole object, with `apiVersion`, `kind` and `metadata.namespace`.
        object: Value,
        /// Validates without storing (`dryRun=All`).
        dry_run: bool,
    },
    /// Replaces an object. The answer is the stored object.
    Update {
        /// The whole object.
        object: Value,
    },
    /// Patches an object. The answer is the stored object.
    Patch {
        /// Which object.
        target: ObjectRef,
        /// What to change.
        patch: Patch,
        /// `status` to patch that subresource.
        subresource: Option<&'static str>,
    },
    /// Deletes an object. The answer is null.
    Delete(ObjectRef),
    /// Looks up the entrypoint of an image in its registry. The answer is
    /// `{"digest": …, "platforms": [{"os", "architecture", "variant", "entrypoint", "cmd"}]}` in the
    /// form of [`crate::image_config::ImageConfig`].
    ImageConfig {
        /// Image reference as the step has it.
        image: String,
        /// Namespace of the run, for its credentials.
        namespace: String,
        /// Service account whose pull secrets count.
        service_account: String,
        /// Names of further pull secrets.
        pull_secrets: Vec<String>,
    },
    /// Reads the log of a container from its beginning. The answer is a string.
    PodLog {
        /// Namespace of the pod.
        namespace: String,
        /// Name of the pod.
        pod: String,
        /// Container.
        container: String,
    },
    /// Puts a question once more after a pause, because its first answer may change.
    Again {
        /// Counts the repetitions from 1.
        attempt: u32,
        /// How long to wait first.
        after: Duration,
        /// The question.
        ask: Box<Ask>,
    },
    /// Asks for the version of the API server. The answer is `{"major": "1", "minor": "36"}`.
    ServerVersion,
}

impl Ask {
    /// The key under which the answer is kept: equal asks have equal keys.
    pub fn key(&self) -> String {
        match self {
            Self::Get(target) => format!("get {target}"),
            Self::Cached(target) => format!("cached {target}"),
            Self::List {
                api_version,
                kind,
                namespace,
                labels,
            } => {
                format!("list {api_version}/{kind} {namespace} {labels}")
            }
            Self::Create { object, dry_run } => {
                let verb = if *dry_run { "dry-run" } else { "create" };
                format!("{verb} {}", ObjectRef::of(object))
            }
            Self::Update { object } => format!("update {} {object}", ObjectRef::of(object)),
            Self::Patch {
                target,
                patch,
                subresource,
            } => {
                let (Patch::Json(body) | Patch::Merge(body)) = patch;
                format!("patch {target} {} {body}", subresource.unwrap_or_default())
            }
            Self::Delete(target) => format!("delete {target}"),
            Self::ImageConfig {
                image,
                namespace,
                service_account,
                ..
            } => {
                format!("image {image} {namespace}/{service_account}")
            }
            Self::PodLog {
                namespace,
                pod,
                container,
            } => format!("log {namespace}/{pod}/{container}"),
            Self::Again { attempt, ask, .. } => format!("again {attempt} {}", ask.key()),
            Self::ServerVersion => "version".to_owned(),
        }
    }

    /// The question without any content of objects, fit for logs.
    pub fn label(&self) -> String {
        match self {
            Self::Create { object, .. } => format!("create {}", ObjectRef::of(object)),
            Self::Update { object } => format!("update {}", ObjectRef::of(object)),
            Self::Patch { target, .. } => format!("patch {target}"),
            Self::Again { ask, .. } => ask.label(),
            Self::Get(_)
            | Self::Cached(_)
            | Self::List { .. }
            | Self::Delete(_)
            | Self::ImageConfig { .. }
            | Self::PodLog { .. }
            | Self::ServerVersion => self.key(),
        }
    }

    /// True if answering changes the cluster.
    pub fn is_write(&self) -> bool {
        match self {
            Self::Create { dry_run, .. } => !dry_run,
            Self::Update { .. } | Self::Patch { .. } | Self::Delete(_) => true,
            Self::Again { ask, .. } => ask.is_write(),
            Self::Get(_)
            | Self::Cached(_)
            | Self::List { .. }
            | Self::ImageConfig { .. }
            | Self::PodLog { .. }
            | Self::ServerVersion => false,
        }
    }
}

/// What the API (or a registry) answered instead of a result: the parts of a Kubernetes `Status`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiFailure {
    /// HTTP status code; 0 where there was no answer at all.
    pub code: u16,
    /// Kubernetes reason: `NotFound`, `AlreadyExists`, `Forbidden`, `Conflict`, …
    pub reason: String,
    /// Text for people.
    pub message: String,
    /// `details` of the `Status` (kind, name, causes); null if there are none.
    pub details: Value,
}

impl ApiFailure {
    /// A failure from a Kubernetes `Status` object.
    pub fn from_status(status: &Value) -> Self {
        let text = |key: &str| {
            status
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let code = status
            .get("code")
            .and_then(Value::as_u64)
            .and_then(|code| u16::try_from(code).ok());
        Self {
            code: code.unwrap_or_default(),
            reason: text("reason"),
            message: text("message"),
            details: status.get("details").cloned().unwrap_or_default(),
        }
    }

    /// The object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.reason == "NotFound" || (self.reason.is_empty() && self.code == 404)
    }

    /// The object exists already.
    pub fn is_already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    /// The object was changed by somebody else in the meantime.
    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }

    /// Refused by policy or quota.
    pub fn is_forbidden(&self) -> bool {
        self.reason == "Forbidden" || (self.reason.is_empty() && self.code == 403)
    }

    /// Refused as invalid.
    pub fn is_invalid(&self) -> bool {
        self.reason == "Invalid" || (self.reason.is_empty() && self.code == 422)
    }

    /// Refused as a bad request.
    pub fn is_bad_request(&self) -> bool {
        self.reason == "BadRequest" || (self.reason.is_empty() && self.code == 400)
    }

    /// A webhook or a server took too long.
    pub fn is_timeout(&self) -> bool {
        self.reason == "Timeout"
    }
}

/// Result of one ask.
pub type Answer = Result<Value, ApiFailure>;

/// The questions on which a pass waits. Never empty.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "unanswered questions must be put to an executor"]
pub struct Waiting(pub Vec<Ask>);

/// The answers that a pass has received so far, by [`Ask::key`].
#[derive(Clone, Debug, Default)]
pub struct Answers(BTreeMap<String, Answer>);

impl Answers {
    /// No answers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer.
    pub fn insert(&mut self, ask: &Ask, answer: Answer) {
        self.0.insert(ask.key(), answer);
    }

    /// The answer to a question, or the wish to have it answered.
    pub fn ask(&self, ask: Ask) -> Result<&Answer, Waiting> {
        match self.0.get(&ask.key()) {
            Some(answer) => Ok(answer),
            None => Err(Waiting(vec![ask])),
        }
    }

    /// The answers to several questions, all missing ones being asked for together.
    pub fn all(&self, asks: &[Ask]) -> Result<Vec<&Answer>, Waiting> {
        let missing: Vec<Ask> = asks
            .iter()
            .filter(|ask| !self.0.contains_key(&ask.key()))
            .cloned()
            .collect();
        if missing.is_empty() {
            Ok(asks.iter().filter_map(|ask| self.0.get(&ask.key())).collect())
        } else {
            Err(Waiting(missing))
        }
    }

    /// The answer to a question if it is there; never waits.
    pub fn peek(&self, ask: &Ask) -> Option<&Answer> {
        self.0.get(&ask.key())
    }

    /// Reads one object: `Ok(None)` if it does not exist, the failure otherwise.
    pub fn get<T: DeserializeOwned>(
        &self,
        target: ObjectRef,
    ) -> Result<Result<Option<T>, ApiFailure>, Waiting> {
        self.read(Ask::Get(target))
    }

    /// The same, perhaps slightly outdated.
    pub fn cached<T: DeserializeOwned>(
        &self,
        target: ObjectRef,
    ) -> Result<Result<Option<T>, ApiFailure>, Waiting> {
        self.read(Ask::Cached(target))
    }

    fn read<T: DeserializeOwned>(&self, ask: Ask) -> Result<Result<Option<T>, ApiFailure>, Waiting> {
        Ok(match self.ask(ask)? {
            Ok(object) => decode(object).map(Some),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure.clone()),
        })
    }
}

/// Decodes an answer into a typed object.
pub fn decode<T: DeserializeOwned>(object: &Value) -> Result<T, ApiFailure> {
    T::deserialize(object).map_err(|error| ApiFailure {
        code: 0,
        reason: "InternalError".to_owned(),
        message: format!("{}: {error}", ObjectRef::of(object)),
        details: Value::Null,
    })
}

/// What does not change while a pass is run again and again.
#[derive(Clone, Debug)]
pub struct PassInput<'a> {
    /// Configuration in force.
    pub config: &'a Config,
    /// Images that the controller puts into pods.
    pub images: &'a Images,
    /// The time of the pass.
    pub now: Timestamp,
    /// Five lower-case letters or digits for names that upstream makes random.
    pub suffix: &'a str,
}

/// Type of a Kubernetes event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// `Normal`
    Normal,
    /// `Warning`
    Warning,
}

/// A Kubernetes event about the reconciled object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEvent {
    /// Normal or Warning.
    pub event_type: EventType,
    /// Machine-readable reason.
    pub reason: String,
    /// Text for people; may be empty.
    pub message: String,
}

impl RunEvent {
    /// A normal event.
    pub fn normal(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            event_type: EventType::Normal,
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// A warning.
    pub fn warning(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            event_type: EventType::Warning,
            reason: reason.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for RunEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event_type = match self.event_type {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        };
        write!(f, "{event_type} {} {}", self.reason, self.message)
    }
}

/// Why a pass did not come through.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReconcileError {
    /// Trying again without a change of the object is of no use.
    #[error("{0}")]
    Permanent(String),
    /// To be tried again, with back-off.
    #[error("{0}")]
    Transient(String),
}

impl ReconcileError {
    /// True for [`ReconcileError::Permanent`].
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Permanent(_))
    }
}

/// The result of a pass over a run with status `S`.
#[derive(Clone, Debug)]
pub struct Pass<S> {
    /// The status to be stored; `None` leaves it alone. Written only if it differs.
    pub status: Option<S>,
    /// Labels that the run shall have, if they are to be written.
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations that the run shall have, if they are to be written.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Events to be recorded, in order.
    pub events: Vec<RunEvent>,
    /// When to look again although nothing changed.
    pub requeue: Option<Duration>,
    /// What went wrong; the status is written all the same.
    pub error: Option<ReconcileError>,
}

impl<S> Default for Pass<S> {
    fn default() -> Self {
        Self {
            status: None,
            labels: None,
            annotations: None,
            events: Vec::new(),
            requeue: None,
            error: None,
        }
    }
}
