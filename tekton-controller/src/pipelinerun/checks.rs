//! Checks of a run against its pipeline, in the order in which they decide the reason.
//!
//! Upstream counterparts: `pkg/reconciler/pipelinerun/resources/validate_params.go`,
//! `validate_dependencies.go`, `pipelinerunresolution.go`.

use std::collections::{BTreeMap, BTreeSet};

use tekton_api::reasons::PipelineRunReason;
use tekton_api::result_ref::{ResultRef, pipeline_task_refs, result_refs, value_expressions};
use tekton_api::substitute::scan;
use tekton_api::v1::{
    OnError, Param, ParamSpec, ParamType, ParamValue, PipelineRunSpec, PipelineSpec,
    PipelineWorkspaceDeclaration,
};

use super::draft::Halt;
use super::facts::Facts;
use super::results::Tasks;
use super::state::{ResolvedTask, TaskKind, TaskState};
use crate::taskrun::validate;

/// Names of the run and its pipeline in messages.
pub(super) struct Names<'a> {
    /// `namespace/name` of the run.
    pub(super) run: &'a str,
    /// Namespace of the run.
    pub(super) namespace: &'a str,
    /// Name of the pipeline.
    pub(super) pipeline: &'a str,
}

/// Everything that is checked before variables are replaced.
pub(super) fn run_fits_pipeline(
    spec: &PipelineSpec,
    run: &PipelineRunSpec,
    enums: bool,
    names: &Names<'_>,
) -> Result<(), Halt> {
    let Names {
        run: run_key,
        namespace,
        pipeline,
    } = names;
    required_params(&spec.params, &run.params).map_err(|error| {
        let prefix = format!(
            "PipelineRun {run_key} is missing some parameters required by Pipeline {namespace}/{pipeline}: "
        );
        Halt::user(PipelineRunReason::ParameterMissing, &prefix, error)
    })?;
    param_types(&spec.params, &run.params).map_err(|error| {
        let prefix = format!(
            "PipelineRun {run_key} parameters have mismatching types with Pipeline {namespace}/{pipeline}'s parameters: "
        );
        Halt::user(PipelineRunReason::ParameterTypeMismatch, &prefix, error)
    })?;
    if enums {
        validate::enums(&run.params, &spec.params).map_err(|error| {
            let prefix = format!("PipelineRun {run_key} parameters have invalid value: ");
            Halt::user(PipelineRunReason::InvalidParamValue, &prefix, error)
        })?;
    }
    object_keys(&spec.params, &run.params).map_err(|error| {
        let prefix = format!(
            "PipelineRun {run_key} parameters is missing object keys required by Pipeline {namespace}/{pipeline}'s \
             parameters: "
        );
        Halt::user(PipelineRunReason::ObjectParameterMissKeys, &prefix, error)
    })?;
    let references = tekton_api::params::pipeline_array_indices(spec);
    validate::out_of_bounds(&references, &run.params, &spec.params).map_err(|error| {
        let prefix = format!(
            "PipelineRun {run_key} failed validation: failed to validate Pipeline {namespace}/{pipeline}'s parameter \
             which has an invalid index while referring to an array: "
        );
        Halt::user(PipelineRunReason::ParamArrayIndexingInvalid, &prefix, error)
    })?;
    workspaces(spec, run).map_err(|error| {
        let prefix = format!(
            "PipelineRun {run_key} doesn't bind Pipeline {namespace}/{pipeline}'s Workspaces correctly: "
        );
        Halt::user(PipelineRunReason::InvalidWorkspaceBinding, &prefix, error)
    })?;
    task_run_specs(spec, run).map_err(|error| {
        let prefix = format!("PipelineRun {run_key} doesn't define taskRunSpecs correctly: ");
        Halt::user(PipelineRunReason::InvalidTaskRunSpec, &prefix, error)
    })
}

fn required_params(declared: &[ParamSpec], given: &[Param]) -> Result<(), String> {
    let is_missing =
        |spec: &&ParamSpec| spec.default.is_none() && !given.iter().any(|param| param.name == spec.name);
    let missing: Vec<&str> = declared
        .iter()
        .filter(is_missing)
        .map(|spec| spec.name.as_str())
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("pipelineRun missing parameters: [{}]", missing.join(" ")))
    }
}

