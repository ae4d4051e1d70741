//! Checks on the variables in the fields of steps.
//!
//! Upstream counterpart: `validateStepVariables`, `validateStepArrayUsage` and
//! `validateStepObjectUsageAsWhole` in `task_validation.go`.

use super::params::{all_names, keys, names_of_type, objects, objects_have_properties};
use super::variables::{
    Names, isolated, key_prefix, names, no_entire_prohibited, no_prohibited, no_unknown,
    no_unknown_with_detail,
};
use super::{Context, text};
use crate::field_errors::FieldErrors;
use crate::v1::{OnError, ParamSpec, ParamType, Step, TaskResult};

/// A check on one text.
type Check<'a> = &'a dyn Fn(&str) -> FieldErrors;

/// Applies checks to all fields of a step; commands, arguments and scripts have their own.
fn fields(step: &Step, check: Check<'_>, script: Check<'_>, arguments: Check<'_>) -> FieldErrors {
    let mut errors = check(&step.name).via_field("name");
    errors.add(check(text(step.image.as_ref())).via_field("image"));
    errors.add(check(text(step.working_dir.as_ref())).via_field("workingDir"));
    errors.add(script(text(step.script.as_ref())).via_field("script"));
    for (index, command) in step.command.iter().enumerate() {
        errors.add(arguments(command).via_field_index("command", index));
    }
    for (index, argument) in step.args.iter().enumerate() {
        errors.add(arguments(argument).via_field_index("args", index));
    }
    for env in &step.env {
        errors.add(check(text(env.value.as_ref())).via_field_key("env", &env.name));
    }
    errors
}

/// Applies a check to the mounts of a step; the names in paths differ between checks.
fn mounts(step: &Step, check: Check<'_>, mount_path: &str, sub_path: &str) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, mount) in step.volume_mounts.iter().enumerate() {
        for (text, field) in [
            (mount.name.as_str(), "name"),
            (mount.mount_path.as_str(), mount_path),
            (text(mount.sub_path.as_ref()), sub_path),
        ] {
            errors.add(check(text).via_field(field).via_field_index("volumeMount", index));
        }
    }
    errors
}

/// The steps use no variable below the prefix that is not known.
fn unknown(steps: &[Step], prefix: &str, known: &Names, context: &Context<'_>) -> FieldErrors {
    let check = |text: &str| no_unknown(text, prefix, known);
    let with_detail = |text: &str| no_unknown_with_detail(text, prefix, known);
    let script: Check<'_> = if context.is_v1() { &check } else { &with_detail };
    let mut errors = FieldErrors::none();
    for (index, step) in steps.iter().enumerate() {
        let on_error = step.on_error.as_ref().map_or("", OnError::as_str);
        let found = fields(step, &check, script, &check)
            .and(mounts(step, &check, "MountPath", "SubPath"))
            .and(check(on_error).via_field("onError"));
        errors.add(found.via_field_index("steps", index));
    }
    errors
}

/// Arrays stand alone, and only in commands and arguments. As upstream does, the errors of earlier steps are
/// nested below each later one.
pub(super) fn arrays(steps: &[Step], params: &[ParamSpec]) -> FieldErrors {
    let arrays = names_of_type(params, &ParamType::Array);
    let check = |text: &str| no_prohibited(text, "params", &arrays);
    let alone = |text: &str| isolated(text, "params", &arrays);
    let mut errors = FieldErrors::none();
    for (index, step) in steps.iter().enumerate() {
        let found = fields(step, &check, &check, &alone).and(mounts(step, &check, "mountPath", "subPath"));
        errors = errors.and(found).via_field_index("steps", index);
    }
    errors
}

/// Objects are not used as a whole. Errors nest as those of [`arrays`] do.
fn whole_objects(steps: &[Step], names: &Names) -> FieldErrors {
    let check = |text: &str| no_entire_prohibited(text, "params", names);
    let mut errors = FieldErrors::none();
    for (index, step) in steps.iter().enumerate() {
        let found = fields(step, &check, &check, &check).and(mounts(step, &check, "mountPath", "subPath"));
        errors = errors.and(found).via_field_index("steps", index);
    }
    errors
}

/// The steps use only declared parameters, and objects by keys they have.
pub fn declared_params(steps: &[Step], params: &[ParamSpec], context: &Context<'_>) -> FieldErrors {
    let mut errors = unknown(steps, "params", &all_names(params), context);
    let mut names = Names::new();
    for object in objects(params) {
        names.insert(object.name.clone());
        errors.add(unknown(
            steps,
            &key_prefix("params", &object.name),
            &keys(object),
            context,
        ));
    }
    errors
        .and(whole_objects(steps, &names))
        .and(objects_have_properties(params))
}

/// The steps use only context variables that exist.
pub(super) fn context_variables(steps: &[Step], context: &Context<'_>) -> FieldErrors {
    let of_run = names(["name", "namespace", "uid"]);
    let of_task = names(["name", "retry-count"]);
    unknown(steps, r"context\.taskRun", &of_run, context).and(unknown(
        steps,
        r"context\.task",
        &of_task,
        context,
    ))
}

/// Scripts use only declared results.
pub(super) fn result_variables(steps: &[Step], results: &[TaskResult], context: &Context<'_>) -> FieldErrors {
    let names: Names = results.iter().map(|result| result.name.clone()).collect();
    let mut errors = FieldErrors::none();
    for (index, step) in steps.iter().enumerate() {
        let script = text(step.script.as_ref());
        let found = if context.is_v1() {
            no_unknown(script, "results", &names)
        } else {
            no_unknown_with_detail(script, "results", &names)
        };
        errors.add(found.via_field("script").via_field_index("steps", index));
    }
    errors
}
