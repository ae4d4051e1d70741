//! The tasks of a pipeline with their children: what each runs, fetched and substituted.
//!
//! Upstream counterparts: `resolvePipelineState` in `pkg/reconciler/pipelinerun/pipelinerun.go`,
//! `ResolvePipelineTask` in `resources/pipelinerunresolution.go`.

use std::collections::BTreeMap;

use serde_json::Value;
use tekton_api::defaults::{Defaults as _, Operation};
use tekton_api::names;
use tekton_api::reasons::{PipelineRunReason, TaskRunReason};
use tekton_api::substitute::apply::pipeline_spec;
use tekton_api::v1::{PipelineTask, Task};

use super::super::child::Child;
use super::super::create;
use super::super::draft::{Draft, Halt};
use super::super::facts::{Facts, kind_of};
use super::super::results::{self, Tasks};
use super::super::state::{ResolvedPipeline, ResolvedTask, TaskKind, TaskState};
use super::super::timeouts::Timeouts;
use super::{RESOLUTION_PAUSE, ResolvedRun, TEKTON, fetch};
use crate::plan::{Answers, Ask, ObjectRef, PassInput, decode};
use crate::refs::{self, RefError, Remote};

/// The tasks of the run with their children: first those that have some, then the others, which may refer to
/// results of the first.
pub(in crate::pipelinerun) fn resolve(
    draft: &mut Draft,
    run: &ResolvedRun,
    timeouts: Timeouts,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Facts, Halt> {
    let has_children = |task: &PipelineTask| {
        let references = &draft.status().child_references;
        references
            .iter()
            .any(|reference| reference.pipeline_task_name.as_deref().unwrap_or_default() == task.name())
    };
    let all = run
        .spec
        .tasks
        .iter()
        .map(|task| (task, false))
        .chain(run.spec.finally.iter().map(|task| (task, true)));
    let (started, others): (Vec<_>, Vec<_>) = all.partition(|(task, _)| has_children(task));
    let mut state = Resolving {
        tasks: Vec::new(),
        index: BTreeMap::new(),
    };
    prefetch(draft, started.iter().map(|(task, _)| *task), answers)?;
    for (task, is_final) in started.into_iter().chain(others) {
        let resolved = one_task(draft, run, task, is_final, &state, input, answers)?;
        state.index.insert(resolved.name().to_owned(), state.tasks.len());
        state.tasks.push(resolved);
    }
    Ok(Facts::new(
        state.tasks,
        draft.run.spec.status.clone(),
        run.graph.clone(),
        timeouts,
    ))
}

/// Asks for all children and referenced Tasks at once instead of one after another.
fn prefetch<'a>(
    draft: &Draft,
    started: impl Iterator<Item = &'a PipelineTask>,
    answers: &Answers,
) -> Result<(), Halt> {
    let started: Vec<&PipelineTask> = started.collect();
    let asks: Vec<Ask> = draft
        .status()
        .child_references
        .iter()
        .filter(|reference| {
            let name = reference.pipeline_task_name.as_deref().unwrap_or_default();
            started.iter().any(|task| task.name() == name)
        })
        .map(|reference| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let kind = match reference.kind.as_deref() {
                Some("CustomRun") => TaskKind::Custom,
                Some("PipelineRun") => TaskKind::Pipeline,
                _ => TaskKind::Task,
            };
            Ask::Cached(child_ref(kind, draft.namespace(), &text(&reference.name)))
        })
        .collect();
    answers.all(&asks)?;
    Ok(())
}

fn child_ref(kind: TaskKind, namespace: &str, name: &str) -> ObjectRef {
    let (api_version, kind) = match kind {
        TaskKind::Task => (TEKTON, "TaskRun"),
        TaskKind::Custom => ("tekton.dev/v1beta1", "CustomRun"),
        TaskKind::Pipeline => (TEKTON, "PipelineRun"),
    };
    ObjectRef::new(api_version, kind, namespace, name)
}

struct Resolving {
    tasks: Vec<TaskState>,
    index: BTreeMap<String, usize>,
}

impl Tasks for Resolving {
    fn task(&self, name: &str) -> Option<&TaskState> {
        self.index.get(name).and_then(|index| self.tasks.get(*index))
    }
}