fn param_types(declared: &[ParamSpec], given: &[Param]) -> Result<(), String> {
    let types: BTreeMap<&str, Option<&ParamType>> = declared
        .iter()
        .map(|spec| (spec.name.as_str(), spec.type_.as_ref()))
        .collect();
    let differs = |param: &&Param| {
        types
            .get(param.name.as_str())
            .is_some_and(|type_| *type_ != Some(&param.value.param_type()))
    };
    let wrong: Vec<&str> = given
        .iter()
        .filter(differs)
        .map(|param| param.name.as_str())
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "parameters have inconsistent types : [{}]",
            wrong.join(" ")
        ))
    }
}

fn object_keys(declared: &[ParamSpec], given: &[Param]) -> Result<(), String> {
    let missing = validate::missing_object_keys(given, declared);
    if missing.is_empty() {
        return Ok(());
    }
    let entries: Vec<String> = missing
        .iter()
        .map(|(name, keys)| format!("{name}:[{}]", keys.join(" ")))
        .collect();
    Err(format!(
        "pipelineRun missing object keys for parameters: map[{}]",
        entries.join(" ")
    ))
}

fn workspaces(spec: &PipelineSpec, run: &PipelineRunSpec) -> Result<(), String> {
    let is_bound = |name: &str| run.workspaces.iter().any(|binding| binding.name == name);
    let optional = |workspace: &PipelineWorkspaceDeclaration| workspace.optional.unwrap_or_default();
    match spec
        .workspaces
        .iter()
        .find(|workspace| !optional(workspace) && !is_bound(&workspace.name))
    {
        Some(unbound) => Err(format!(
            "pipeline requires workspace with name \"{}\" be provided by pipelinerun",
            unbound.name
        )),
        None => Ok(()),
    }
}

fn task_run_specs(spec: &PipelineSpec, run: &PipelineRunSpec) -> Result<(), String> {
    let names: BTreeSet<&str> = spec
        .tasks
        .iter()
        .chain(&spec.finally)
        .map(tekton_api::v1::PipelineTask::name)
        .collect();
    for task_run_spec in &run.task_run_specs {
        let name = task_run_spec.pipeline_task_name.as_deref().unwrap_or_default();
        if !names.contains(name) {
            return Err(format!(
                "pipelineRun's taskrunSpecs defined wrong taskName: \"{name}\", does not exist in Pipeline"
            ));
        }
    }
    Ok(())
}

/// `onError` may hold a variable, so it is checked once variables are replaced.
pub(super) fn on_error(spec: &PipelineSpec) -> Result<(), String> {
    for task in spec.tasks.iter().chain(&spec.finally) {
        let Some(on_error) = &task.on_error else { continue };
        if !matches!(on_error, OnError::Continue | OnError::StopAndFail) && !on_error.as_str().is_empty() {
            return Err(format!(
                "invalid value: {}: OnError\nPipelineTask OnError must be either \"continue\" or \"stopAndFail\"",
                on_error.as_str()
            ));
        }
        if *on_error == OnError::Continue && task.retries.unwrap_or_default() > 0 {
            return Err(
                "PipelineTask OnError cannot be set to \"continue\" when Retries is greater than 0: "
                    .to_owned(),
            );
        }
    }
    Ok(())
}

/// Params of a pipeline task against its Task.
pub(super) fn task_params(task: &TaskState) -> Result<(), String> {
    let Some(ResolvedTask { name, spec }) = &task.resolved else {
        return Ok(());
    };
    let matrix: Vec<Param> = task
        .task
        .matrix
        .iter()
        .flat_map(|matrix| matrix.all_params().cloned())
        .collect();
    validate::check_params(&task.task.params, &matrix, &spec.params)
        .map_err(|error| format!("invalid input params for task {name}: {error}"))
}

