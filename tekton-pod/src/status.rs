//! From a Pod's status to the status of its TaskRun.
//!
//! [`observe`] is a pure function of the run, the pod, the resolved Task, the configuration and the time; the
//! log of the results sidecar, where one is needed ([`needs_log`]), is handed in as well.
//! Upstream counterpart: `MakeTaskRunStatus` in `pkg/pod/status.go`.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use tekton_api::condition::{Condition, ConditionStatus};
use tekton_api::config::{FeatureFlags, ResultsFrom};
use tekton_api::labels;
use tekton_api::reasons::TaskRunReason;
use tekton_api::v1::{SidecarState, TaskRun, TaskRunStatus, TaskSpec};

use self::completion::WaitFor;
use self::waiting::Pending;
use crate::contract::frames;

pub mod artifacts;
pub mod completion;
pub mod containers;
mod error;
pub mod failure;
mod log;
mod results;
mod steps;
pub mod waiting;

pub use self::error::StatusError;

const RUNNING: &str = "Not all Steps in the Task have finished executing";
/// Value of the annotation by which a pipeline lets a task fail without failing itself.
const CONTINUE: &str = "continue";

/// All that the status of a TaskRun depends on.
#[derive(Clone, Copy, Debug)]
pub struct StatusInput<'a> {
    /// The run with its status so far.
    pub run: &'a TaskRun,
    /// Its pod.
    pub pod: &'a Pod,
    /// The Task as resolved, before substitution.
    pub task_spec: &'a TaskSpec,
    /// Configuration.
    pub features: &'a FeatureFlags,
    /// Log of the results sidecar, or why it could not be read; `None` where [`needs_log`] says so.
    pub log: Option<Result<&'a str, &'a str>>,
    /// Time of the pass.
    pub now: Timestamp,
}

/// The derived status, and what was wrong with the messages it is derived from.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The new status.
    pub status: TaskRunStatus,
    /// Complaints in the order in which they were met. They do not change the status.
    pub errors: Vec<StatusError>,
}

/// True if results come from the log of a container and this run has any: the log must be read.
pub fn needs_log(run: &TaskRun, pod: &Pod, task_spec: &TaskSpec, features: &FeatureFlags) -> bool {
    let stored = run.status.as_ref().and_then(|status| status.task_spec.as_ref());
    features.results_from == ResultsFrom::SidecarLogs
        && containers::phase(pod) != "Pending"
        && (stored.is_some_and(|spec| !spec.results.is_empty())
            || artifacts::are_referenced(&task_spec.steps))
}

/// Derives the status of a run from its pod.
pub fn observe(input: &StatusInput<'_>) -> Observed {
    let StatusInput {
        run,
        pod,
        features,
        now,
        ..
    } = *input;
    let mut status = run.status.clone().unwrap_or_default();
    let now = Time(now);
    if !status.conditions.is_done() {
        mark(&mut status, running(), &now);
    }
    let spec_containers = pod
        .spec
        .as_ref()
        .map(|spec| spec.containers.as_slice())
        .unwrap_or_default();
    let statuses = containers::in_container_order(containers::container_statuses(pod), spec_containers);

    let wait_for = WaitFor {
        results_sidecar: (features.results_from == ResultsFrom::SidecarLogs)
            .then_some(containers::RESULTS_SIDECAR),
        init_containers: features.enable_kubernetes_sidecar,
    };
    if completion::is_complete(pod, &statuses, wait_for) {
        mark(&mut status, outcome(run, pod, &statuses), &now);
        status.completion_time = Some(now.clone());
    } else if let Some(condition) = progress(pod, &statuses) {
        mark(&mut status, condition, &now);
    }
    status.pod_name = pod.metadata.name.clone().unwrap_or_default();
    let mut errors = Vec::new();
    let entries = match input.log {
        Some(Ok(text)) => {
            let limit = usize::try_from(features.max_result_size).unwrap_or_default();
            let (entries, error) = frames::parse_log(text.as_bytes(), limit);
            errors.extend(error.map(StatusError::from));
            entries
        }
        Some(Err(text)) => {
            errors.push(StatusError::Log(text.to_owned()));
            Vec::new()
        }
        None => Vec::new(),
    };
    let embedded = run.spec.task_spec.iter().flat_map(|spec| spec.results.iter());
    let sources = steps::Sources {
        declared: embedded.chain(&input.task_spec.results).cloned().collect(),
        task_spec: input.task_spec,
        log: entries,
        done: status.conditions.is_done(),
    };
    let of_steps: Vec<ContainerStatus> = statuses
        .iter()
        .filter(|status| containers::is_step(&status.name))
        .cloned()
        .collect();
    errors.extend(steps::fill(&mut status, &of_steps, &sources));
    status.sidecars = sidecars(statuses.iter().chain(containers::init_container_statuses(pod)));
    status.results = results::without_duplicates(std::mem::take(&mut status.results));
    Observed { status, errors }
}

