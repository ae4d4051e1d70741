//! Derives the state of each step, and with it results and artifacts of the run.
//!
//! Upstream counterpart: `setTaskRunStatusBasedOnStepStatus` in `pkg/pod/status.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use tekton_api::v1::{Artifacts, Provenance, StepResult, StepState, TaskResult, TaskRunStatus, TaskSpec};

use super::containers::{STEP_PREFIX, image_id, step_name};
use super::error::StatusError;
use super::{artifacts, log, results};
use crate::contract::json;
use crate::contract::result::{ResultType, RunResult};
use crate::contract::termination;
use tekton_api::quote::quote;

/// What the states of steps are derived from.
pub(super) struct Sources<'a> {
    /// Results declared by the run's embedded spec and by the Task.
    pub(super) declared: Vec<TaskResult>,
    /// The Task as resolved.
    pub(super) task_spec: &'a TaskSpec,
    /// Entries of the results sidecar's log.
    pub(super) log: Vec<RunResult>,
    /// Whether the run is done: results are kept only then.
    pub(super) done: bool,
}

/// Fills in steps, results and artifacts; returns what was wrong with the sources.
pub(super) fn fill(
    status: &mut TaskRunStatus,
    steps: &[ContainerStatus],
    sources: &Sources<'_>,
) -> Vec<StatusError> {
    let mut errors = Vec::new();
    if sources.done {
        take_task_log(status, sources, &mut errors);
    }
    let provenances: BTreeMap<String, Option<Provenance>> = status
        .steps
        .iter()
        .map(|state| (state.name.clone().unwrap_or_default(), state.provenance.clone()))
        .collect();
    let states: Vec<StepState> = steps
        .iter()
        .map(|step| {
            let mut state = step_state(status, step, sources, &mut errors);
            if let Some(provenance) = state.name.as_ref().and_then(|name| provenances.get(name)) {
                state.provenance.clone_from(provenance);
            }
            state
        })
        .collect();
    if !states.is_empty() {
        status.steps = states;
    }
    errors
}

fn take_task_log(status: &mut TaskRunStatus, sources: &Sources<'_>, errors: &mut Vec<StatusError>) {
    let of_task: Vec<RunResult> = sources
        .log
        .iter()
        .filter(|entry| entry.result_type == ResultType::TaskRun)
        .cloned()
        .collect();
    status
        .results
        .extend(results::sort(&of_task, &sources.declared, &[]).task);
    match artifacts::find(&sources.log, ResultType::TaskRunArtifacts, None) {
        Ok(found) => status.artifacts = Some(found),
        Err(error) => errors.push(error),
    }
}

fn step_state(
    status: &mut TaskRunStatus,
    step: &ContainerStatus,
    sources: &Sources<'_>,
    errors: &mut Vec<StatusError>,
) -> StepState {
    let declared: Vec<StepResult> = sources
        .task_spec
        .steps
        .iter()
        .filter(|spec| step.name.strip_prefix(STEP_PREFIX) == Some(spec.name.as_str()))
        .flat_map(|spec| spec.results.iter().cloned())
        .collect();
    let wanted = results::wanted_of_step(&step.name, &sources.declared).unwrap_or_else(|error| {
        errors.push(error);
        BTreeMap::new()
    });
    let mut container = step.state.clone().unwrap_or_default();
    let mut state = StepState {
        name: Some(step_name(&step.name).to_owned()),
        container: Some(step.name.clone()),
        image_id: image_id(step),
        ..StepState::default()
    };

    let (from_log, error) = log::of_container(&sources.log, &step.name);
    errors.extend(error);
    let from_log = results::sort(&from_log, &sources.declared, &declared).step;
    if sources.done {
        status.results.extend(results::fetched(&from_log, &wanted));
        state.results.extend(from_log);
    }
    let mut declared_artifacts = artifacts::find(&sources.log, ResultType::StepArtifacts, Some(&step.name))
        .unwrap_or_else(|error| {
            errors.push(error);
            Artifacts::default()
        });

    if let Some(terminated) = container.terminated.as_mut() {
        match termination::parse(terminated.message.as_deref().unwrap_or_default()) {
            Ok(entries)
                if terminated
                    .message
                    .as_deref()
                    .is_some_and(|message| !message.is_empty()) =>
            {
                let facts = Facts::of(&entries, &mut declared_artifacts, errors);
                let sorted = results::sort(&entries, &sources.declared, &declared);
                terminated.message = message(&sorted.visible);
                if sources.done {
                    status.results.extend(sorted.task);
                    status.results.extend(results::fetched(&sorted.step, &wanted));
                    state.results.extend(sorted.step);
                    take_task_artifacts(status, &sorted.visible, &declared_artifacts, errors);
                }
                state.termination_reason = facts.apply(terminated);
            }
            Ok(_) => {}
            Err(error) => errors.push(error.into()),
        }
    }
    state.inputs = declared_artifacts.inputs;
    state.outputs = declared_artifacts.outputs;
    state.set_container_state(container);
    state
}

