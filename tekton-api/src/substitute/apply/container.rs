//! Substitution in what steps, the step template and sidecars share with Kubernetes containers.
//!
//! Upstream counterpart: `pkg/container`.

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar, VolumeMount};

use crate::substitute::Replacements;
use crate::v1::{OnError, Sidecar, Step, StepTemplate, WhenExpression};

macro_rules! container_fields {
    ($container:expr, $known:expr) => {{
        $known.apply_option(&mut $container.image);
        $known.apply_option(&mut $container.image_pull_policy);
        $known.apply_strings(&mut $container.args);
        $known.apply_strings(&mut $container.command);
        $known.apply_option(&mut $container.working_dir);
        env(&mut $container.env, $known);
        env_from(&mut $container.env_from, $known);
        volume_mounts(&mut $container.volume_mounts, $known);
    }};
}

/// Substitutes in a step; its params are left to the caller.
pub fn step(step: &mut Step, known: &Replacements) {
    known.apply_string(&mut step.name);
    known.apply_option(&mut step.script);
    if let Some(on_error) = &mut step.on_error {
        *on_error = OnError::from(known.string(on_error.as_str()));
    }
    for output in [&mut step.stdout_config, &mut step.stderr_config]
        .into_iter()
        .flatten()
    {
        known.apply_option(&mut output.path);
    }
    for expression in &mut step.when {
        when_expression(expression, known);
    }
    container_fields!(step, known);
}

/// Substitutes in the step template.
pub fn step_template(template: &mut StepTemplate, known: &Replacements) {
    container_fields!(template, known);
}

/// Substitutes in a sidecar.
pub fn sidecar(sidecar: &mut Sidecar, known: &Replacements) {
    known.apply_string(&mut sidecar.name);
    known.apply_option(&mut sidecar.script);
    container_fields!(sidecar, known);
}

/// Substitutes in a condition. An array among the values expands; as input it becomes its JSON.
pub fn when_expression(expression: &mut WhenExpression, known: &Replacements) {
    if let Some(input) = &mut expression.input {
        *input = match whole_array(input, known) {
            Some(items) => serde_json::to_string(&items).unwrap_or_else(|_| input.clone()),
            None => known.string(input),
        };
    }
    known.apply_option(&mut expression.cel);
    known.apply_strings(&mut expression.values);
}

fn whole_array(text: &str, known: &Replacements) -> Option<Vec<String>> {
    let name = text.strip_prefix("$(")?.strip_suffix("[*])")?;
    known.arrays.get(name).cloned()
}

fn env(list: &mut [EnvVar], known: &Replacements) {
    for variable in list {
        known.apply_option(&mut variable.value);
        let Some(source) = &mut variable.value_from else {
            continue;
        };
        if let Some(secret) = &mut source.secret_key_ref {
            known.apply_string(&mut secret.name);
            known.apply_string(&mut secret.key);
        }
        if let Some(config_map) = &mut source.config_map_key_ref {
            known.apply_string(&mut config_map.name);
            known.apply_string(&mut config_map.key);
        }
    }
}

fn env_from(list: &mut [EnvFromSource], known: &Replacements) {
    for source in list {
        known.apply_option(&mut source.prefix);
        if let Some(config_map) = &mut source.config_map_ref {
            known.apply_string(&mut config_map.name);
        }
        if let Some(secret) = &mut source.secret_ref {
            known.apply_string(&mut secret.name);
        }
    }
}

fn volume_mounts(list: &mut [VolumeMount], known: &Replacements) {
    for mount in list {
        known.apply_string(&mut mount.name);
        known.apply_string(&mut mount.mount_path);
        known.apply_option(&mut mount.sub_path);
    }
}
