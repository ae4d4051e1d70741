//! Fetches what a run refers to but the cluster does not hold: through a ResolutionRequest.
//!
//! The request is created once, under a name that follows from what is asked for; until it is answered the
//! run waits. What comes back is checked by a dry-run creation, as if the user had applied it.
//! Upstream counterparts: `pkg/remoteresolution`, `pkg/remote`, `pkg/reconciler/apiserver`.

use base64::Engine as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tekton_api::defaults::{Defaults, Operation};
use tekton_api::names;
use tekton_api::quote::quote;
use tekton_api::resolution::v1beta1::{ResolutionRequest, ResolutionRequestSpec};
use tekton_api::v1::{Param, Pipeline, RefSource, Task};
use tekton_api::v1alpha1;
use tekton_api::v1beta1::{self, StepAction, StepActionSpec};

use crate::plan::{Answers, ApiFailure, Ask, ObjectRef, PassInput, Waiting, decode};

const RESOLUTION: &str = "resolution.tekton.dev/v1beta1";

/// Why a reference did not lead to anything (yet).
#[derive(Debug)]
pub(crate) enum RefError {
    /// A question is open.
    Wait(Waiting),
    /// The ResolutionRequest is not answered yet.
    InProgress,
    /// Trying again may help.
    Transient(String),
    /// What was found is not valid. The flag marks errors of the user.
    Invalid(String, bool),
    /// Nothing usable was found.
    Failed(String),
}

impl From<Waiting> for RefError {
    fn from(waiting: Waiting) -> Self {
        Self::Wait(waiting)
    }
}

impl RefError {
    /// The error of an API call that fetched something.
    pub(crate) fn of_call(failure: &ApiFailure, text: impl FnOnce(&str) -> String) -> Self {
        let message = text(&failure.message);
        if is_transient(failure) {
            Self::Transient(message)
        } else {
            Self::Failed(message)
        }
    }

    /// The same error with a changed text.
    pub(crate) fn map(self, text: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Wait(_) | Self::InProgress => self,
            Self::Transient(message) => Self::Transient(text(message)),
            Self::Invalid(message, user_error) => Self::Invalid(text(message), user_error),
            Self::Failed(message) => Self::Failed(text(message)),
        }
    }
}

/// What is asked of a resolver, and for whom.
#[derive(Clone, Debug)]
pub(crate) struct Remote<'a> {
    /// The resolver.
    pub(crate) resolver: &'a str,
    /// What it is told.
    pub(crate) params: Vec<Param>,
    /// A name that is an address; mostly empty.
    pub(crate) url: String,
    /// Name of the run.
    pub(crate) name: &'a str,
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// The run as owner of the request.
    pub(crate) owner: OwnerReference,
}

/// What a resolver found.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The object.
    pub(crate) object: Value,
    /// Where it comes from.
    pub(crate) source: Option<RefSource>,
}

impl Resolved {
    /// `apiVersion` and `kind` of the object.
    pub(crate) fn type_of(&self) -> (&str, &str) {
        let text = |key| self.object.get(key).and_then(Value::as_str).unwrap_or_default();
        (text("apiVersion"), text("kind"))
    }
}

/// The object behind a remote reference; asks for it if that was not done before.
pub(crate) fn fetch(remote: &Remote<'_>, answers: &Answers) -> Result<Resolved, RefError> {
    let base = format!("{}/{}", remote.namespace, remote.name);
    let name = names::resolution_request(remote.resolver, &base, &remote.params, &remote.url);
    let target = ObjectRef::new(RESOLUTION, "ResolutionRequest", remote.namespace, &name);
    let Ok(known) = answers.ask(Ask::Cached(target))? else {
        let object = request(remote, &name);
        return match answers.ask(Ask::Create {
            object,
            dry_run: false,
        })? {
            Err(failure) if !failure.is_already_exists() => Err(RefError::of_call(failure, |text| {
                format!("error requesting remote resource: {text}")
            })),
            _ => Err(RefError::InProgress),
        };
    };
    let request: ResolutionRequest = decode(known).map_err(|failure| requesting(&failure.message))?;
    let status = request.status.unwrap_or_default();
    match status.conditions.succeeded() {
        Some(condition) if condition.is_true() => read(&status.data, status.ref_source.or(status.source)),
        Some(condition) if condition.is_false() => Err(requesting(condition.message())),
        _ => Err(RefError::InProgress),
    }
}

