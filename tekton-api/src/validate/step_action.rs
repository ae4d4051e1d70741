//! Checks on StepActions.
//!
//! Upstream counterpart: `stepaction_validation.go` in `pkg/apis/pipeline/v1beta1` and `v1alpha1`.

use std::collections::{BTreeMap, BTreeSet};

use super::params::{
    all_names, keys, name_format, names_of_type, no_duplicates, objects, objects_have_properties, types,
};
use super::results::step_results;
use super::step::{result_variables, script_or_command, windows_script};
use super::variables::{Names, isolated, key_prefix, no_entire_prohibited, no_prohibited, no_unknown};
use super::{Context, Validate, names, text};
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::substitute::scan;
use crate::v1::{ParamSpec, ParamType};
use crate::v1alpha1;
use crate::v1beta1::{StepAction, StepActionSpec};

impl Validate for StepAction {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        names::object_metadata(&self.metadata).and(spec(&self.spec, context).via_field("spec"))
    }
}

impl Validate for v1alpha1::StepAction {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let spec = spec(&self.spec, context).and(default_references(&self.spec.params));
        names::object_metadata(&self.metadata).and(spec.via_field("spec"))
    }
}

impl Validate for StepActionSpec {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        spec(self, context)
    }
}

fn spec(spec: &StepActionSpec, context: &Context<'_>) -> FieldErrors {
    let script = text(spec.script.as_ref());
    let mut errors = FieldErrors::none();
    if text(spec.image.as_ref()).is_empty() {
        errors.add(FieldErrors::missing(&["Image"]));
    }
    errors.add(script_or_command(script, &spec.command));
    errors.add(windows_script(script, context));
    if scan::variables(script, "params").present {
        errors.add(FieldErrors::new(
            "param substitution in scripts is not allowed.",
            &["script"],
        ));
    }
    errors.add(declared_params(spec));
    errors.add(types(&spec.params).via_field("params"));
    errors.add(no_duplicates(&spec.params));
    errors.add(name_format(&spec.params));
    errors.add(arrays(spec));
    errors.add(result_variables(&spec.results, script));
    let results: Names = spec.results.iter().map(|result| result.name.clone()).collect();
    errors.add(no_unknown(script, "results", &results).via_field("script"));
    errors.add(step_results(&spec.results).via_field("results"));
    errors.and(mounts(spec).via_field("volumeMounts"))
}

/// A check on one text.
type Check<'a> = &'a dyn Fn(&str) -> FieldErrors;

fn fields(spec: &StepActionSpec, check: Check<'_>, arguments: Check<'_>) -> FieldErrors {
    let mut errors = check(text(spec.image.as_ref())).via_field("image");
    errors.add(check(text(spec.script.as_ref())).via_field("script"));
    for (index, command) in spec.command.iter().enumerate() {
        errors.add(arguments(command).via_field_index("command", index));
    }
    for (index, argument) in spec.args.iter().enumerate() {
        errors.add(arguments(argument).via_field_index("args", index));
    }
    for env in &spec.env {
        errors.add(check(text(env.value.as_ref())).via_field_key("env", &env.name));
    }
    for (index, mount) in spec.volume_mounts.iter().enumerate() {
        errors.add(check(&mount.name).via_field_index("volumeMounts", index));
    }
    errors
}

fn unknown(spec: &StepActionSpec, prefix: &str, known: &Names) -> FieldErrors {
    let check = |text: &str| no_unknown(text, prefix, known);
    fields(spec, &check, &check)
}

fn declared_params(spec: &StepActionSpec) -> FieldErrors {
    let mut errors = unknown(spec, "params", &all_names(&spec.params));
    let mut names = Names::new();
    for object in objects(&spec.params) {
        names.insert(object.name.clone());
        errors.add(unknown(spec, &key_prefix("params", &object.name), &keys(object)));
    }
    let check = |text: &str| no_entire_prohibited(text, "params", &names);
    errors
        .and(fields(spec, &check, &check))
        .and(objects_have_properties(&spec.params))
}

fn arrays(spec: &StepActionSpec) -> FieldErrors {
    let arrays = names_of_type(&spec.params, &ParamType::Array);
    let check = |text: &str| no_prohibited(text, "params", &arrays);
    let alone = |text: &str| isolated(text, "params", &arrays);
    fields(spec, &check, &alone)
}

/// Volumes are named by a parameter each, since a StepAction knows none; the first violation is reported.
fn mounts(spec: &StepActionSpec) -> FieldErrors {
    let known = all_names(&spec.params);
    let mut errors = FieldErrors::none();
    for (index, mount) in spec.volume_mounts.iter().enumerate() {
        let references = scan::variable_expressions(&mount.name, "params");
        if !matches!(references.as_slice(), [reference] if *reference == mount.name) {
            let error = FieldErrors::invalid_value_because(
                &mount.name,
                "name",
                "expect the Name to be a single param reference",
            );
            return errors.and(error.via_index(index));
        }
        errors.add(no_unknown(&mount.name, "params", &known).via_index(index));
    }
    errors
}

/// Defaults refer to parameters that exist, and not to each other in a circle. Only v1alpha1 looks.
fn default_references(params: &[ParamSpec]) -> FieldErrors {
    let known = all_names(params);
    let problem = |message: String| FieldErrors::new(message, &["params"]);
    let mut errors = FieldErrors::none();
    let mut resolved: BTreeSet<&str> = BTreeSet::new();
    let mut open: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for param in params {
        let default = param
            .default
            .as_ref()
            .and_then(|default| default.as_str())
            .unwrap_or_default();
        let references: Vec<String> = scan::variable_expressions(default, "params")
            .iter()
            .map(|reference| {
                let name = reference.strip_prefix("$(params.").unwrap_or(reference);
                name.strip_suffix(')').unwrap_or(name).to_owned()
            })
            .collect();
        if references.is_empty() {
            resolved.insert(&param.name);
            continue;
        }
        let missing: Vec<&String> = references.iter().filter(|name| !known.contains(*name)).collect();
        for name in &missing {
            errors.add(problem(format!(
                "param {} default value references param {} which is not defined",
                quote(&param.name),
                quote(name)
            )));
        }
        if missing.is_empty() {
            open.insert(&param.name, references);
        }
    }
    loop {
        let ready: Vec<&str> = open
            .iter()
            .filter(|(_, references)| references.iter().all(|name| resolved.contains(name.as_str())))
            .map(|(name, _)| *name)
            .collect();
        if ready.is_empty() {
            break;
        }
        for name in ready {
            open.remove(name);
            resolved.insert(name);
        }
    }
    for name in open.keys() {
        errors.add(problem(format!(
            "param {} default value has a circular dependency",
            quote(name)
        )));
    }
    errors
}