fn one_task(
    draft: &Draft,
    run: &ResolvedRun,
    task: &PipelineTask,
    is_final: bool,
    state: &Resolving,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<TaskState, Halt> {
    let mut resolved = TaskState {
        task: task.clone(),
        kind: kind_of(task),
        is_final,
        names: Vec::new(),
        children: Vec::new(),
        resolved: None,
        pipeline: None,
        matrix_results: None,
        evaluated_cel: BTreeMap::new(),
    };
    let unresolvable = |error: String| {
        let prefix = format!(
            "PipelineRun {} can't be Run; couldn't resolve all references: ",
            draft.key()
        );
        Halt::user(PipelineRunReason::FailedValidation, &prefix, error)
    };
    // What cannot be resolved by now is looked at again when the task may start.
    let values = results::resolve(state, task).unwrap_or_default();
    results::check_indices(&values).map_err(unresolvable)?;
    pipeline_spec::task_results(&mut resolved.task, &results::replacements(&values));
    let count = match &resolved.task.matrix {
        Some(matrix) if resolved.task.is_matrixed() => matrix.count_combinations(),
        _ => 1,
    };
    let kind = child_ref(resolved.kind, "", "").kind;
    let count = usize::try_from(count).unwrap_or_default();
    resolved.names = names::child_runs(
        &draft.status().child_references,
        &kind,
        task.name(),
        draft.name(),
        count,
    );
    for name in resolved.names.clone() {
        let target = child_ref(resolved.kind, draft.namespace(), &name);
        let child = match answers.ask(Ask::Cached(target))? {
            Ok(object) => Some(create::child(resolved.kind, object)?),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => {
                let kind = child_ref(resolved.kind, "", "").kind;
                return Err(unresolvable(format!(
                    "error retrieving {kind} {name}: {}",
                    failure.message
                )));
            }
        };
        match resolved.kind {
            TaskKind::Task => {
                resolved.resolved = Some(task_of(draft, run, task, child.as_ref(), input, answers)?);
            }
            TaskKind::Pipeline => {
                resolved.pipeline = Some(pipeline_of(draft, run, task, input, answers)?);
            }
            TaskKind::Custom => {}
        }
        resolved.children.extend(child);
    }
    Ok(resolved)
}

/// The Task of a pipeline task: what a child has stored, what is embedded, or what is referred to.
fn task_of(
    draft: &Draft,
    run: &ResolvedRun,
    task: &PipelineTask,
    child: Option<&Child>,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<ResolvedTask, Halt> {
    let mut resolved = match (&task.task_ref, &task.task_spec) {
        (Some(reference), _) => {
            let name = reference.name.clone().unwrap_or_default();
            let stored = match child {
                Some(Child::Task(run)) => run.status.as_ref().and_then(|status| status.task_spec.clone()),
                _ => None,
            };
            match stored {
                Some(spec) => ResolvedTask { name, spec },
                None => fetch_task(draft, task, &name, input, answers).map_err(|error| {
                    let shown = shown_name(&name, reference.resolver.as_deref(), &reference.params);
                    missing(draft, run, error, "Task", &shown)
                })?,
            }
        }
        (None, Some(embedded)) => ResolvedTask {
            name: String::new(),
            spec: embedded.task_spec.clone(),
        },
        (None, None) => {
            let text = format!(
                "PipelineTask \"{}\" must specify one of TaskRef, TaskSpec, PipelineRef, or PipelineSpec",
                task.name()
            );
            let prefix = format!(
                "PipelineRun {} can't be Run; couldn't resolve all references: ",
                draft.key()
            );
            return Err(Halt::user(PipelineRunReason::FailedValidation, &prefix, text));
        }
    };
    resolved.spec.set_defaults(input.config, Operation::Other);
    Ok(resolved)
}

fn fetch_task(
    draft: &Draft,
    task: &PipelineTask,
    name: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<ResolvedTask, RefError> {
    let reference = task.task_ref.clone().unwrap_or_default();
    let namespace = draft.namespace();
    let found: Task = match reference.resolver.as_deref().unwrap_or_default() {
        "" => {
            let target = ObjectRef::new(TEKTON, "Task", namespace, name);
            let object = answers.ask(Ask::Get(target))?;
            let object = object
                .as_ref()
                .map_err(|failure| RefError::of_call(failure, str::to_owned))?;
            decode(object).map_err(|failure| RefError::Failed(failure.message))?
        }
        resolver => {
            // The request carries the name that the child will have, which then finds it answered.
            let child = draft
                .status()
                .child_references
                .iter()
                .find(|known| {
                    known.kind.as_deref() == Some("TaskRun")
                        && known.pipeline_task_name.as_deref() == Some(task.name())
                })
                .and_then(|known| known.name.clone())
                .unwrap_or_else(|| names::child_name(draft.name(), &format!("-{}", task.name())));
            let remote = Remote {
                resolver,
                params: reference.params.clone(),
                url: String::new(),
                name: &child,
                namespace,
                owner: draft.owner(),
            };
            let resolved = refs::fetch(&remote, answers)
                .map_err(|error| error.map(|text| format!("resolver failed to get Task {name}: {text}")))?;
            refs::task(&resolved, namespace, input, answers)
                .map_err(|error| error.map(|text| format!("failed to convert obj into Task: {text}")))?
        }
    };
    Ok(ResolvedTask {
        name: found.metadata.name.unwrap_or_default(),
        spec: found.spec,
    })
}

/// The pipeline of a pipeline task.
fn pipeline_of(
    draft: &Draft,
    run: &ResolvedRun,
    task: &PipelineTask,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<ResolvedPipeline, Halt> {
    if let Some(spec) = &task.pipeline_spec {
        return Ok(ResolvedPipeline {
            name: String::new(),
            spec: spec.clone(),
        });
    }
    let reference = task.pipeline_ref.clone().unwrap_or_default();
    let name = reference.name.clone().unwrap_or_default();
    let (pipeline, _) = fetch(draft, &reference, &name, input, answers).map_err(|error| {
        let shown = shown_name(&name, reference.resolver.as_deref(), &reference.params);
        missing(draft, run, error, "Pipeline", &shown)
    })?;
    Ok(ResolvedPipeline {
        name: pipeline.metadata.name.unwrap_or_default(),
        spec: pipeline.spec,
    })
}

/// What becomes of a run one of whose references leads nowhere.
fn missing(draft: &Draft, run: &ResolvedRun, error: RefError, what: &str, shown: &str) -> Halt {
    let text = match error {
        RefError::Wait(waiting) => return Halt::Wait(waiting),
        RefError::InProgress => {
            return Halt::Ongoing {
                reason: TaskRunReason::ResolvingTaskRef.as_str().to_owned(),
                message: format!("PipelineRun {} awaiting remote resource", draft.key()),
                requeue: RESOLUTION_PAUSE,
            };
        }
        RefError::Transient(text) => return Halt::transient(text),
        RefError::Invalid(text, _) | RefError::Failed(text) => {
            format!("Couldn't retrieve {what} \"{shown}\": {text}")
        }
    };
    let (reason, noun) = match what {
        "Task" => (PipelineRunReason::CouldntGetTask, "Tasks"),
        _ => (PipelineRunReason::CouldntGetPipeline, "child Pipelines"),
    };
    let message = format!(
        "Pipeline {}/{} can't be Run; it contains {noun} that don't exist: {text}",
        draft.namespace(),
        run.name
    );
    Halt::fail(reason, message, text)
}

/// The name in a message: that of the reference, or what tells a remote one apart.
fn shown_name(name: &str, resolver: Option<&str>, params: &[tekton_api::v1::Param]) -> String {
    if !name.trim().is_empty() {
        return name.to_owned();
    }
    let mut shown = format!("resolver type {}\n", resolver.unwrap_or_default());
    for param in params {
        match param.name.as_str() {
            "name" => {
                let value = match param.value.as_str() {
                    Some(text) => text.to_owned(),
                    None => serde_json::to_value(&param.value)
                        .as_ref()
                        .map(Value::to_string)
                        .unwrap_or_default(),
                };
                shown.push_str(&format!("name = {value}\n"));
            }
            "url" => shown.push_str(&format!("url = {}\n", param.value.as_str().unwrap_or_default())),
            _ => {}
        }
    }
    shown.escape_debug().to_string().replace("\\'", "'")
}
