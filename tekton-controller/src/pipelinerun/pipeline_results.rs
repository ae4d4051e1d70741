//! The results of a pipeline, from those of its tasks.
//!
//! Upstream counterpart: `ApplyTaskResultsToPipelineResults` in
//! `pkg/reconciler/pipelinerun/resources/apply.go`.

use std::collections::BTreeMap;

use tekton_api::result_ref::{parse_result_name, value_expressions};
use tekton_api::substitute::{Replacements, scan};
use tekton_api::v1::{ParamValue, PipelineResult, PipelineRunResult};

use super::child::Child;
use super::facts::Facts;
use super::results;
use super::state::TaskKind;

/// How a variable of a result stands.
enum Found {
    /// It has a value.
    Yes,
    /// Its task did not succeed; the result is left out.
    LeftOut,
    /// There is no such result.
    Missing,
}

/// The results that have all their values, and the names of those that refer to what does not exist.
///
/// # Errors
/// Some results are invalid; the others come along.
pub(super) fn of_pipeline(
    declared: &[PipelineResult],
    facts: &mut Facts,
) -> Result<Vec<PipelineRunResult>, (Vec<PipelineRunResult>, String)> {
    let mut states = facts.task_states();
    states.extend(facts.finally_states());
    let sources = Sources {
        tasks: results::of_tasks(facts.state.iter()),
        custom: custom_results(facts),
        states,
    };
    let mut known = Replacements::default();
    let (mut found, mut invalid) = (Vec::new(), Vec::new());
    for result in declared {
        let variables = value_expressions(&result.value);
        if variables.is_empty() {
            continue;
        }
        let mut complete = true;
        for variable in &variables {
            match sources.look_up(variable, &mut known) {
                Found::Yes => {}
                Found::LeftOut => complete = false,
                Found::Missing => {
                    invalid.push(result.name.clone());
                    complete = false;
                }
            }
        }
        if complete {
            found.push(PipelineRunResult {
                name: result.name.clone(),
                value: known.param_value(&result.value),
            });
        }
    }
    if invalid.is_empty() {
        return Ok(found);
    }
    let text = format!(
        "invalid pipelineresults [{}], the referenced results don't exist",
        invalid.join(" ")
    );
    Err((found, text))
}

/// Results of custom tasks that have ended; those of a matrix do not count.
fn custom_results(facts: &Facts) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for task in facts
        .state
        .iter()
        .filter(|task| task.kind == TaskKind::Custom && task.has_ended())
    {
        if let [Child::Custom(run)] = task.children.as_slice() {
            let results = run.status.iter().flat_map(|status| &status.results);
            let by_name = results
                .rev()
                .map(|result| (result.name.clone(), result.value.clone()))
                .collect();
            found.insert(task.name().to_owned(), by_name);
        }
    }
    found
}

struct Sources {
    tasks: BTreeMap<String, Vec<(String, ParamValue)>>,
    custom: BTreeMap<String, BTreeMap<String, String>>,
    states: BTreeMap<String, String>,
}

impl Sources {
    fn look_up(&self, variable: &str, known: &mut Replacements) -> Found {
        let is_known = known.strings.contains_key(variable)
            || known.arrays.contains_key(variable)
            || known.objects.contains_key(variable);
        if is_known {
            return Found::Yes;
        }
        let parts: Vec<&str> = variable.split('.').collect();
        match parts.as_slice() {
            ["tasks" | "finally", task, "results", result] => self.whole(variable, task, result, known),
            ["tasks" | "finally", task, "results", result, key] => {
                self.member(variable, task, result, key, known)
            }
            _ => Found::Missing,
        }
    }

    fn whole(&self, variable: &str, task: &str, result: &str, known: &mut Replacements) -> Found {
        let (name, index) = parse_result_name(result);
        let starless = scan::strip_reference(variable).to_owned();
        match self.value(task, &name) {
            Some(ParamValue::String(text)) => {
                known.strings.insert(variable.to_owned(), text.clone());
            }
            Some(ParamValue::Array(list)) if index == "*" => {
                known.arrays.insert(starless, list.clone());
            }
            // An index that is no number counts as the first.
            Some(ParamValue::Array(list)) => match list.get(index.parse::<usize>().unwrap_or_default()) {
                Some(item) => {
                    known.strings.insert(variable.to_owned(), item.clone());
                }
                None => return Found::Missing,
            },
            Some(ParamValue::Object(members)) => {
                known.objects.insert(starless, members.clone());
            }
            None => match self.custom.get(task).and_then(|results| results.get(&name)) {
                Some(text) => {
                    known.strings.insert(variable.to_owned(), text.clone());
                }
                None => return self.absent(task),
            },
        }
        Found::Yes
    }

    fn member(&self, variable: &str, task: &str, result: &str, key: &str, known: &mut Replacements) -> Found {
        let (name, _) = parse_result_name(result);
        let Some(value) = self.value(task, &name) else {
            return self.absent(task);
        };
        match value.as_object().and_then(|members| members.get(key)) {
            Some(text) => {
                known.strings.insert(variable.to_owned(), text.clone());
                Found::Yes
            }
            None => Found::Missing,
        }
    }

    fn value(&self, task: &str, name: &str) -> Option<&ParamValue> {
        self.tasks
            .get(task)?
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    fn absent(&self, task: &str) -> Found {
        match self.states.get(&format!("tasks.{task}.status")) {
            Some(state) if state != "Succeeded" => Found::LeftOut,
            _ => Found::Missing,
        }
    }
}
