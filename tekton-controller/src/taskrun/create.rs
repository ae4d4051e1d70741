//! Finds the pod of a run or creates it: claims, substitution, look-ups, and what a refusal means.
//!
//! Upstream counterparts: `reconcile`, `createPod`, `handlePodCreationError` in
//! `pkg/reconciler/taskrun/taskrun.go`.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod, Volume};
use tekton_api::config::Config;
use tekton_api::field_errors::FieldErrors;
use tekton_api::labels;
use tekton_api::reasons::TaskRunReason;
use tekton_api::substitute::apply::{params, pod_template, task_spec, workspaces};
use tekton_api::v1::TaskSpec;
use tekton_api::validate::{Context, Validate as _, declared_params};
use tekton_pod::contract::paths;
use tekton_pod::{BuildError, PodInput, needs, status, workspace};

use super::draft::{Draft, Failure, Halt};
use super::lookups;
use super::resolve::ResolvedTask;
use crate::plan::{Answers, ApiFailure, Ask, ObjectRef, PassInput, RunEvent, decode};
use crate::workspace::pvc;

/// The pod of the run, which is created if it has none.
pub(super) fn pod(
    draft: &mut Draft,
    task: &ResolvedTask,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Pod, Halt> {
    let existing = existing(draft, answers)?;
    if existing.is_none() {
        claim_volumes(draft, answers)?;
    }
    let known = params::of_run(&draft.run.spec.params, &task.spec.params);
    workspaces::bindings(&mut draft.run.spec.workspaces, &known);
    let volumes = workspace::volumes(&draft.run.spec.workspaces);
    let spec = substituted(draft, task, &volumes);
    draft.status_mut().task_spec = Some(spec.clone());
    match existing {
        Some(pod) => Ok(pod),
        None => create(draft, spec, input, answers).map_err(|refusal| refused(draft, refusal)),
    }
}

/// The pod that the status names, or else one that this run controls and that is not from a failed attempt.
fn existing(draft: &Draft, answers: &Answers) -> Result<Option<Pod>, Halt> {
    let run = &draft.run;
    let status = draft.status();
    let namespace = run.metadata.namespace.clone().unwrap_or_default();
    if !status.pod_name.is_empty() {
        let target = ObjectRef::new("v1", "Pod", namespace, &status.pod_name);
        return answers
            .cached::<Pod>(target)?
            .map_err(|failure| Halt::from(&failure));
    }
    let name = run.metadata.name.clone().unwrap_or_default();
    let ask = Ask::List {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        namespace,
        labels: format!("{}={name}", labels::TASK_RUN),
    };
    let list = answers.ask(ask)?.as_ref().map_err(Halt::from)?;
    let pods = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|object| decode::<Pod>(object).ok());
    let is_own = |pod: &Pod| {
        let owners = pod.metadata.owner_references.as_deref().unwrap_or_default();
        owners
            .iter()
            .any(|owner| owner.controller == Some(true) && Some(&owner.uid) == run.metadata.uid.as_ref())
    };
    let is_archived = |pod: &Pod| {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        status
            .retries_status
            .iter()
            .any(|attempt| attempt.pod_name == name)
    };
    let has_failed =
        |pod: &Pod| status::completion::did_fail(pod, status::containers::container_statuses(pod));
    let mut pods = pods.rev();
    Ok(pods.find(|pod| is_own(pod) && !has_failed(pod) && !is_archived(pod)))
}

fn claim_volumes(draft: &mut Draft, answers: &Answers) -> Result<(), Halt> {
    if !draft
        .run
        .spec
        .workspaces
        .iter()
        .any(|binding| binding.volume_claim_template.is_some())
    {
        return Ok(());
    }
    let owner = draft.owner();
    let namespace = draft.run.metadata.namespace.clone().unwrap_or_default();
    if let Err(text) = pvc::ensure(&draft.run.spec.workspaces, &owner, &namespace, answers)? {
        let name = draft.run.metadata.name.as_deref().unwrap_or_default();
        let message =
            format!("failed to create PVC for TaskRun {namespace}/{name} workspaces correctly: {text}");
        draft.mark_failed(TaskRunReason::CouldntCreateWorkspacePvc, message);
        return Err(crate::plan::ReconcileError::Permanent(text).into());
    }
    draft.run.spec.workspaces = pvc::bound(&draft.run.spec.workspaces, &owner);
    Ok(())
}

/// The Task with everything substituted that is known before the pod exists.
fn substituted(draft: &Draft, task: &ResolvedTask, volumes: &[Volume]) -> TaskSpec {
    let run = &draft.run;
    let mut spec = task.spec.clone();
    task_spec::task_spec(&mut spec, &params::of_run(&run.spec.params, &task.spec.params));
    task_spec::task_spec(&mut spec, &task_spec::context(&task.name, run));
    task_spec::result_paths(&mut spec);
    task_spec::artifact_paths(&mut spec);
    task_spec::exit_code_paths(&mut spec);
    workspaces::propagate(&mut spec, &run.spec.workspaces);
    let names: BTreeMap<String, String> = run
        .spec
        .workspaces
        .iter()
        .zip(volumes)
        .filter(|(_, volume)| {
            **volume
                != Volume {
                    name: volume.name.clone(),
                    ..Volume::default()
                }
        })
        .map(|(binding, volume)| (binding.name.clone(), volume.name.clone()))
        .collect();
    workspaces::workspaces(&mut spec, &run.spec.workspaces, &names);
    spec
}

/// Why there is no pod.
enum Refusal {
    Halt(Halt),
    Invalid(FieldErrors),
    Build(BuildError),
    Api(ApiFailure),
}

