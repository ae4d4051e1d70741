//! Tasks, and the deprecated fields of their steps.
//!
//! Deprecated fields are kept in one annotation of the outermost object, by the name of the Task or pipeline
//! task they belong to. Upstream counterpart: `task_conversion.go`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use super::annotations::{keep, peek, remove, set, take};
use super::steps::{sidecar_down, sidecar_up, step_down, step_up, template_down, template_up};
use super::{Convert, ConvertError, go_json, name_of};
use crate::labels::{V1BETA1_RESOURCES, V1BETA1_TASK_DEPRECATIONS};
use crate::v1::{ParamSpec, ParamType};
use crate::{v1, v1beta1};

impl Convert<v1beta1::Task> for v1::Task {
    fn into_hub(self) -> Result<v1beta1::Task, ConvertError> {
        let mut metadata = self.metadata;
        let resources = take::<v1beta1::TaskResources>(&mut metadata, V1BETA1_RESOURCES)?;
        let name = name_of(&metadata);
        let mut spec = spec_down(self.spec, &mut metadata, &name)?;
        spec.resources = resources.filter(has_resources);
        Ok(v1beta1::Task { metadata, spec })
    }

    fn from_hub(hub: v1beta1::Task) -> Result<Self, ConvertError> {
        let mut metadata = hub.metadata;
        if let Some(resources) = &hub.spec.resources {
            keep(&mut metadata, V1BETA1_RESOURCES, resources)?;
        }
        let name = name_of(&metadata);
        let spec = spec_up(hub.spec, &mut metadata, &name)?;
        Ok(Self { metadata, spec })
    }
}

/// Whether there is anything to restore.
pub(super) fn has_resources(resources: &v1beta1::TaskResources) -> bool {
    !resources.inputs.is_empty() || !resources.outputs.is_empty()
}

/// A Task of v1. `task` names it among the deprecated fields that are kept.
pub(super) fn spec_up(
    spec: v1beta1::TaskSpec,
    meta: &mut ObjectMeta,
    task: &str,
) -> Result<v1::TaskSpec, ConvertError> {
    keep_deprecated(&spec, meta, task)?;
    Ok(v1::TaskSpec {
        params: spec.params.into_iter().map(typed).collect(),
        display_name: spec.display_name,
        description: spec.description,
        steps: spec.steps.into_iter().map(step_up).collect(),
        volumes: spec.volumes,
        step_template: spec.step_template.map(template_up),
        sidecars: spec.sidecars.into_iter().map(sidecar_up).collect(),
        workspaces: spec.workspaces,
        results: spec.results,
    })
}

/// A Task of v1beta1 with the deprecated fields that were kept for `task`.
pub(super) fn spec_down(
    spec: v1::TaskSpec,
    meta: &mut ObjectMeta,
    task: &str,
) -> Result<v1beta1::TaskSpec, ConvertError> {
    let mut spec = v1beta1::TaskSpec {
        resources: None,
        params: spec.params.into_iter().map(typed).collect(),
        display_name: spec.display_name,
        description: spec.description,
        steps: spec.steps.into_iter().map(step_down).collect(),
        volumes: spec.volumes,
        step_template: spec.step_template.map(template_down),
        sidecars: spec.sidecars.into_iter().map(sidecar_down).collect(),
        workspaces: spec.workspaces,
        results: spec.results,
    };
    restore_deprecated(&mut spec, meta, task)?;
    Ok(spec)
}

/// A parameter without a type is a text.
pub(super) fn typed(mut param: ParamSpec) -> ParamSpec {
    param.type_.get_or_insert(ParamType::String);
    param
}

/// The deprecated fields of one Task, in steps and a template that have no others.
#[derive(Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Deprecated {
    /// As many steps as the Task has.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    deprecated_steps: Vec<v1beta1::Step>,
    /// The template, if the Task has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated_step_template: Option<v1beta1::StepTemplate>,
}

/// Deprecated fields by the name of their Task.
type ByTask = BTreeMap<String, Deprecated>;

fn keep_deprecated(spec: &v1beta1::TaskSpec, meta: &mut ObjectMeta, task: &str) -> Result<(), ConvertError> {
    let mut by_task: ByTask = peek(meta, V1BETA1_TASK_DEPRECATIONS, "serializing")?.unwrap_or_default();
    let steps: Vec<_> = spec.steps.iter().map(deprecated_of_step).collect();
    let template = spec.step_template.as_ref().map(deprecated_of_template);
    let of_steps = steps.iter().any(|step| *step != v1beta1::Step::default());
    // Upstream forgets to look at the template's liveness probe.
    let of_template = template.as_ref().is_some_and(|template| {
        let others = v1beta1::StepTemplate {
            liveness_probe: None,
            ..template.clone()
        };
        others != v1beta1::StepTemplate::default()
    });
    if of_steps || of_template {
        let deprecated = Deprecated {
            deprecated_steps: steps,
            deprecated_step_template: template,
        };
        by_task.insert(task.to_owned(), deprecated);
        write(meta, &by_task)?;
    }
    Ok(())
}

fn restore_deprecated(
    spec: &mut v1beta1::TaskSpec,
    meta: &mut ObjectMeta,
    task: &str,
) -> Result<(), ConvertError> {
    let Some(mut by_task) = peek::<ByTask>(meta, V1BETA1_TASK_DEPRECATIONS, "deserializing")? else {
        return Ok(());
    };
    let Some(deprecated) = by_task.remove(task) else {
        return Ok(());
    };
    if spec.steps.len() != deprecated.deprecated_steps.len() {
        return Err(ConvertError::StepCount);
    }
    for (step, kept) in spec.steps.iter_mut().zip(deprecated.deprecated_steps) {
        restore_step(step, kept);
    }
    if let Some(kept) = deprecated.deprecated_step_template {
        restore_template(spec.step_template.get_or_insert_default(), kept);
    }
    if by_task.is_empty() {
        remove(meta, V1BETA1_TASK_DEPRECATIONS);
        return Ok(());
    }
    write(meta, &by_task)
}

fn write(meta: &mut ObjectMeta, by_task: &ByTask) -> Result<(), ConvertError> {
    let value: Value = serde_json::to_value(by_task).map_err(|error| ConvertError::Annotation {
        action: "serializing",
        key: V1BETA1_TASK_DEPRECATIONS,
        problem: error.to_string(),
    })?;
    set(meta, V1BETA1_TASK_DEPRECATIONS, go_json::ordered(&value));
    Ok(())
}

/// Declares how the deprecated fields of a struct are picked and put back.
macro_rules! deprecated_fields {
    ($pick:ident, $restore:ident, $type:ty: $($field:ident),+) => {
        fn $pick(from: &$type) -> $type {
            let mut picked = <$type>::default();
            $( picked.$field.clone_from(&from.$field); )+
            picked
        }

        fn $restore(to: &mut $type, kept: $type) {
            $( to.$field = kept.$field; )+
        }
    };
}

deprecated_fields!(
    deprecated_of_step, restore_step, v1beta1::Step:
    ports, liveness_probe, readiness_probe, startup_probe, lifecycle, termination_message_path,
    termination_message_policy, stdin, stdin_once, tty
);
deprecated_fields!(
    deprecated_of_template, restore_template, v1beta1::StepTemplate:
    name, ports, liveness_probe, readiness_probe, startup_probe, lifecycle, termination_message_path,
    termination_message_policy, stdin, stdin_once, tty
);
