//! Results of ended tasks as values for the tasks that refer to them.
//!
//! Upstream counterpart: `pkg/reconciler/pipelinerun/resources/resultrefresolution.go`.

use std::collections::BTreeMap;

use tekton_api::result_ref::{ResultRef, pipeline_task_refs};
use tekton_api::substitute::Replacements;
use tekton_api::v1::{ParamValue, PipelineTask, TaskRun};
use tekton_api::v1beta1::CustomRun;

use super::child::Child;
use super::state::{TaskKind, TaskState};

/// A reference and the value it stands for.
#[derive(Clone, Debug)]
pub(super) struct ResolvedRef {
    pub(super) reference: ResultRef,
    pub(super) value: ParamValue,
}

/// Why references could not be resolved, and the task that is to blame.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Unresolved {
    pub(super) task: String,
    message: String,
}

/// Access to the tasks of a run by name.
pub(super) trait Tasks {
    fn task(&self, name: &str) -> Option<&TaskState>;
}

/// Resolves every reference of a task; one that cannot be resolved spoils all.
pub(super) fn resolve(tasks: &impl Tasks, target: &PipelineTask) -> Result<Vec<ResolvedRef>, Unresolved> {
    pipeline_task_refs(target)
        .into_iter()
        .map(|reference| resolve_one(tasks, reference))
        .collect()
}

fn resolve_one(tasks: &impl Tasks, reference: ResultRef) -> Result<ResolvedRef, Unresolved> {
    let unresolved = |message: String| Unresolved {
        task: reference.pipeline_task.clone(),
        message,
    };
    let Some(source) = tasks.task(&reference.pipeline_task) else {
        return Err(unresolved(format!(
            "could not find task \"{}\" referenced by result",
            reference.pipeline_task
        )));
    };
    if !source.has_ended() {
        return Err(unresolved(format!(
            "task \"{}\" referenced by result was not finished",
            source.name()
        )));
    }
    let value = match source.kind {
        TaskKind::Custom => custom_value(source, &reference).map_err(unresolved)?,
        TaskKind::Task if source.task.is_matrixed() => {
            let results = source.results_of_matrix();
            let Some(values) = results.get(&reference.result) else {
                let message = format!(
                    "Invalid task result reference: Could not find result with name {} for task {}",
                    reference.result, reference.pipeline_task
                );
                return Err(unresolved(message));
            };
            ParamValue::Array(values.clone())
        }
        TaskKind::Task => task_value(source, &reference).map_err(unresolved)?,
        // A child pipeline's results cannot be consumed.
        TaskKind::Pipeline => return Err(unresolved(not_found(&reference))),
    };
    Ok(ResolvedRef { reference, value })
}

fn custom_value(source: &TaskState, reference: &ResultRef) -> Result<ParamValue, String> {
    let Some(Child::Custom(run)) = source.children.first() else {
        return Err(not_found(reference));
    };
    let text = custom_result(run, reference)?;
    // A list of texts in JSON stands for an array.
    Ok(match serde_json::from_str::<Vec<String>>(&text) {
        Ok(list) if !list.is_empty() => ParamValue::Array(list),
        _ => ParamValue::String(text),
    })
}

fn custom_result(run: &CustomRun, reference: &ResultRef) -> Result<String, String> {
    let results = run.status.iter().flat_map(|status| &status.results);
    let found = results.into_iter().find(|result| result.name == reference.result);
    found
        .map(|result| result.value.clone())
        .ok_or_else(|| not_found(reference))
}

fn task_value(source: &TaskState, reference: &ResultRef) -> Result<ParamValue, String> {
    let Some(Child::Task(run)) = source.children.first() else {
        return Err(not_found(reference));
    };
    task_result(run, reference)
}

fn task_result(run: &TaskRun, reference: &ResultRef) -> Result<ParamValue, String> {
    let results = run.status.iter().flat_map(|status| &status.results);
    let found = results.into_iter().find(|result| result.name == reference.result);
    found
        .map(|result| result.value.clone())
        .ok_or_else(|| not_found(reference))
}

fn not_found(reference: &ResultRef) -> String {
    format!(
        "Invalid task result reference: Could not find result with name {} for pipeline task {}",
        reference.result, reference.pipeline_task
    )
}

