//! Takes over what the pod tells: lets the first step start, derives the status, checks the results.
//!
//! Upstream counterpart: the second half of `reconcile` in `pkg/reconciler/taskrun/taskrun.go`.

use k8s_openapi::api::core::v1::Pod;
use tekton_api::reasons::TaskRunReason;
use tekton_api::v1::{TaskRun, TaskSpec};
use tekton_pod::patch;
use tekton_pod::status::{self, Observed, StatusError, StatusInput, completion, containers};

use super::draft::{Draft, Failure, Halt, USER_ERROR};
use super::resolve::ResolvedTask;
use super::validate;
use crate::plan::{Answers, Ask, ObjectRef, PassInput, Patch, RunEvent, Waiting};

/// A result is too large: the run has to fail.
pub(super) struct TooLarge {
    /// Message of the condition.
    pub(super) message: String,
}

/// Brings the run's status up to date with its pod.
pub(super) fn observe(
    draft: &mut Draft,
    pod: &Pod,
    task: &ResolvedTask,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Option<TooLarge>, Halt> {
    let pod_name = pod.metadata.name.clone().unwrap_or_default();
    if completion::exceeds_node_resources(pod) {
        draft.events.push(RunEvent::warning(
            TaskRunReason::ExceededNodeResources.as_str(),
            format!("Insufficient resources to schedule pod \"{pod_name}\""),
        ));
    }
    if completion::sidecars_ready(pod)
        && let Some(body) = patch::ready(pod)
    {
        let namespace = pod.metadata.namespace.clone().unwrap_or_default();
        let target = ObjectRef::new("v1", "Pod", namespace, &pod_name);
        let ask = Ask::Patch {
            target,
            patch: Patch::Json(body),
            subresource: None,
        };
        answers.ask(ask)?.as_ref().map_err(Halt::from)?;
    }
    let Observed { status, errors } = self::status(&draft.run, pod, &task.spec, input, answers)?;
    *draft.status_mut() = status;
    let text = errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    if errors.iter().any(StatusError::is_too_large) {
        let name = draft.run.metadata.name.as_deref().unwrap_or_default();
        let message = format!("{USER_ERROR} TaskRun \"\"{name}\"\" failed: {text}");
        return Ok(Some(TooLarge { message }));
    }
    if !errors.is_empty() {
        return Err(Halt::transient(text));
    }
    let embedded = draft
        .run
        .spec
        .task_spec
        .iter()
        .flat_map(|spec| spec.results.iter());
    let declared: Vec<_> = embedded.chain(&task.spec.results).cloned().collect();
    validate::results(&mut draft.status_mut().results, &declared).map_err(|text| {
        Halt::Fail(Failure {
            reason: TaskRunReason::FailedValidation,
            text,
            user_error: true,
            permanent: false,
        })
    })?;
    Ok(None)
}

/// The status of a run as its pod has it, with the log of the results sidecar read where it is needed.
pub(super) fn status(
    run: &TaskRun,
    pod: &Pod,
    spec: &TaskSpec,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Observed, Waiting> {
    let features = &input.config.features;
    let log = if status::needs_log(run, pod, spec, features) {
        let ask = Ask::PodLog {
            namespace: pod.metadata.namespace.clone().unwrap_or_default(),
            pod: pod.metadata.name.clone().unwrap_or_default(),
            container: containers::RESULTS_SIDECAR.to_owned(),
        };
        Some(
            answers
                .ask(ask)?
                .as_ref()
                .map(|text| text.as_str().unwrap_or_default())
                .map_err(|failure| failure.message.as_str()),
        )
    } else {
        None
    };
    Ok(status::observe(&StatusInput {
        run,
        pod,
        task_spec: spec,
        features,
        log,
        now: input.now,
    }))
}
