//! Variables of a pipeline: its params, its names, its workspaces, and those of a task about to start.
//!
//! Upstream counterpart: `pkg/reconciler/pipelinerun/resources/apply.go`.

use std::collections::{BTreeMap, BTreeSet};

use tekton_api::substitute::apply::pipeline_spec;
use tekton_api::substitute::{Replacements, scan};
use tekton_api::v1::{Param, ParamSpec, ParamType, ParamValue, PipelineRun, PipelineSpec, PipelineTask};

use super::facts::Facts;
use super::results::Tasks;

/// Longest chain of params whose defaults refer to each other.
const DEEPEST: usize = 10;

/// The three notations of a param.
fn names(param: &str) -> [String; 3] {
    [
        format!("params.{param}"),
        format!("params[{param:?}]"),
        format!("params['{param}']"),
    ]
}

/// Variables of the params that a run gives.
pub(super) fn of_run(params: &[Param]) -> Replacements {
    let mut known = Replacements::default();
    for param in params {
        for name in names(&param.name) {
            insert(&mut known, name, &param.value);
        }
        // Members have the dotted notation only.
        if let ParamValue::Object(members) = &param.value {
            for (key, text) in members {
                known
                    .strings
                    .insert(format!("params.{}.{key}", param.name), text.clone());
            }
        }
    }
    known
}

fn insert(known: &mut Replacements, name: String, value: &ParamValue) {
    match value {
        ParamValue::String(text) => {
            known.strings.insert(name, text.clone());
        }
        ParamValue::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                known.strings.insert(format!("{name}[{index}]"), item.clone());
            }
            known.arrays.insert(name, list.clone());
        }
        ParamValue::Object(members) => {
            known.objects.insert(name, members.clone());
        }
    }
}

/// Variables of all params of a pipeline: those the run gives, and defaults, which may refer to each other.
///
/// # Errors
/// Defaults refer to each other in a circle or too deeply, or to a param that has no value.
pub(super) fn of_params(spec: &PipelineSpec, run: &[Param]) -> Result<Replacements, String> {
    let mut known = of_run(run);
    let defaults = |wanted: ParamType| {
        let is_wanted =
            move |param: &&ParamSpec| *param.type_.as_ref().unwrap_or(&ParamType::String) == wanted;
        spec.params
            .iter()
            .filter(is_wanted)
            .filter_map(|param| Some((param.name.as_str(), param.default.as_ref()?)))
    };
    let mut open = BTreeMap::new();
    for (name, value) in defaults(ParamType::String) {
        if !names(name).iter().any(|name| known.strings.contains_key(name)) {
            let text = value.as_str().unwrap_or_default();
            open.extend(names(name).map(|name| (name, text.to_owned())));
        }
    }
    for (name, text) in &open {
        if !known.strings.contains_key(name) {
            resolve(name, text, &open, &mut known, &mut BTreeSet::new())?;
        }
    }
    for (name, value) in defaults(ParamType::Array) {
        if names(name).iter().any(|name| known.arrays.contains_key(name)) {
            continue;
        }
        let items = value
            .as_array()
            .unwrap_or_default()
            .iter()
            .map(|item| known.string(item))
            .collect();
        let value = ParamValue::Array(items);
        for name in names(name) {
            insert(&mut known, name, &value);
        }
    }
    for (name, value) in defaults(ParamType::Object) {
        if names(name).iter().any(|name| known.objects.contains_key(name)) {
            continue;
        }
        let members: BTreeMap<String, String> = value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, text)| (key.clone(), known.string(text)))
            .collect();
        for name in names(name) {
            for (key, text) in &members {
                known.strings.insert(format!("{name}.{key}"), text.clone());
            }
            known.objects.insert(name, members.clone());
        }
    }
    Ok(known)
}