impl From<crate::plan::Waiting> for Refusal {
    fn from(waiting: crate::plan::Waiting) -> Self {
        Self::Halt(waiting.into())
    }
}

fn create(
    draft: &mut Draft,
    spec: TaskSpec,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Pod, Refusal> {
    check(&spec, input.config).map_err(Refusal::Invalid)?;
    let run = draft.run.clone();
    let declared = spec.params.clone();
    let mut spec = workspace::apply(spec, &run.spec.workspaces);
    task_spec::credentials_path(&mut spec, paths::CREDENTIALS_DIR);
    let template = run.spec.pod_template.clone().map(|mut template| {
        pod_template::pod_template(&mut template, &params::of_run(&run.spec.params, &declared));
        template
    });
    let lookups = lookups::look_up(&run, &spec, input, answers)?;
    let missing = needs::missing_secrets(&lookups);
    if !missing.is_empty() {
        draft.events.push(RunEvent::warning(
            "FailedToRetrieveSecret",
            format!(
                "Unable to retrieve some secrets ({}); attempting to use them may not succeed.",
                missing.join(", ")
            ),
        ));
    }
    let images = lookups::images(input.images);
    let pod = tekton_pod::build_pod(&PodInput {
        run: &run,
        spec: &spec,
        pod_template: template.as_ref(),
        config: input.config,
        images: &images,
        lookups: &lookups,
        release: crate::RELEASE,
        suffix: input.suffix,
    })
    .map_err(Refusal::Build)?;
    let name = pod.metadata.name.clone().unwrap_or_default();
    let object = serde_json::to_value(&pod).unwrap_or_default();
    match lookups::create(object, input, answers)? {
        Ok(object) => {
            let replaces = run
                .metadata
                .annotations
                .as_ref()
                .and_then(|all| all.get(labels::AFFINITY_ASSISTANT));
            let has_affinity = run
                .spec
                .pod_template
                .as_ref()
                .is_some_and(|template| template.affinity.is_some());
            if has_affinity && replaces.is_some_and(|assistant| !assistant.is_empty()) {
                draft.events.push(RunEvent::warning(
                    "PodAffinityOverwrite",
                    format!("Pod template affinity is overwritten by affinity assistant for pod \"{name}\""),
                ));
            }
            decode(&object).map_err(Refusal::Api)
        }
        Err(failure) if failure.is_already_exists() => {
            let namespace = run.metadata.namespace.clone().unwrap_or_default();
            match answers.cached::<Pod>(ObjectRef::new("v1", "Pod", namespace, name))? {
                Ok(Some(pod)) => Ok(pod),
                _ => Err(Refusal::Api(failure)),
            }
        }
        Err(failure) => Err(Refusal::Api(failure)),
    }
}

/// Now that params and workspaces of the run have been propagated, everything used must be declared.
fn check(spec: &TaskSpec, config: &Config) -> Result<(), FieldErrors> {
    let context = Context::new(config);
    declared_params(&spec.steps, &spec.params, &context).into_result()?;
    spec.validate(&context, None).into_result()
}

/// What becomes of a run whose pod is refused.
fn refused(draft: &mut Draft, refusal: Refusal) -> Halt {
    let (text, failure) = match refusal {
        Refusal::Halt(halt) => return halt,
        Refusal::Invalid(errors) => (errors.to_string(), None),
        Refusal::Build(error) => (format!("translating TaskSpec to Pod: {error}"), None),
        Refusal::Api(failure) => (failure.message.clone(), Some(failure)),
    };
    let is_forbidden = failure.as_ref().is_some_and(ApiFailure::is_forbidden);
    if failure.as_ref().is_some_and(is_quota_conflict) {
        draft.status_mut().start_time = None;
        return Halt::Ongoing {
            reason: TaskRunReason::PodPending,
            message: "tried to create pod, but it failed with ResourceQuotaConflictError".to_owned(),
            requeue: Duration::from_secs(1),
        };
    }
    if is_forbidden && text.contains("exceeded quota") {
        draft.status_mut().start_time = None;
        return Halt::Ongoing {
            reason: TaskRunReason::ExceededResourceQuota,
            message: format!("TaskRun Pod exceeded available resources: {text}"),
            requeue: Duration::from_secs(60),
        };
    }
    if text.contains("TaskRun validation failed") {
        let reason = TaskRunReason::FailedValidation;
        return Halt::Fail(Failure {
            reason,
            text,
            user_error: false,
            permanent: false,
        });
    }
    if failure.as_ref().is_some_and(ApiFailure::is_already_exists) {
        draft.mark_ongoing(
            TaskRunReason::PodPending,
            "tried to create pod, but it already exists",
        );
        return Halt::transient(text);
    }
    if is_forbidden && (text.contains("violates PodSecurity") || text.contains("security context constraint"))
    {
        let reason = TaskRunReason::PodAdmissionFailed;
        return Halt::Fail(Failure {
            reason,
            text,
            user_error: false,
            permanent: false,
        });
    }
    let metadata = &draft.run.metadata;
    let guess = match &draft.run.spec.task_ref {
        Some(reference) => format!(
            "missing or invalid Task {}/{}",
            metadata.namespace.as_deref().unwrap_or_default(),
            reference.name.as_deref().unwrap_or_default()
        ),
        None => "invalid TaskSpec".to_owned(),
    };
    let name = metadata.name.as_deref().unwrap_or_default();
    let text = format!("failed to create task run pod \"{name}\": {text}. Maybe {guess}");
    Halt::permanent(TaskRunReason::PodCreationFailed, text)
}

fn is_quota_conflict(failure: &ApiFailure) -> bool {
    failure.is_conflict()
        && failure.details.get("kind").and_then(|kind| kind.as_str()) == Some("resourcequotas")
}
