//! Checks on steps and sidecars, one at a time and as lists.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/container_validation.go`, and `validateStep` in
//! `pkg/apis/pipeline/v1beta1/task_validation.go`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::names::{clean_path, is_dns_label};
use super::results::{has_step_result_reference, step_results};
use super::variables::{Names, no_unknown};
use super::{Context, refs, text, when};
use crate::config::ApiFields;
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::v1::{OnError, Sidecar, Step, StepResult};

const RESERVED_SIDECAR: &str = "tekton-log-results";
const ARTIFACTS_FLAG: &str = "feature flag enable-artifacts should be set to true to use artifacts feature.";
const DNS_DETAILS: &str = "Task step name must be a valid DNS Label, For more info refer to \
     https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names";

static STEP_ARTIFACT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\(steps\.([^.]+)\.(?:inputs|outputs)\.([^.)]+)\)").ok());
static TASK_ARTIFACT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\(tasks\.([^.]+)\.(?:inputs|outputs)\.([^.)]+)\)").ok());

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    text.contains("$(") && pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn has_step_artifact(text: &str) -> bool {
    matches(&STEP_ARTIFACT, text) || text.contains("$(step.artifacts.path)")
}

/// Whether a text refers to an artifact of a task by name.
pub(super) fn has_named_task_artifact(text: &str) -> bool {
    matches(&TASK_ARTIFACT, text)
}

fn has_task_artifact(text: &str) -> bool {
    has_named_task_artifact(text) || text.contains("$(artifacts.path)")
}

/// The error for artifacts that are used though they are switched off.
pub(super) fn artifacts_are_off() -> FieldErrors {
    FieldErrors::new(ARTIFACTS_FLAG, &[""])
}

/// Checks the steps of a Task.
pub(super) fn list(steps: &[Step], context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut names = BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        if context.is_v1() && !step.name.is_empty() && !names.insert(step.name.as_str()) {
            errors.add(FieldErrors::multiple_one_of(&["name"]).via_index(index));
        }
        errors.add(one(step, &mut names, context).via_index(index));
        if !step.results.is_empty() {
            let script = text(step.script.as_ref());
            errors.add(result_variables(&step.results, script).via_index(index));
            errors.add(step_results(&step.results).via_index(index).via_field("results"));
        }
        errors.add(when::expressions(&step.when, context).via_index(index));
    }
    errors
}

/// A script refers only to results of its own step that are declared.
pub(super) fn result_variables(results: &[StepResult], script: &str) -> FieldErrors {
    let names: Names = results.iter().map(|result| result.name.clone()).collect();
    no_unknown(script, "step.results", &names).via_field("script")
}

fn one<'a>(step: &'a Step, names: &mut BTreeSet<&'a str>, context: &Context<'_>) -> FieldErrors {
    if !context.config.features.enable_artifacts && uses_artifacts(step) {
        return artifacts_are_off();
    }
    let mut errors = match &step.ref_ {
        Some(reference) => refs::step_action(reference, context).and(beside_reference(step)),
        None => without_reference(step),
    };
    errors.add(name(step, names, context));
    if let Some(timeout) = step.timeout.filter(|timeout| timeout.is_negative()) {
        return FieldErrors::invalid_value(timeout, "negative timeout");
    }
    errors.add(mounts(step));
    errors.add(on_error(step));
    errors.add(alpha_fields(step, context));
    errors.add(references_in_forbidden_fields(step));
    errors
}

fn uses_artifacts(step: &Step) -> bool {
    let env = step.env.iter().filter_map(|env| env.value.as_ref());
    let mut texts = step
        .script
        .iter()
        .chain(&step.command)
        .chain(&step.args)
        .chain(env);
    texts.any(|text| has_step_artifact(text) || has_task_artifact(text))
}

/// What may not be set beside a reference to a StepAction.
fn beside_reference(step: &Step) -> FieldErrors {
    let filled = |text: Option<&String>| text.is_some_and(|text| !text.is_empty());
    let mut errors = FieldErrors::none();
    for (is_set, what, field) in [
        (filled(step.image.as_ref()), "image", "image"),
        (!step.command.is_empty(), "command", "command"),
        (!step.args.is_empty(), "args", "args"),
        (filled(step.script.as_ref()), "script", "script"),
        (filled(step.working_dir.as_ref()), "working dir", "workingDir"),
        (!step.env.is_empty(), "env", "env"),
        (!step.volume_mounts.is_empty(), "volumeMounts", "volumeMounts"),
        (!step.results.is_empty(), "results", "results"),
    ] {
        if is_set {
            errors.add(FieldErrors::new(
                format!("{what} cannot be used with Ref"),
                &[field],
            ));
        }
    }
    errors
}

fn without_reference(step: &Step) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if !step.params.is_empty() {
        errors.add(FieldErrors::new("params cannot be used without Ref", &["params"]));
    }
    if text(step.image.as_ref()).is_empty() {
        errors.add(FieldErrors::missing(&["Image"]));
    }
    errors.and(script_or_command(text(step.script.as_ref()), &step.command))
}

/// A script takes the place of a command.
pub(super) fn script_or_command(script: &str, command: &[String]) -> FieldErrors {
    if script.is_empty() || command.is_empty() {
        return FieldErrors::none();
    }
    FieldErrors::new("script cannot be used with command", &["script"])
}

