//! From a TaskRun to the Task it runs: fetched, recorded in the status, and checked against the run.
//!
//! Upstream counterpart: `prepare` in `pkg/reconciler/taskrun/taskrun.go`, `resources/taskref.go`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tekton_api::config::{Config, Coschedule};
use tekton_api::defaults::{Defaults as _, Operation};
use tekton_api::labels;
use tekton_api::reasons::TaskRunReason;
use tekton_api::substitute::apply::{params, task_spec};
use tekton_api::v1::{
    Provenance, RefSource, Task, TaskRef, TaskSpec, WorkspaceBinding, WorkspaceDeclaration,
};

use super::draft::{Draft, Failure, Halt};
use super::{step_actions, validate};
use crate::plan::{Answers, Ask, ObjectRef, PassInput, ReconcileError, decode};
use crate::refs::{self, RefError, Remote};

const TEKTON: &str = "tekton.dev/v1";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How long to wait for a resolver before looking again, should its answer be missed.
const RESOLUTION_PAUSE: Duration = Duration::from_secs(1);

/// A Task that fits its run.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedTask {
    /// Name of the Task, or of the run if it embeds one.
    pub(crate) name: String,
    /// The Task with its StepActions in place, before substitution.
    pub(crate) spec: TaskSpec,
}

/// A Task as it was found.
struct Found {
    name: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    spec: TaskSpec,
    source: Option<RefSource>,
}

