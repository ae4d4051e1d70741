//! Checks of a run against its Task, in the order in which they decide the reason.
//!
//! Upstream counterparts: `pkg/reconciler/taskrun/validate_taskrun.go`, `pkg/workspace/validate.go`,
//! `resources/validate_params.go`.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use tekton_api::params::task_array_indices;
use tekton_api::quantity::Amount;
use tekton_api::quote::quote;
use tekton_api::substitute::apply::params;
use tekton_api::substitute::scan;
use tekton_api::v1::{
    Param, ParamSpec, ParamType, ParamValue, TaskResult, TaskRunResult, TaskRunSpec, TaskSpec,
    WorkspaceBinding, WorkspaceDeclaration,
};
use tekton_api::validate::workspace_binding;

/// A request of a step must not exceed its limit, or the one of the step template.
pub(super) fn requests(spec: &TaskSpec) -> Result<(), String> {
    let template = spec
        .step_template
        .as_ref()
        .map(|template| &template.compute_resources);
    for step in &spec.steps {
        for (name, request) in step.compute_resources.requests.iter().flatten() {
            let limit =
                limit(&step.compute_resources, name).or_else(|| template.and_then(|all| limit(all, name)));
            if let Some(limit) = limit
                && let (Some(request), Some(limit)) = (Amount::parse(&request.0), Amount::parse(&limit.0))
                && request > limit
            {
                return Err(format!(
                    "invalid request resource value: {} must be less or equal to limit {}",
                    request.canonical(),
                    limit.canonical()
                ));
            }
        }
    }
    Ok(())
}

fn limit<'a>(resources: &'a ResourceRequirements, name: &str) -> Option<&'a Quantity> {
    resources.limits.as_ref()?.get(name)
}

/// Every declared param has a value of its type, and objects have their keys.
pub(crate) fn resolved_task(given: &[Param], specs: &[ParamSpec], task: &str) -> Result<(), String> {
    check_params(given, &[], specs).map_err(|text| format!("invalid input params for task {task}: {text}"))
}

/// The same for a task of a pipeline, with the params of its matrix.
pub(crate) fn check_params(given: &[Param], matrix: &[Param], specs: &[ParamSpec]) -> Result<(), String> {
    let is_given = |spec: &&ParamSpec| given.iter().chain(matrix).any(|param| param.name == spec.name);
    let missing: Vec<&str> = specs
        .iter()
        .filter(|spec| spec.default.is_none() && !is_given(spec))
        .map(|spec| spec.name.as_str())
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "missing values for these params which have no default values: [{}]",
            missing.join(" ")
        ));
    }
    let types: BTreeMap<&str, ParamType> = specs
        .iter()
        .map(|spec| {
            (
                spec.name.as_str(),
                spec.type_.clone().unwrap_or(ParamType::Other(String::new())),
            )
        })
        .collect();
    let wrong = given.iter().filter(|param| {
        types
            .get(param.name.as_str())
            .is_some_and(|type_| !fits(&param.value, type_))
    });
    let wrong_in_matrix = matrix.iter().filter(|param| {
        types
            .get(param.name.as_str())
            .is_some_and(|type_| *type_ != ParamType::String)
    });
    let wrong: Vec<&str> = wrong
        .chain(wrong_in_matrix)
        .map(|param| param.name.as_str())
        .collect();
    if !wrong.is_empty() {
        return Err(format!(
            "param types don't match the user-specified type: [{}]",
            wrong.join(" ")
        ));
    }
    let missing = missing_object_keys(given, specs);
    if !missing.is_empty() {
        return Err(format!(
            "missing keys for these params which are required in ParamSpec's properties {}",
            go_map(&missing)
        ));
    }
    Ok(())
}

/// A text that is a reference may turn out to be a list or a map.
fn fits(value: &ParamValue, type_: &ParamType) -> bool {
    match value {
        ParamValue::String(text) => {
            *type_ == ParamType::String
                || (matches!(type_, ParamType::Array | ParamType::Object)
                    && !scan::expressions(text).is_empty())
        }
        other => other.param_type() == *type_,
    }
}