fn name<'a>(step: &'a Step, names: &mut BTreeSet<&'a str>, context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if step.name.is_empty() {
        return errors;
    }
    if !context.is_v1() && !names.insert(&step.name) {
        errors.add(FieldErrors::invalid_value(&step.name, "name"));
    }
    if !is_dns_label(&step.name) {
        let message = format!("invalid value {}", quote(&step.name));
        errors.add(FieldErrors::detailed(message, DNS_DETAILS, &["name"]));
    }
    errors
}

fn mounts(step: &Step) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, mount) in step.volume_mounts.iter().enumerate() {
        let path = clean_path(&mount.mount_path);
        if path.starts_with("/tekton/") && !path.starts_with("/tekton/home") {
            let message = format!(
                "volumeMount cannot be mounted under /tekton/ (volumeMount {} mounted at {})",
                quote(&mount.name),
                quote(&mount.mount_path)
            );
            errors.add(FieldErrors::new(message, &["mountPath"]).via_field_index("volumeMounts", index));
        }
        if mount.name.starts_with("tekton-internal-") {
            let message = format!(
                "volumeMount name {} cannot start with \"tekton-internal-\"",
                quote(&mount.name)
            );
            errors.add(FieldErrors::new(message, &["name"]).via_field_index("volumeMounts", index));
        }
    }
    errors
}

/// Whether a text starts like a reference to a parameter.
pub(super) fn is_param_reference(text: &str) -> bool {
    text.starts_with("$(params")
}

fn on_error(step: &Step) -> FieldErrors {
    match &step.on_error {
        Some(OnError::Other(value)) if !value.is_empty() && !is_param_reference(value) => {
            FieldErrors::detailed(
                format!("invalid value: \"{value}\""),
                "Task step onError must be either \"continue\" or \"stopAndFail\"",
                &["onError"],
            )
        }
        _ => FieldErrors::none(),
    }
}

/// A script for Windows needs alpha fields.
pub(super) fn windows_script(script: &str, context: &Context<'_>) -> FieldErrors {
    if !script.trim().starts_with("#!win") {
        return FieldErrors::none();
    }
    context
        .requires("windows script support", ApiFields::Alpha)
        .via_field("script")
}

fn alpha_fields(step: &Step, context: &Context<'_>) -> FieldErrors {
    let mut errors = windows_script(text(step.script.as_ref()), context);
    if step.stdout_config.is_some() {
        let error = context.requires("step stdout stream support", ApiFields::Alpha);
        errors.add(error.via_field("stdoutconfig"));
    }
    if step.stderr_config.is_some() {
        let error = context.requires("step stderr stream support", ApiFields::Alpha);
        errors.add(error.via_field("stderrconfig"));
    }
    errors
}

/// Results and artifacts of steps may be used only where they are substituted at run time.
fn references_in_forbidden_fields(step: &Step) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let script = text(step.script.as_ref());
    if has_step_result_reference(script) {
        errors.add(forbidden_result("script"));
    }
    for (text, field) in fixed_fields(step) {
        if has_step_result_reference(text) {
            errors.add(forbidden_result(field));
        }
        if has_step_artifact(text) {
            errors.add(FieldErrors::new(
                "stepArtifact substitutions are only allowed in env, command, args and script. Found usage in",
                &[field],
            ));
        }
    }
    errors
}

fn forbidden_result(field: &str) -> FieldErrors {
    FieldErrors::new(
        "stepResult substitutions are only allowed in env, command and args. Found usage in",
        &[field],
    )
}

/// The texts that are fixed when the pod is made, with the names by which errors call them.
fn fixed_fields(step: &Step) -> Vec<(&str, &'static str)> {
    let mut fields = vec![
        (step.name.as_str(), "name"),
        (text(step.image.as_ref()), "image"),
        (text(step.image_pull_policy.as_ref()), "imagePullPolicy"),
        (text(step.working_dir.as_ref()), "workingDir"),
    ];
    for source in &step.env_from {
        fields.push((text(source.prefix.as_ref()), "envFrom.prefix"));
        if let Some(config_map) = &source.config_map_ref {
            fields.push((&config_map.name, "envFrom.configMapRef"));
        }
        if let Some(secret) = &source.secret_ref {
            fields.push((&secret.name, "envFrom.secretRef"));
        }
    }
    for mount in &step.volume_mounts {
        fields.push((&mount.name, "volumeMounts.name"));
        fields.push((&mount.mount_path, "volumeMounts.mountPath"));
        fields.push((text(mount.sub_path.as_ref()), "volumeMounts.subPath"));
    }
    for device in &step.volume_devices {
        fields.push((&device.name, "volumeDevices.name"));
        fields.push((&device.device_path, "volumeDevices.devicePath"));
    }
    fields
}

/// Checks the sidecars of a Task. v1beta1 looks at their names only.
pub(super) fn sidecars(sidecars: &[Sidecar], context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for sidecar in sidecars {
        if sidecar.name == RESERVED_SIDECAR {
            let message = format!("Invalid: cannot use reserved sidecar name {RESERVED_SIDECAR} ");
            let field = if context.is_v1() {
                "sidecars.name"
            } else {
                "sidecars"
            };
            errors.add(FieldErrors::new(message, &[field]));
        }
        if !context.is_v1() {
            continue;
        }
        if text(sidecar.image.as_ref()).is_empty() {
            errors.add(FieldErrors::missing(&["sidecars.image"]));
        }
        let script = script_or_command(text(sidecar.script.as_ref()), &sidecar.command);
        errors.add(script.via_field("sidecars"));
    }
    errors
}
