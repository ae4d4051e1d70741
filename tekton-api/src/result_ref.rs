//! References to results: `$(tasks.NAME.results.RESULT)` and its array, object and step forms.
//!
//! Upstream counterpart: `pkg/internal/resultref`, `pkg/apis/pipeline/v1/resultref.go`.

use std::collections::BTreeSet;

use crate::substitute::scan;
use k8s_openapi::api::core::v1::EnvVar;

use crate::v1::{Param, ParamValue, PipelineTask, Sidecar, Step, WhenExpression};

/// A reference to a result of a pipeline task or a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultRef {
    /// Name of the pipeline task (or step).
    pub pipeline_task: String,
    /// Name of the result.
    pub result: String,
    /// Index into an array result.
    pub results_index: Option<i64>,
    /// Key of an object result; empty if the whole result is meant.
    pub property: String,
    /// `[*]` or an index was given.
    pub is_array: bool,
}

impl ResultRef {
    /// Parses the name of a variable (without `$()`) as a reference to a task's result; `None` if it is
    /// some other variable.
    pub fn parse_task(expression: &str) -> Option<Self> {
        looks_like_task_result(expression)
            .then(|| parse(expression))
            .flatten()
    }

    /// The same for `steps.NAME.results.RESULT`.
    pub fn parse_step(expression: &str) -> Option<Self> {
        looks_like(expression, &["steps"])
            .then(|| parse(expression))
            .flatten()
    }
}

/// Whether the name of a variable has the shape of a task result, however malformed the rest.
pub fn looks_like_task_result(expression: &str) -> bool {
    looks_like(expression, &["tasks", "finally"])
}

/// Whether any of the names looks like a task result.
pub fn any_looks_like_task_result(expressions: &[String]) -> bool {
    expressions
        .iter()
        .any(|expression| looks_like_task_result(expression))
}

fn looks_like(expression: &str, roots: &[&str]) -> bool {
    let mut parts = expression.split('.');
    let root = parts.next().unwrap_or_default();
    let (_, results, last) = (parts.next(), parts.next(), parts.next());
    roots.contains(&root) && results == Some("results") && last.is_some()
}

fn parse(expression: &str) -> Option<ResultRef> {
    let parts: Vec<&str> = expression.split('.').collect();
    match parts.as_slice() {
        [_, owner, _, result] => {
            let (result, index) = parse_result_name(result);
            Some(ResultRef {
                pipeline_task: (*owner).to_owned(),
                result,
                // An index that is no number counts as 0, one that is too large as the largest.
                results_index: match index.as_str() {
                    "" | "*" => None,
                    text => Some(atoi(text)),
                },
                property: String::new(),
                is_array: !index.is_empty(),
            })
        }
        [_, owner, _, result, key] => Some(ResultRef {
            pipeline_task: (*owner).to_owned(),
            result: (*result).to_owned(),
            property: (*key).to_owned(),
            ..ResultRef::default()
        }),
        _ => None,
    }
}

fn atoi(text: &str) -> i64 {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().unwrap_or(if digits { i64::MAX } else { 0 })
}

/// Splits `name[index]`; the index is a number, `*`, or empty.
pub fn parse_result_name(text: &str) -> (String, String) {
    let index = scan::first_index(text).unwrap_or_default();
    let index = index.strip_prefix('[').unwrap_or(index);
    let index = index.strip_suffix(']').unwrap_or(index);
    (scan::trim_array_index(text), index.to_owned())
}

/// Step and result of the first `$(steps.NAME.results.RESULT)` in a text.
///
/// # Errors
/// If there is none.
pub fn step_result_name(text: &str) -> Result<(String, String), NoStepResult> {
    let parts = text.match_indices("$(steps.").find_map(|(start, opening)| {
        let rest = text.get(start + opening.len()..)?;
        let (step, rest) = rest.split_once(".results.")?;
        let (result, _) = rest.split_once(')')?;
        let in_line = !step.contains('\n') && !result.contains('\n');
        in_line.then(|| (step.to_owned(), result.to_owned()))
    });
    parts.ok_or_else(|| NoStepResult(text.to_owned()))
}

/// A text in which no result of a step is referred to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Could not extract step name and result name. Expected value to look like \
     $(steps.<stepName>.results.<resultName>) but got \"{0}\""
)]
pub struct NoStepResult(pub String);

/// The references among names of variables; others are left out.
pub fn result_refs(expressions: &[String]) -> Vec<ResultRef> {
    expressions
        .iter()
        .filter_map(|expression| ResultRef::parse_task(expression))
        .collect()
}

/// Names of all variables in a param value.
pub fn value_expressions(value: &ParamValue) -> Vec<String> {
    match value {
        ParamValue::String(text) => scan::expressions(text),
        ParamValue::Array(list) => list.iter().flat_map(|text| scan::expressions(text)).collect(),
        ParamValue::Object(members) => members
            .values()
            .flat_map(|text| scan::expressions(text))
            .collect(),
    }
}