/// The states of the sidecars among these containers.
pub fn sidecars<'a>(statuses: impl Iterator<Item = &'a ContainerStatus>) -> Vec<SidecarState> {
    statuses
        .filter(|status| containers::is_sidecar(&status.name))
        .map(|status| {
            let state = status.state.clone().unwrap_or_default();
            SidecarState {
                waiting: state.waiting,
                running: state.running,
                terminated: state.terminated,
                name: Some(containers::sidecar_name(&status.name).to_owned()),
                container: Some(status.name.clone()),
                image_id: containers::image_id(status),
            }
        })
        .collect()
}

fn mark(status: &mut TaskRunStatus, condition: Condition, now: &Time) {
    status.conditions.set(condition, now);
}

fn running() -> Condition {
    Condition::succeeded(ConditionStatus::Unknown, TaskRunReason::Running, RUNNING)
}

fn outcome(run: &TaskRun, pod: &Pod, statuses: &[ContainerStatus]) -> Condition {
    if !completion::did_fail(pod, statuses) {
        let message = "All Steps have completed executing";
        return Condition::succeeded(ConditionStatus::True, TaskRunReason::Successful, message);
    }
    let failure = failure::classify(pod, statuses);
    let on_error = run
        .metadata
        .annotations
        .as_ref()
        .and_then(|all| all.get(labels::PIPELINE_TASK_ON_ERROR));
    let ignored = on_error.is_some_and(|value| value == CONTINUE);
    let reason = if ignored {
        TaskRunReason::FailureIgnored
    } else {
        failure.reason
    };
    Condition::succeeded(ConditionStatus::False, reason, failure.message)
}

/// The condition of a run whose pod is not complete; none where the pod's phase says nothing.
fn progress(pod: &Pod, statuses: &[ContainerStatus]) -> Option<Condition> {
    let (status, reason, message) = match containers::phase(pod) {
        "Running" => return Some(running()),
        "Pending" => match waiting::classify(pod, statuses) {
            Pending::NodeResources => (
                ConditionStatus::Unknown,
                TaskRunReason::ExceededNodeResources,
                "TaskRun Pod exceeded available resources".to_owned(),
            ),
            Pending::SubPath => (
                ConditionStatus::Unknown,
                TaskRunReason::PodPending,
                "Waiting for subPath directory creation to complete".to_owned(),
            ),
            Pending::ConfigError => (
                ConditionStatus::False,
                TaskRunReason::CreateContainerConfigError,
                "Failed to create pod due to config error".to_owned(),
            ),
            Pending::Image(message) => (ConditionStatus::Unknown, TaskRunReason::PullImageFailed, message),
            Pending::Other(message) => (ConditionStatus::Unknown, TaskRunReason::PodPending, message),
        },
        _ => return None,
    };
    Some(Condition::succeeded(status, reason, message))
}
