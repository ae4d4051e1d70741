//! Steps with what their template gives them, as far as the rules look at it.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/merge.go`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Context;
use crate::v1::{Step, StepTemplate, TaskSpec};

/// The steps merged with the template. Steps that refer to a StepAction stay as they are.
pub(super) fn steps<'a>(spec: &'a TaskSpec, context: &Context<'_>) -> Cow<'a, [Step]> {
    let Some(template) = &spec.step_template else {
        return Cow::Borrowed(&spec.steps);
    };
    let merged = spec.steps.iter().map(|step| match &step.ref_ {
        Some(_) => step.clone(),
        None => merged(step, template, context),
    });
    Cow::Owned(merged.collect())
}

fn merged(step: &Step, template: &StepTemplate, context: &Context<'_>) -> Step {
    let mut merged = step.clone();
    let own_or = |own: &Option<String>, other: &Option<String>| {
        let own = own.clone().filter(|text| !text.is_empty());
        own.or_else(|| other.clone())
    };
    merged.image = own_or(&step.image, &template.image);
    merged.working_dir = own_or(&step.working_dir, &template.working_dir);
    merged.image_pull_policy = own_or(&step.image_pull_policy, &template.image_pull_policy);
    if step.command.is_empty() {
        merged.command.clone_from(&template.command);
    }
    if step.args.is_empty() {
        merged.args.clone_from(&template.args);
    }
    if step.env_from.is_empty() {
        merged.env_from.clone_from(&template.env_from);
    }
    merged.env = by_key(&step.env, &template.env, |env| &env.name);
    merged.volume_mounts = by_key(&step.volume_mounts, &template.volume_mounts, |mount| {
        &mount.mount_path
    });
    merged.volume_devices = by_key(&step.volume_devices, &template.volume_devices, |device| {
        &device.device_path
    });
    if !context.is_v1() {
        // v1beta1 forgets these when it merges.
        merged.results.clear();
        merged.params.clear();
    }
    merged
}

/// The step's items, then those of the template whose keys the step does not have.
fn by_key<T: Clone>(own: &[T], template: &[T], key: impl Fn(&T) -> &String) -> Vec<T> {
    let keys: BTreeSet<&String> = own.iter().map(&key).collect();
    let others = template.iter().filter(|item| !keys.contains(key(item)));
    own.iter().chain(others).cloned().collect()
}