fn resolve(
    name: &str,
    text: &str,
    open: &BTreeMap<String, String>,
    known: &mut Replacements,
    visiting: &mut BTreeSet<String>,
) -> Result<(), String> {
    if !visiting.insert(name.to_owned()) {
        return Err(format!(
            "parameter resolution failed: circular dependency detected in param \"{name}\""
        ));
    }
    if visiting.len() > DEEPEST + 1 {
        return Err(format!(
            "parameter resolution failed: maximum recursion depth ({DEEPEST}) exceeded for param \"{name}\""
        ));
    }
    for reference in scan::expressions(text)
        .into_iter()
        .filter(|reference| reference.starts_with("params."))
    {
        if known.strings.contains_key(&reference) {
            continue;
        }
        let Some(default) = open.get(&reference) else {
            return Err(format!(
                "parameter resolution failed: param \"{name}\" references undefined param \"{reference}\""
            ));
        };
        resolve(&reference, default, open, known, visiting)?;
    }
    let value = known.string(text);
    known.strings.insert(name.to_owned(), value);
    visiting.remove(name);
    Ok(())
}

/// Names of the run and its pipeline.
pub(super) fn of_names(run: &PipelineRun, pipeline: &str) -> Replacements {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let entries = [
        ("context.pipelineRun.name", text(&run.metadata.name)),
        ("context.pipeline.name", pipeline.to_owned()),
        ("context.pipelineRun.namespace", text(&run.metadata.namespace)),
        ("context.pipelineRun.uid", text(&run.metadata.uid)),
    ];
    let strings = entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Replacements {
        strings,
        ..Replacements::default()
    }
}

/// Puts names and params and workspaces of the run into the pipeline.
pub(super) fn apply(spec: &mut PipelineSpec, run: &PipelineRun, pipeline: &str) -> Result<(), String> {
    pipeline_spec::pipeline_spec(spec, &of_params(spec, &run.spec.params)?);
    let names = of_names(run, pipeline);
    for task in spec.tasks.iter_mut().chain(&mut spec.finally) {
        names.apply_option(&mut task.display_name);
    }
    pipeline_spec::pipeline_spec(spec, &names);
    let mut bound = Replacements::default();
    for workspace in &spec.workspaces {
        bound
            .strings
            .insert(format!("workspaces.{}.bound", workspace.name), "false".to_owned());
    }
    for binding in &run.spec.workspaces {
        bound
            .strings
            .insert(format!("workspaces.{}.bound", binding.name), "true".to_owned());
    }
    pipeline_spec::pipeline_spec(spec, &bound);
    Ok(())
}

/// Puts retries and the sizes of matrices into a task that is about to start.
pub(super) fn apply_to_task(task: &mut PipelineTask, spec: Option<&PipelineSpec>, facts: &Facts) {
    let mut known = Replacements::default();
    let retries = task.retries.unwrap_or_default();
    known
        .strings
        .insert("context.pipelineTask.retries".to_owned(), retries.to_string());
    let variables = task
        .params
        .iter()
        .flat_map(|param| tekton_api::result_ref::value_expressions(&param.value));
    for variable in variables {
        let parts: Vec<&str> = variable.split('.').collect();
        match parts.as_slice() {
            ["tasks", name, "matrix", "length"] => {
                let source = spec
                    .into_iter()
                    .flat_map(|spec| &spec.tasks)
                    .find(|task| task.name() == *name);
                let size = source
                    .and_then(|task| task.matrix.as_ref())
                    .map(tekton_api::v1::Matrix::count_combinations);
                if let Some(size) = size {
                    known.strings.insert(variable.clone(), size.to_string());
                }
            }
            ["tasks", name, "matrix", result, "length"] => {
                if let Some(source) = facts.task(name) {
                    let results = source.results_of_matrix();
                    let size = results.get(*result).map_or(0, Vec::len);
                    known.strings.insert(variable.clone(), size.to_string());
                }
            }
            _ => {}
        }
    }
    pipeline_spec::task_context(task, &known);
}