/// The enum of a pipeline param must be within that of the Task's param it is handed to.
pub(super) fn enum_subset(
    original: &[Param],
    declared: &[ParamSpec],
    task: &TaskState,
) -> Result<(), String> {
    let Some(resolved) = &task.resolved else {
        return Ok(());
    };
    let spec_of = |name: &str, specs: &'_ [ParamSpec]| {
        specs
            .iter()
            .find(|spec| spec.name == name)
            .cloned()
            .unwrap_or_default()
    };
    for param in original {
        let found = scan::variables(param.value.as_str().unwrap_or_default(), "params");
        if !found.error.is_empty() {
            return Err(format!(
                "unexpected error in ExtractVariablesFromString: {}",
                found.error
            ));
        }
        let [name] = found.names.as_slice() else { continue };
        let name = scan::trim_array_index(name);
        let (of_pipeline, of_task) = (
            spec_of(&name, declared),
            spec_of(&param.name, &resolved.spec.params),
        );
        if of_task.enum_.is_empty() {
            continue;
        }
        if of_pipeline.enum_.is_empty() {
            return Err(format!(
                "pipeline param \"{}\" has no enum, but referenced in \"{}\" task has enums: [{}]",
                name,
                resolved.name,
                of_task.enum_.join(" ")
            ));
        }
        let allowed: BTreeSet<&String> = of_task.enum_.iter().collect();
        if of_pipeline.enum_.iter().any(|value| !allowed.contains(value)) {
            return Err(format!(
                "pipeline param \"{}\" enum: [{}] is not a subset of the referenced in \"{}\" task param enum: [{}]",
                name,
                of_pipeline.enum_.join(" "),
                resolved.name,
                of_task.enum_.join(" ")
            ));
        }
    }
    Ok(())
}

/// References of tasks to results that no task declares.
pub(super) fn task_results(facts: &Facts) -> Result<(), String> {
    for task in &facts.state {
        for reference in pipeline_task_refs(&task.task) {
            result_exists(facts, &reference).map_err(|error| {
                format!(
                    "invalid result reference in pipeline task \"{}\": {error}",
                    task.name()
                )
            })?;
        }
    }
    Ok(())
}

/// The same for the results of the pipeline.
pub(super) fn pipeline_results(spec: &PipelineSpec, facts: &Facts) -> Result<(), String> {
    for result in &spec.results {
        for reference in result_refs(&value_expressions(&result.value)) {
            result_exists(facts, &reference)
                .map_err(|error| format!("invalid pipeline result \"{}\": {error}", result.name))?;
        }
    }
    Ok(())
}

fn result_exists(facts: &Facts, reference: &ResultRef) -> Result<(), String> {
    let name = &reference.pipeline_task;
    let Some(task) = facts.task(name) else {
        return Err(format!("referenced pipeline task \"{name}\" does not exist"));
    };
    if task.kind == TaskKind::Custom {
        return Ok(());
    }
    let Some(resolved) = &task.resolved else {
        return Err(format!(
            "unable to validate result referencing pipeline task \"{name}\": task spec not found"
        ));
    };
    if resolved
        .spec
        .results
        .iter()
        .any(|result| result.name == reference.result)
    {
        return Ok(());
    }
    Err(format!(
        "\"{}\" is not a named result returned by pipeline task \"{name}\"",
        reference.result
    ))
}

/// A workspace that the pipeline may lack must not be required by a Task.
pub(super) fn optional_workspaces(
    declared: &[PipelineWorkspaceDeclaration],
    facts: &Facts,
) -> Result<(), String> {
    let optional: BTreeSet<&str> = declared
        .iter()
        .filter(|workspace| workspace.optional.unwrap_or_default())
        .map(|workspace| workspace.name.as_str())
        .collect();
    for task in &facts.state {
        let Some(resolved) = &task.resolved else { continue };
        for binding in &task.task.workspaces {
            let workspace = binding.workspace.as_deref().unwrap_or_default();
            let required = resolved.spec.workspaces.iter().any(|declaration| {
                declaration.name == binding.name && !declaration.optional.unwrap_or_default()
            });
            if optional.contains(workspace) && required {
                return Err(format!(
                    "pipeline workspace \"{workspace}\" is marked optional but pipeline task \"{}\" requires it be \
                     provided",
                    task.name()
                ));
            }
        }
    }
    Ok(())
}

/// Types of matrix params once results are in place: arrays, and strings in includes.
pub(super) fn matrix_types(facts: &Facts) -> Result<(), String> {
    for task in &facts.state {
        let Some(matrix) = &task.task.matrix else { continue };
        let wrong = |wanted: &str, param: &Param| {
            Err(format!(
                "parameters of type {wanted} only are allowed, but param \"{}\" has type \"{}\" in pipelineTask \"{}\"",
                param.name,
                param.value.param_type().as_str(),
                task.name()
            ))
        };
        for param in matrix.include.iter().flat_map(|include| &include.params) {
            if !matches!(param.value, ParamValue::String(_)) {
                return wrong("string", param);
            }
        }
        for param in &matrix.params {
            let refers = tekton_api::result_ref::any_looks_like_task_result(&value_expressions(&param.value));
            if !matches!(param.value, ParamValue::Array(_)) && !refers {
                return wrong("array", param);
            }
        }
    }
    Ok(())
}