/// Has the API server validate an object that a resolver found; returns it as admission leaves it.
pub(crate) fn dry_run(
    object: &Value,
    namespace: &str,
    suffix: &str,
    answers: &Answers,
) -> Result<Value, RefError> {
    let own_name = object
        .pointer("/metadata/name")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let mut trial = object.clone();
    let trial_name = names::hashed_name("dry-run", &format!("{own_name}{suffix}"), 8);
    json_patch::merge(
        &mut trial,
        &json!({"metadata": {"name": trial_name, "namespace": namespace}}),
    );
    match answers.ask(Ask::Create {
        object: trial,
        dry_run: true,
    })? {
        Ok(admitted) => {
            let mut admitted = admitted.clone();
            if let (Some(members), Some(metadata)) = (admitted.as_object_mut(), object.get("metadata")) {
                members.insert("metadata".to_owned(), metadata.clone());
            }
            Ok(admitted)
        }
        Err(failure) => {
            let text = |kind: &str| format!("{kind} {own_name}: {}", failure.message);
            Err(match failure.reason.as_str() {
                "BadRequest" => RefError::Invalid(text("validation failed for referenced object"), false),
                "Invalid" | "MethodNotAllowed" => {
                    RefError::Invalid(text("permanent error validating referenced object"), true)
                }
                _ => RefError::Transient(text("retryable error validating referenced object")),
            })
        }
    }
}