/// Keys that object params need and neither run nor default provide.
pub(crate) fn missing_object_keys(given: &[Param], specs: &[ParamSpec]) -> BTreeMap<String, Vec<String>> {
    let mut needed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut provided: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for spec in specs.iter().filter(|spec| spec.type_ == Some(ParamType::Object)) {
        let keys = spec
            .properties
            .iter()
            .flat_map(BTreeMap::keys)
            .map(String::as_str);
        needed.entry(&spec.name).or_default().extend(keys);
        if let Some(ParamValue::Object(members)) = &spec.default {
            provided
                .entry(&spec.name)
                .or_default()
                .extend(members.keys().map(String::as_str));
        }
    }
    for param in given {
        if let ParamValue::Object(members) = &param.value {
            provided
                .entry(&param.name)
                .or_default()
                .extend(members.keys().map(String::as_str));
        }
    }
    missing_keys(&needed, &provided)
}

fn missing_keys(
    needed: &BTreeMap<&str, Vec<&str>>,
    provided: &BTreeMap<&str, BTreeSet<&str>>,
) -> BTreeMap<String, Vec<String>> {
    let missing = provided.iter().filter_map(|(name, keys)| {
        let missing: Vec<String> = needed
            .get(name)?
            .iter()
            .filter(|key| !keys.contains(*key))
            .map(|key| (*key).to_owned())
            .collect();
        (!missing.is_empty()).then(|| ((*name).to_owned(), missing))
    });
    missing.collect()
}

/// A map of lists as Go prints it: `map[a:[x y] b:[z]]`.
fn go_map(map: &BTreeMap<String, Vec<String>>) -> String {
    let entries: Vec<String> = map
        .iter()
        .map(|(key, list)| format!("{key}:[{}]", list.join(" ")))
        .collect();
    format!("map[{}]", entries.join(" "))
}

/// A text param has one of the values its declaration allows.
pub(crate) fn enums(given: &[Param], specs: &[ParamSpec]) -> Result<(), String> {
    for param in given {
        let Some(value) = param.value.as_str().filter(|value| !value.is_empty()) else {
            continue;
        };
        let allowed = specs
            .iter()
            .rev()
            .find(|spec| spec.name == param.name && !spec.enum_.is_empty());
        if allowed.is_some_and(|spec| !spec.enum_.iter().any(|allowed| allowed == value)) {
            return Err(format!(
                "param `{}` value: {value} is not in the enum list",
                param.name
            ));
        }
    }
    Ok(())
}

/// References to elements of array params stay within the arrays.
pub(super) fn array_indices(spec: &TaskSpec, given: &[Param]) -> Result<(), String> {
    out_of_bounds(&task_array_indices(spec), given, &spec.params)
}

/// The same for a list of references such as `$(params.list[3])`.
pub(crate) fn out_of_bounds(
    references: &BTreeSet<String>,
    given: &[Param],
    specs: &[ParamSpec],
) -> Result<(), String> {
    let lengths = params::array_lengths(given, specs);
    let beyond = |reference: &&String| {
        let index = scan::int_index(reference).unwrap_or_default();
        let found = scan::variables(&scan::trim_array_index(reference), "params");
        found
            .names
            .first()
            .and_then(|name| lengths.get(name))
            .is_some_and(|length| index >= *length)
    };
    let beyond: Vec<&str> = references.iter().filter(beyond).map(String::as_str).collect();
    if beyond.is_empty() {
        Ok(())
    } else {
        Err(format!("non-existent param references:[{}]", beyond.join(" ")))
    }
}

