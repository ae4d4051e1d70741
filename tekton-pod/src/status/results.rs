//! Turns what steps wrote into results of the run and of its steps.
//!
//! Entries come from termination messages or from the log of the results sidecar; the declared types decide
//! whether a text is taken as it is or read as JSON. Upstream counterpart: `pkg/pod/status.go`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use tekton_api::v1::{ParamValue, ResultsType, StepResult, TaskResult, TaskRunResult, TaskRunStepResult};

use super::containers::STEP_PREFIX;
use super::error::StatusError;
use crate::contract::result::{ResultType, RunResult};

static STEP_RESULT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\(steps\.(.*?)\.results\.(.*?)\)").ok());

/// Entries sorted by what they are for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sorted {
    /// Results of the Task.
    pub(super) task: Vec<TaskRunResult>,
    /// Results of the step.
    pub(super) step: Vec<TaskRunStepResult>,
    /// Everything that users may see, for the message of the step.
    pub(super) visible: Vec<RunResult>,
}

/// Sorts entries; `task` and `step` are the declarations, of which the last of a name counts.
pub(super) fn sort(entries: &[RunResult], task: &[TaskResult], step: &[StepResult]) -> Sorted {
    let task: BTreeMap<&str, bool> = task
        .iter()
        .map(|result| (result.name.as_str(), is_text(result.type_.as_ref())))
        .collect();
    let step: BTreeMap<&str, bool> = step
        .iter()
        .map(|result| (result.name.as_str(), is_text(result.type_.as_ref())))
        .collect();
    let mut sorted = Sorted::default();
    for entry in entries {
        match entry.result_type {
            ResultType::TaskRun => {
                let (type_, value) = typed(&task, entry);
                sorted.task.push(TaskRunResult {
                    name: entry.key.clone(),
                    type_: Some(type_),
                    value,
                });
            }
            ResultType::Step => {
                let (type_, value) = typed(&step, entry);
                sorted.step.push(TaskRunStepResult {
                    name: entry.key.clone(),
                    type_: Some(type_),
                    value,
                });
            }
            ResultType::InternalTekton => continue,
            _ => {}
        }
        sorted.visible.push(entry.clone());
    }
    sorted
}

/// Step results that become results of the Task: name of the step result → name of the Task's.
pub(super) fn wanted_of_step(
    container: &str,
    declared: &[TaskResult],
) -> Result<BTreeMap<String, String>, StatusError> {
    let mut wanted = BTreeMap::new();
    for result in declared {
        let Some(text) = result
            .value
            .as_ref()
            .and_then(ParamValue::as_str)
            .filter(|text| !text.is_empty())
        else {
            continue;
        };
        let (step, name) =
            step_result_of(text).ok_or_else(|| StatusError::StepResultReference(text.to_owned()))?;
        if container.strip_prefix(STEP_PREFIX) == Some(step.as_str()) {
            wanted.insert(name, result.name.clone());
        }
    }
    Ok(wanted)
}

/// The Task results that are fetched from these step results.
pub(super) fn fetched(
    results: &[TaskRunStepResult],
    wanted: &BTreeMap<String, String>,
) -> Vec<TaskRunResult> {
    results
        .iter()
        .filter_map(|result| {
            let name = wanted.get(&result.name)?.clone();
            Some(TaskRunResult {
                name,
                type_: result.type_.clone(),
                value: result.value.clone(),
            })
        })
        .collect()
}

/// One result a name: the first one's place, the last one's value.
pub(super) fn without_duplicates(results: Vec<TaskRunResult>) -> Vec<TaskRunResult> {
    let mut unique: Vec<TaskRunResult> = Vec::new();
    for result in results {
        match unique.iter_mut().find(|known| known.name == result.name) {
            Some(known) => *known = result,
            None => unique.push(result),
        }
    }
    unique
}

fn is_text(type_: Option<&ResultsType>) -> bool {
    type_ == Some(&ResultsType::String)
}

fn typed(declared: &BTreeMap<&str, bool>, entry: &RunResult) -> (ResultsType, ParamValue) {
    if declared.get(entry.key.as_str()) == Some(&true) {
        return (ResultsType::String, ParamValue::String(entry.value.clone()));
    }
    let value = read(&entry.value);
    let type_ = match value {
        ParamValue::String(_) => ResultsType::String,
        ParamValue::Array(_) => ResultsType::Array,
        ParamValue::Object(_) => ResultsType::Object,
    };
    (type_, value)
}

/// A list or map of texts if the text is the JSON of one, otherwise the text (without the quotes of JSON).
fn read(text: &str) -> ParamValue {
    if text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<Option<String>>>(text)
    {
        return ParamValue::Array(items.into_iter().map(Option::unwrap_or_default).collect());
    }
    if text.starts_with('{')
        && let Ok(members) = serde_json::from_str::<BTreeMap<String, Option<String>>>(text)
    {
        let members = members
            .into_iter()
            .map(|(key, value)| (key, value.unwrap_or_default()));
        return ParamValue::Object(members.collect());
    }
    match serde_json::from_str::<Option<String>>(text) {
        Ok(inner) => ParamValue::String(inner.unwrap_or_default()),
        Err(_) => ParamValue::String(text.to_owned()),
    }
}

/// Step and result of the first `$(steps.STEP.results.RESULT)` in a text.
fn step_result_of(text: &str) -> Option<(String, String)> {
    let found = STEP_RESULT.as_ref()?.captures(text)?;
    Some((
        found.get(1)?.as_str().to_owned(),
        found.get(2)?.as_str().to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_json_where_they_are() {
        assert_eq!(
            read(r#"["a",null]"#),
            ParamValue::Array(vec!["a".into(), String::new()])
        );
        assert_eq!(read("[1]"), ParamValue::String("[1]".into()));
        assert_eq!(read(r#""quoted""#), ParamValue::String("quoted".into()));
        assert_eq!(read("null"), ParamValue::String(String::new()));
        assert_eq!(read(""), ParamValue::String(String::new()));
        assert_eq!(read("17"), ParamValue::String("17".into()));
    }

    #[test]
    fn the_last_value_takes_the_first_place() {
        let result = |name: &str, value: &str| TaskRunResult {
            name: name.into(),
            type_: Some(ResultsType::String),
            value: value.into(),
        };
        let unique = without_duplicates(vec![result("a", "1"), result("b", "2"), result("a", "3")]);
        assert_eq!(unique, [result("a", "3"), result("b", "2")]);
    }
}
