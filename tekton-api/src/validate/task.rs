//! Checks on Tasks.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/task_validation.go`.

use std::collections::BTreeSet;

use super::{Context, Validate, merge, names, params, results, step, step_variables, workspaces};
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::v1::{ParamSpec, Step, Task, TaskSpec};

impl Validate for Task {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let steps = merge::steps(&self.spec, context);
        let errors = names::object_metadata(&self.metadata);
        let spec = spec(&self.spec, context)
            // Parameters are not propagated into a Task of its own, so all must be declared.
            .and(step_variables::declared_params(
                &steps,
                &self.spec.params,
                context,
            ));
        errors.and(spec.via_field("spec"))
    }
}

impl Validate for TaskSpec {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        spec(self, context)
    }
}

/// Checks what a Task does.
pub(super) fn spec(spec: &TaskSpec, context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if spec.steps.is_empty() {
        errors.add(FieldErrors::missing(&["steps"]));
    }
    errors.add(volumes(spec).via_field("volumes"));
    errors.add(workspaces::declared(spec).via_field("workspaces"));
    errors.add(workspaces::usages(spec, context));
    let steps = merge::steps(spec, context);
    errors.add(step::list(&steps, context).via_field("steps"));
    errors.add(step::sidecars(&spec.sidecars, context));
    errors.add(params::types(&spec.params).via_field("params"));
    errors.add(parameter_variables(&steps, &spec.params, context));
    errors.add(step_variables::context_variables(&steps, context));
    errors.add(step_variables::result_variables(&steps, &spec.results, context));
    errors.and(results::task_results(&spec.results).via_field("results"))
}

/// Checks the declaration of parameters, and the use of arrays among them.
pub(super) fn parameter_variables(
    steps: &[Step],
    params: &[ParamSpec],
    context: &Context<'_>,
) -> FieldErrors {
    params::no_duplicates(params)
        .and(params::enums(params, context).via_field("params"))
        .and(params::name_format(params))
        .and(step_variables::arrays(steps, params))
}

fn volumes(spec: &TaskSpec) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut names = BTreeSet::new();
    for (index, volume) in spec.volumes.iter().enumerate() {
        if !names.insert(&volume.name) {
            let message = format!("multiple volumes with same name {}", quote(&volume.name));
            errors.add(FieldErrors::new(message, &["name"]).via_index(index));
        }
    }
    errors
}