fn take_task_artifacts(
    status: &mut TaskRunStatus,
    entries: &[RunResult],
    of_step: &Artifacts,
    errors: &mut Vec<StatusError>,
) {
    let of_task = artifacts::find(entries, ResultType::TaskRunArtifacts, None).unwrap_or_else(|error| {
        errors.push(error);
        Artifacts::default()
    });
    let all = status.artifacts.get_or_insert_default();
    artifacts::merge(all, &of_task);
    artifacts::merge(all, of_step);
}

/// What the entrypoint tells about the life of its step.
struct Facts {
    started_at: Option<Timestamp>,
    exit_code: Option<i32>,
    reason: Option<String>,
}

impl Facts {
    fn of(entries: &[RunResult], declared: &mut Artifacts, errors: &mut Vec<StatusError>) -> Self {
        let value = |key: &str| {
            entries
                .iter()
                .find(|entry| entry.key == key)
                .map(|entry| entry.value.as_str())
        };
        match artifacts::find(entries, ResultType::StepArtifacts, None) {
            Ok(found) if found != Artifacts::default() => *declared = found,
            Ok(_) => {}
            Err(error) => errors.push(error),
        }
        let started_at = value("StartedAt").and_then(|text| match text.parse() {
            Ok(time) => Some(time),
            Err(cause) => {
                let cause = format!("parsing time {}: {cause}", quote(text));
                errors.push(StatusError::StartedAt {
                    value: quote(text),
                    cause,
                });
                None
            }
        });
        let exit_code = value("ExitCode").and_then(|text| match text.parse() {
            Ok(code) => Some(code),
            Err(cause) => {
                let cause = parse_int_error(text, &cause);
                errors.push(StatusError::ExitCode {
                    value: quote(text),
                    cause,
                });
                None
            }
        });
        let reason = entries
            .iter()
            .find(|entry| entry.result_type == ResultType::InternalTekton && entry.key == "Reason")
            .map(|entry| entry.value.clone())
            .filter(|reason| !reason.is_empty());
        Self {
            started_at,
            exit_code,
            reason,
        }
    }

    /// Corrects the state by the facts and returns the reason of the termination.
    fn apply(self, state: &mut ContainerStateTerminated) -> Option<String> {
        let reason = match (self.reason, self.exit_code) {
            (Some(reason), _) => Some(reason),
            (None, Some(_)) => Some("Continued".to_owned()),
            (None, None) => state.reason.clone().filter(|reason| !reason.is_empty()),
        };
        if let Some(started_at) = self.started_at {
            state.started_at = Some(Time(started_at));
        }
        if let Some(exit_code) = self.exit_code {
            state.exit_code = exit_code;
        }
        reason
    }
}

fn parse_int_error(text: &str, error: &std::num::ParseIntError) -> String {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let cause = match error.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    };
    format!("strconv.ParseInt: parsing {}: {cause}", quote(text))
}

/// The entries that users may see, as JSON.
fn message(entries: &[RunResult]) -> Option<String> {
    if entries.is_empty() {
        None
    } else {
        json::to_string(&entries).ok()
    }
}