/// Fetches the Task and checks that the run fits it.
pub(super) fn resolve(
    draft: &mut Draft,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<ResolvedTask, Halt> {
    draft.run.set_defaults(input.config, Operation::Other);
    let mut found = find(draft, input, answers)
        .map_err(|error| halt(draft, error, TaskRunReason::ResolvingTaskRef, "resource"))?;
    found.spec.set_defaults(input.config, Operation::Other);
    let is_first = draft.status().task_spec.is_none();
    record(draft, &found, input.config);
    found.spec.steps = step_actions::resolve(draft, &found.spec, input, answers)
        .map_err(|error| halt(draft, error, TaskRunReason::ResolvingStepActionRef, "StepAction"))?;
    if is_first {
        draft.status_mut().task_spec = Some(found.spec.clone());
    }
    let task = ResolvedTask {
        name: found.name,
        spec: found.spec,
    };
    check(draft, &task, input.config)?;
    Ok(task)
}

/// What becomes of a run whose reference leads nowhere.
fn halt(draft: &Draft, error: RefError, waiting: TaskRunReason, what: &str) -> Halt {
    match error {
        RefError::Wait(waiting) => Halt::Wait(waiting),
        RefError::InProgress => {
            let metadata = &draft.run.metadata;
            let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
            Halt::Ongoing {
                reason: waiting,
                message: format!(
                    "TaskRun {}/{} awaiting remote {what}",
                    namespace.unwrap_or_default(),
                    name.unwrap_or_default()
                ),
                requeue: RESOLUTION_PAUSE,
            }
        }
        RefError::Transient(text) => Halt::transient(text),
        RefError::Invalid(text, user_error) => Halt::Fail(Failure {
            reason: TaskRunReason::TaskFailedValidation,
            text,
            user_error,
            permanent: true,
        }),
        RefError::Failed(text) => Halt::permanent(TaskRunReason::FailedResolution, text),
    }
}

fn find(draft: &Draft, input: &PassInput<'_>, answers: &Answers) -> Result<Found, RefError> {
    let run = &draft.run;
    let run_name = run.metadata.name.clone().unwrap_or_default();
    let reference = run.spec.task_ref.as_ref();
    let name = reference
        .and_then(|reference| reference.name.as_deref())
        .unwrap_or_default();
    let resolver = reference
        .and_then(|reference| reference.resolver.as_deref())
        .unwrap_or_default();
    match (reference, &run.spec.task_spec) {
        (Some(reference), _) if !name.is_empty() => referenced(draft, reference, name, input, answers)
            .map_err(|error| {
                error.map(|text| format!("error when listing tasks for taskRun {run_name}: {text}"))
            }),
        (_, Some(spec)) => Ok(Found {
            name: run_name,
            labels: run.metadata.labels.clone().unwrap_or_default(),
            annotations: run.metadata.annotations.clone().unwrap_or_default(),
            spec: spec.clone(),
            source: None,
        }),
        (Some(reference), None) if !resolver.is_empty() => {
            referenced(draft, reference, &run_name, input, answers)
        }
        _ => Err(RefError::Failed(format!(
            "taskRun {run_name} not providing TaskRef or TaskSpec"
        ))),
    }
}

/// The stored copy if there is one, otherwise the Task from a resolver or the namespace.
fn referenced(
    draft: &Draft,
    reference: &TaskRef,
    name: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Found, RefError> {
    let run = &draft.run;
    let status = draft.status();
    if let Some(spec) = status.task_spec {
        let source = status.provenance.and_then(|provenance| provenance.ref_source);
        return Ok(Found {
            name: name.to_owned(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            spec,
            source,
        });
    }
    let namespace = run.metadata.namespace.clone().unwrap_or_default();
    let (task, source): (Task, Option<RefSource>) = match reference.resolver.as_deref().unwrap_or_default() {
        "" => {
            let target = ObjectRef::new(TEKTON, "Task", namespace, name);
            let object = answers.ask(Ask::Get(target))?;
            let task = object
                .as_ref()
                .map_err(|failure| RefError::of_call(failure, str::to_owned))?;
            (
                decode(task).map_err(|failure| RefError::Failed(failure.message))?,
                None,
            )
        }
        resolver => {
            let mut known = params::of_values(&run.spec.params);
            known.strings.extend(task_spec::context("", run).strings);
            known.objects.clear();
            let mut given = reference.params.clone();
            for param in &mut given {
                param.value = known.param_value(&param.value);
            }
            let url = reference
                .name
                .as_deref()
                .filter(|name| is_url_like(name))
                .map(|name| known.string(name));
            let remote = Remote {
                resolver,
                params: given,
                url: url.unwrap_or_default(),
                name: run.metadata.name.as_deref().unwrap_or_default(),
                namespace: &namespace,
                owner: draft.owner(),
            };
            let resolved = refs::fetch(&remote, answers)?;
            (
                refs::task(&resolved, &namespace, input, answers)?,
                resolved.source,
            )
        }
    };
    Ok(Found {
        name: task.metadata.name.unwrap_or_default(),
        labels: task.metadata.labels.unwrap_or_default(),
        annotations: task.metadata.annotations.unwrap_or_default(),
        spec: task.spec,
        source,
    })
}

/// Whether a name is an address, as Go's request URIs go: an absolute path or anything with a scheme.
pub(crate) fn is_url_like(name: &str) -> bool {
    let has_scheme = name.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    name.starts_with('/') || has_scheme
}

/// Keeps the Task in the status, and its labels and annotations on the run, whose own ones win.
fn record(draft: &mut Draft, found: &Found, config: &Config) {
    let has_reference = draft.run.spec.task_ref.is_some();
    if draft.status().task_spec.is_none() {
        draft.status_mut().task_spec = Some(found.spec.clone());
        let metadata = &mut draft.run.metadata;
        let annotations = metadata.annotations.get_or_insert_default();
        for (key, value) in found.annotations.iter().filter(|(key, _)| *key != LAST_APPLIED) {
            annotations.entry(key.clone()).or_insert_with(|| value.clone());
        }
        let own = metadata.labels.get_or_insert_default();
        for (key, value) in &found.labels {
            own.entry(key.clone()).or_insert_with(|| value.clone());
        }
        if has_reference {
            own.insert(labels::TASK.to_owned(), found.name.clone());
        }
    }
    if config.features.enable_provenance_in_status {
        let provenance = draft
            .status_mut()
            .provenance
            .get_or_insert_with(Provenance::default);
        provenance.feature_flags = feature_flags(config);
        if provenance.ref_source.is_none() {
            provenance.ref_source.clone_from(&found.source);
        }
    }
}

/// The checks, in the order in which they decide the reason.
fn check(draft: &mut Draft, task: &ResolvedTask, config: &Config) -> Result<(), Halt> {
    let invalid = |text| Halt::user(TaskRunReason::FailedValidation, text);
    let given = draft.run.spec.params.clone();
    let spec = &task.spec;
    validate::requests(spec).map_err(invalid)?;
    validate::resolved_task(&given, &spec.params, &task.name).map_err(invalid)?;
    if config.features.enable_param_enum {
        validate::enums(&given, &spec.params)
            .map_err(|text| Halt::user(TaskRunReason::InvalidParamValue, text))?;
    }
    validate::array_indices(spec, &given).map_err(invalid)?;
    bind_defaults(draft, spec, &config.defaults.task_run_workspace_binding)
        .map_err(|text| Halt::permanent(TaskRunReason::FailedResolution, text))?;
    let bound = &draft.run.spec.workspaces;
    let mut declared: Vec<WorkspaceDeclaration> = Vec::new();
    if draft.run.spec.task_spec.is_some() {
        let propagated = bound.iter().map(|binding| WorkspaceDeclaration {
            name: binding.name.clone(),
            ..WorkspaceDeclaration::default()
        });
        declared.extend(propagated);
    }
    declared.extend(spec.workspaces.iter().cloned());
    validate::bindings(&declared, bound).map_err(invalid)?;
    match config.features.coschedule {
        Coschedule::Workspaces => validate::one_claim(bound).map_err(invalid)?,
        Coschedule::PipelineRuns | Coschedule::IsolatePipelineRun | Coschedule::Disabled => {}
    }
    validate::overrides(spec, &draft.run.spec).map_err(invalid)
}

/// Binds needed workspaces that the run does not bind as the configuration says.
fn bind_defaults(draft: &mut Draft, spec: &TaskSpec, default: &str) -> Result<(), String> {
    if default.is_empty() {
        return Ok(());
    }
    let binding: WorkspaceBinding = tekton_api::yaml::documents(default)
        .ok()
        .and_then(|documents| serde_json::from_value(documents.into_iter().next()?).ok())
        .ok_or_else(|| format!("failed to unmarshal {default}"))?;
    let bound = &mut draft.run.spec.workspaces;
    for declaration in spec
        .workspaces
        .iter()
        .filter(|declaration| !declaration.optional.unwrap_or_default())
    {
        if !bound.iter().any(|own| own.name == declaration.name) {
            bound.push(WorkspaceBinding {
                name: declaration.name.clone(),
                projected: None,
                csi: None,
                ..binding.clone()
            });
        }
    }
    Ok(())
}

impl From<ReconcileError> for Halt {
    fn from(error: ReconcileError) -> Self {
        Self::Error(error)
    }
}

pub(crate) fn feature_flags(config: &Config) -> Option<serde_json::Map<String, Value>> {
    match serde_json::to_value(&config.features) {
        Ok(Value::Object(flags)) => Some(flags),
        _ => None,
    }
}