/// A Task in its newest version, as admission leaves it.
pub(crate) fn task(
    resolved: &Resolved,
    namespace: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Task, RefError> {
    match resolved.type_of() {
        ("tekton.dev/v1", "Task") => newest(admitted::<Task>(resolved, namespace, input, answers)?),
        ("tekton.dev/v1beta1", "Task") => {
            newest(admitted::<v1beta1::Task>(resolved, namespace, input, answers)?)
        }
        _ => Err(other_kind(resolved, "resource is not a task")),
    }
}

/// A fetched Pipeline, as admission leaves it.
pub(crate) fn pipeline(
    resolved: &Resolved,
    namespace: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Pipeline, RefError> {
    match resolved.type_of() {
        ("tekton.dev/v1", "Pipeline") => newest(admitted::<Pipeline>(resolved, namespace, input, answers)?),
        ("tekton.dev/v1beta1", "Pipeline") => newest(admitted::<v1beta1::Pipeline>(
            resolved, namespace, input, answers,
        )?),
        _ => Err(other_kind(resolved, "resource is not a pipeline")),
    }
}

/// The specification of a StepAction, as admission leaves it.
pub(crate) fn step_action(
    resolved: &Resolved,
    namespace: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<StepActionSpec, RefError> {
    let object = match resolved.type_of() {
        ("tekton.dev/v1beta1", "StepAction") => admitted::<StepAction>(resolved, namespace, input, answers)?,
        ("tekton.dev/v1alpha1", "StepAction") => {
            admitted::<v1alpha1::StepAction>(resolved, namespace, input, answers)?
        }
        _ => return Err(other_kind(resolved, "resource is not a StepAction")),
    };
    let spec = object.get("spec").cloned().unwrap_or_default();
    serde_json::from_value(spec).map_err(|error| RefError::Failed(error.to_string()))
}

/// An object that is known but of the wrong kind, or not known at all.
fn other_kind(resolved: &Resolved, wrong: &str) -> RefError {
    let (version, kind) = resolved.type_of();
    let name = kind.strip_suffix("List").unwrap_or(kind);
    let is_known = match version {
        "tekton.dev/v1" => ["Task", "TaskRun", "Pipeline", "PipelineRun"].contains(&name),
        "tekton.dev/v1beta1" => [
            "Task",
            "TaskRun",
            "Pipeline",
            "PipelineRun",
            "CustomRun",
            "StepAction",
        ]
        .contains(&name),
        "tekton.dev/v1alpha1" => ["Run", "StepAction", "VerificationPolicy"].contains(&name),
        _ => false,
    };
    RefError::Failed(if is_known {
        wrong.to_owned()
    } else {
        format!(
            "invalid runtime object: no kind {} is registered for version {}",
            quote(kind),
            quote(version)
        )
    })
}

/// The object with defaults and without the owners it had where it came from, as admission leaves it.
fn admitted<T>(
    resolved: &Resolved,
    namespace: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Value, RefError>
where
    T: DeserializeOwned + Serialize + Resource + Defaults,
{
    let invalid = |error: String| RefError::Failed(format!("invalid runtime object: {error}"));
    let mut object: T = tekton_api::decode::object(&resolved.object)
        .map_err(|error| invalid(format!("strict decoding error: {error}")))?;
    object.set_defaults(input.config, Operation::Other);
    object.meta_mut().owner_references = None;
    let object = serde_json::to_value(&object).map_err(|error| invalid(error.to_string()))?;
    dry_run(&object, namespace, input.suffix, answers)
}

/// The object in version v1.
fn newest<T: DeserializeOwned>(object: Value) -> Result<T, RefError> {
    let current = match ObjectRef::of(&object) {
        ObjectRef { api_version, .. } if api_version == "tekton.dev/v1" => object,
        ObjectRef {
            api_version, kind, ..
        } => {
            // Upstream says Pipeline whatever the kind is.
            let text = format!("failed to convert obj {api_version}, Kind={kind} into Pipeline");
            tekton_api::convert::convert(&object, "tekton.dev/v1").map_err(|_| RefError::Failed(text))?
        }
    };
    decode(&current).map_err(|failure| RefError::Failed(failure.message))
}

fn requesting(text: &str) -> RefError {
    let message = format!("error requesting remote resource: {text}");
    if is_transient_text(&message) {
        RefError::Transient(message)
    } else {
        RefError::Failed(message)
    }
}

fn request(remote: &Remote<'_>, name: &str) -> Value {
    let spec = ResolutionRequestSpec {
        params: remote.params.clone(),
        url: Some(remote.url.clone()).filter(|url| !url.is_empty()),
    };
    json!({
        "apiVersion": RESOLUTION,
        "kind": "ResolutionRequest",
        "metadata": {
            "name": name,
            "namespace": remote.namespace,
            "labels": {"resolution.tekton.dev/type": remote.resolver},
            "ownerReferences": [remote.owner],
        },
        "spec": spec,
    })
}

fn read(data: &str, source: Option<RefSource>) -> Result<Resolved, RefError> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(data)
        .map_err(|error| RefError::Failed(format!("error accessing data from remote resource: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let object =
        parse(&text).map_err(|error| RefError::Failed(format!("invalid runtime object: {error}")))?;
    let resolved = Resolved { object, source };
    if resolved.type_of().1.is_empty() {
        return Err(RefError::Failed(
            "invalid runtime object: Object 'Kind' is missing".to_owned(),
        ));
    }
    Ok(resolved)
}

fn parse(text: &str) -> Result<Value, String> {
    let mut documents = tekton_api::yaml::documents(text).map_err(|error| error.to_string())?;
    match documents.len() {
        0 => Err("Object 'Kind' is missing".to_owned()),
        _ => Ok(documents.swap_remove(0)),
    }
}

fn is_transient(failure: &ApiFailure) -> bool {
    matches!(
        failure.reason.as_str(),
        "Conflict" | "ServerTimeout" | "Timeout" | "TooManyRequests"
    ) || is_transient_text(&failure.message)
}

fn is_transient_text(text: &str) -> bool {
    text.contains("etcdserver: leader changed") || text.contains("context deadline exceeded")
}