/// Names of all variables in a when expression: input, CEL, values.
pub fn when_expressions(when: &WhenExpression) -> Vec<String> {
    let mut found = Vec::new();
    for text in when.input.iter().chain(&when.cel) {
        found.extend(scan::expressions(text));
    }
    found.extend(when.values.iter().flat_map(|value| scan::expressions(value)));
    found
}

/// All references to results in a pipeline task: params, matrix, when, then the steps and sidecars of an
/// embedded spec.
pub fn pipeline_task_refs(task: &PipelineTask) -> Vec<ResultRef> {
    let mut refs = Vec::new();
    for param in all_params(task) {
        refs.extend(result_refs(&value_expressions(&param.value)));
    }
    for when in &task.when {
        refs.extend(result_refs(&when_expressions(when)));
    }
    refs.extend(result_refs(&embedded_expressions(task)));
    refs
}

/// The tasks that must end before this one, by result references and `runAfter`; sorted, without repeats.
pub fn dependencies(task: &PipelineTask) -> Vec<String> {
    let by_result = pipeline_task_refs(task)
        .into_iter()
        .map(|found| found.pipeline_task);
    let names: BTreeSet<String> = by_result.chain(task.run_after.iter().cloned()).collect();
    names.into_iter().collect()
}

/// Params, matrix params and the params of matrix includes, in this order.
pub fn all_params(task: &PipelineTask) -> impl Iterator<Item = &Param> {
    let matrix = task.matrix.as_ref();
    let includes = matrix
        .into_iter()
        .flat_map(|matrix| matrix.include.iter().flat_map(|include| &include.params));
    task.params
        .iter()
        .chain(matrix.into_iter().flat_map(|matrix| &matrix.params))
        .chain(includes)
}

fn embedded_expressions(task: &PipelineTask) -> Vec<String> {
    let Some(spec) = &task.task_spec else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for step in &spec.task_spec.steps {
        found.extend(step_expressions(step));
    }
    for sidecar in &spec.task_spec.sidecars {
        found.extend(sidecar_expressions(sidecar));
    }
    found
}

/// Names of all variables in the fields of a step that may refer to results.
pub fn step_expressions(step: &Step) -> Vec<String> {
    let heads = [
        Some(step.name.as_str()),
        step.image.as_deref(),
        step.image_pull_policy.as_deref(),
    ];
    let tails = [step.script.as_deref(), step.working_dir.as_deref()];
    texts_of(
        heads.into_iter().chain(tails).flatten(),
        &step.command,
        &step.args,
        &step.env,
    )
}

/// The same for a sidecar.
pub fn sidecar_expressions(sidecar: &Sidecar) -> Vec<String> {
    let heads = [
        Some(sidecar.name.as_str()),
        sidecar.image.as_deref(),
        sidecar.image_pull_policy.as_deref(),
    ];
    let tails = [sidecar.script.as_deref(), sidecar.working_dir.as_deref()];
    texts_of(
        heads.into_iter().chain(tails).flatten(),
        &sidecar.command,
        &sidecar.args,
        &sidecar.env,
    )
}

fn texts_of<'a>(
    fields: impl Iterator<Item = &'a str>,
    command: &'a [String],
    args: &'a [String],
    env: &'a [EnvVar],
) -> Vec<String> {
    let lists = command.iter().chain(args).map(String::as_str);
    let mut found: Vec<String> = fields.chain(lists).flat_map(scan::expressions).collect();
    for variable in env {
        found.extend(
            variable
                .value
                .as_deref()
                .map(scan::expressions)
                .unwrap_or_default(),
        );
        let Some(source) = &variable.value_from else {
            continue;
        };
        if let Some(secret) = &source.secret_key_ref {
            found.extend(scan::expressions(&secret.key));
            found.extend(scan::expressions(&secret.name));
        }
        if let Some(config_map) = &source.config_map_key_ref {
            found.extend(scan::expressions(&config_map.key));
            found.extend(scan::expressions(&config_map.name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_take_three_forms() {
        let index = ResultRef::parse_task("tasks.a.results.b[1]").unwrap();
        assert_eq!((index.result.as_str(), index.results_index), ("b", Some(1)));
        let key = ResultRef::parse_task("finally.a.results.b.c").unwrap();
        assert_eq!((key.pipeline_task.as_str(), key.property.as_str()), ("a", "c"));
        assert!(ResultRef::parse_task("tasks.a.results.b.c.d").is_none());
        assert!(
            ResultRef::parse_task("tasks.a.status").is_none()
                && ResultRef::parse_task("steps.a.results.b").is_none()
        );
        assert!(ResultRef::parse_step("steps.a.results.b").is_some());
    }

    #[test]
    fn names_are_split_from_indices() {
        assert_eq!(parse_result_name("abc[1]"), ("abc".into(), "1".into()));
        assert_eq!(parse_result_name("abc[*]"), ("abc".into(), "*".into()));
        assert_eq!(parse_result_name("abc[x]"), ("abc[x]".into(), String::new()));
    }
}