/// Every binding is well formed, every needed workspace is bound, and every binding is of a declared workspace.
pub(crate) fn bindings(declared: &[WorkspaceDeclaration], bound: &[WorkspaceBinding]) -> Result<(), String> {
    for binding in bound {
        let errors = workspace_binding(binding);
        if !errors.is_empty() {
            return Err(format!("binding {} is invalid: {errors}", quote(&binding.name)));
        }
    }
    let unbound = declared.iter().find(|declaration| {
        !declaration.optional.unwrap_or_default()
            && !bound.iter().any(|binding| binding.name == declaration.name)
    });
    if let Some(declaration) = unbound {
        return Err(format!(
            "declared workspace \"{}\" is required but has not been bound",
            declaration.name
        ));
    }
    match bound.iter().find(|binding| {
        !declared
            .iter()
            .any(|declaration| declaration.name == binding.name)
    }) {
        Some(binding) => Err(format!(
            "workspace binding \"{}\" does not match any declared workspace",
            binding.name
        )),
        None => Ok(()),
    }
}

/// An affinity assistant can follow one claim only.
pub(super) fn one_claim(bound: &[WorkspaceBinding]) -> Result<(), String> {
    let mut claims = BTreeSet::new();
    for binding in bound {
        if let Some(claim) = &binding.persistent_volume_claim {
            claims.insert(&claim.claim_name);
        }
        if binding.volume_claim_template.is_some() {
            claims.insert(&binding.name);
        }
    }
    if claims.len() > 1 {
        Err("more than one PersistentVolumeClaim is bound".to_owned())
    } else {
        Ok(())
    }
}

/// Changes to steps and sidecars are to steps and sidecars that exist.
pub(super) fn overrides(spec: &TaskSpec, run: &TaskRunSpec) -> Result<(), String> {
    let steps = run
        .step_specs
        .iter()
        .filter(|change| !spec.steps.iter().any(|step| step.name == change.name));
    let sidecars = run
        .sidecar_specs
        .iter()
        .filter(|change| !spec.sidecars.iter().any(|sidecar| sidecar.name == change.name));
    let errors: Vec<String> = steps
        .map(|change| format!("invalid StepOverride: No Step named {}", change.name))
        .chain(sidecars.map(|change| format!("invalid SidecarOverride: No Sidecar named {}", change.name)))
        .collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors.join("\n"))
    }
}

/// Results have the declared types, and objects their keys. Results of another type are dropped.
pub(super) fn results(produced: &mut Vec<TaskRunResult>, declared: &[TaskResult]) -> Result<(), String> {
    let type_of = |name: &str| {
        let declaration = declared.iter().rev().find(|result| result.name == name)?;
        Some(
            declaration
                .type_
                .as_ref()
                .map(ParamType::as_str)
                .unwrap_or_default(),
        )
    };
    let mut mismatches = BTreeMap::new();
    produced.retain(|result| {
        let present = result.type_.as_ref().map(ParamType::as_str).unwrap_or_default();
        match type_of(&result.name) {
            Some(wanted) if wanted != present => {
                let text = format!(
                    "task result is expected to be \"{wanted}\" type but was initialized to a different type \"{present}\""
                );
                mismatches.insert(result.name.clone(), text);
                false
            }
            _ => true,
        }
    });
    if !mismatches.is_empty() {
        let mut texts: Vec<String> = mismatches
            .iter()
            .map(|(name, text)| format!(" \"{name}\": {text}"))
            .collect();
        texts.sort();
        return Err(format!(
            "Provided results don't match declared results; may be invalid JSON or missing result declaration: {}",
            texts.join(",")
        ));
    }
    let mut needed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for result in declared
        .iter()
        .filter(|result| result.type_ == Some(ParamType::Object))
    {
        let keys = result
            .properties
            .iter()
            .flat_map(BTreeMap::keys)
            .map(String::as_str);
        needed.entry(&result.name).or_default().extend(keys);
    }
    let mut provided: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for result in produced.iter() {
        if let ParamValue::Object(members) = &result.value {
            provided
                .entry(&result.name)
                .or_default()
                .extend(members.keys().map(String::as_str));
        }
    }
    let missing = missing_keys(&needed, &provided);
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "missing keys for these results which are required in TaskResult's properties {}",
        go_map(&missing)
    ))
}