/// Why a task that is about to start lacks a result it refers to.
pub(super) fn missing(tasks: &impl Tasks, target: &TaskState) -> Result<(), String> {
    for reference in pipeline_task_refs(&target.task) {
        let name = &reference.pipeline_task;
        let Some(source) = tasks.task(name) else {
            return Err(format!(
                "Result reference error: Could not find ref \"{name}\" in internal pipelineRunState"
            ));
        };
        let found = match (source.kind, source.children.first()) {
            (TaskKind::Custom, None) => {
                return Err(format!(
                    "Result reference error: Internal result ref \"{name}\" has zero-length CustomRuns"
                ));
            }
            (_, Some(Child::Custom(run))) => custom_result(run, &reference).map(|_| ()),
            (_, Some(Child::Task(run))) => task_result(run, &reference).map(|_| ()),
            (_, Some(Child::Pipeline(_)) | None) => {
                return Err(format!(
                    "Result reference error: Internal result ref \"{name}\" has zero-length TaskRuns"
                ));
            }
        };
        if let Err(message) = found {
            return Err(if source.is_successful() {
                format!(
                    "task \"{name}\" completed successfully but did not emit the result \"{}\", which is referenced \
                     by task \"{}\"",
                    reference.result,
                    target.name()
                )
            } else {
                message
            });
        }
    }
    Ok(())
}

/// Refuses references beyond the end of an array.
pub(super) fn check_indices(resolved: &[ResolvedRef]) -> Result<(), String> {
    for ResolvedRef { reference, value } in resolved {
        if let (ParamValue::Array(list), Some(index)) = (value, reference.results_index) {
            let size = list.len();
            if usize::try_from(index).is_ok_and(|index| index >= size) {
                return Err(format!(
                    "array Result Index {index} for Task {} Result {} is out of bound of size {size}",
                    reference.pipeline_task, reference.result
                ));
            }
        }
    }
    Ok(())
}

/// The values as variables.
pub(super) fn replacements(resolved: &[ResolvedRef]) -> Replacements {
    let mut known = Replacements::default();
    for ResolvedRef { reference, value } in resolved {
        let (task, result) = (&reference.pipeline_task, &reference.result);
        let bases = [
            format!("tasks.{task}.results.{result}"),
            format!("tasks.{task}.results[{result:?}]"),
            format!("tasks.{task}.results['{result}']"),
        ];
        for (position, base) in bases.into_iter().enumerate() {
            match value {
                ParamValue::String(text) => {
                    known.strings.insert(base, text.clone());
                }
                ParamValue::Array(list) => {
                    for (index, item) in list.iter().enumerate() {
                        known.strings.insert(format!("{base}[{index}]"), item.clone());
                    }
                    known.arrays.insert(base, list.clone());
                }
                ParamValue::Object(members) => {
                    for (key, item) in members {
                        let name = if position == 0 {
                            format!("{base}.{key}")
                        } else {
                            format!("{base}[{key}]")
                        };
                        known.strings.insert(name, item.clone());
                    }
                    known.objects.insert(base, members.clone());
                }
            }
        }
    }
    known
}

/// Results of all tasks that have ended, for embedded Tasks that use them without declaring params.
pub(super) fn propagated<'a>(tasks: impl Iterator<Item = &'a TaskState>) -> Replacements {
    let mut known = Replacements::default();
    for (task, results) in of_tasks(tasks) {
        for (name, value) in results {
            let base = format!("tasks.{task}.results.{name}");
            match value {
                ParamValue::String(text) => {
                    known.strings.insert(base, text);
                }
                ParamValue::Array(list) => {
                    known.arrays.insert(base, list);
                }
                ParamValue::Object(members) => {
                    for (key, text) in members {
                        known.strings.insert(format!("{base}.{key}"), text);
                    }
                }
            }
        }
    }
    known
}

/// Results of the Tasks that have ended, well or badly, by pipeline task and in order.
pub(super) fn of_tasks<'a>(
    tasks: impl Iterator<Item = &'a TaskState>,
) -> BTreeMap<String, Vec<(String, ParamValue)>> {
    let mut found = BTreeMap::new();
    for task in tasks.filter(|task| task.kind == TaskKind::Task && task.has_ended()) {
        let results: Vec<(String, ParamValue)> = if task.task.is_matrixed() {
            let cache = task.matrix_results.clone().unwrap_or_default();
            if cache.is_empty() {
                continue;
            }
            cache
                .into_iter()
                .map(|(name, values)| (name, ParamValue::Array(values)))
                .collect()
        } else {
            let Some(Child::Task(run)) = task.children.first() else {
                continue;
            };
            let results = run.status.iter().flat_map(|status| &status.results);
            results
                .map(|result| (result.name.clone(), result.value.clone()))
                .collect()
        };
        found.insert(task.name().to_owned(), results);
    }
    found
}
