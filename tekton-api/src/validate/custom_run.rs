//! Checks on CustomRuns and Runs; the first violation is reported.
//!
//! Upstream counterpart: `customrun_validation.go` in `pkg/apis/pipeline/v1beta1`, `run_validation.go` in
//! `v1alpha1`.

use super::params::values;
use super::task_run::message_without_status;
use super::{Context, Validate, names, text, workspaces};
use crate::field_errors::FieldErrors;
use crate::v1::{Param, WorkspaceBinding};
use crate::v1alpha1::{Run, RunSpec};
use crate::v1beta1::{CustomRun, CustomRunSpec, CustomRunSpecStatus, EmbeddedCustomRunSpec, TaskRef};

impl Validate for CustomRun {
    fn validate(&self, _: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let spec = &self.spec;
        let names = names::object_metadata(&self.metadata);
        first([
            &|| names.clone(),
            &|| missing_spec(*spec == CustomRunSpec::default()),
            &|| {
                what(
                    spec.custom_ref.as_ref(),
                    spec.custom_spec.as_ref(),
                    "customRef",
                    "customSpec",
                )
            },
            &|| status(spec.status.as_ref(), spec.status_message.as_ref()),
            &|| lists(&spec.params, &[]),
            &|| lists(&[], &spec.workspaces),
        ])
    }
}

impl Validate for Run {
    fn validate(&self, _: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let spec = &self.spec;
        let names = names::object_metadata(&self.metadata);
        first([
            &|| names.clone(),
            &|| missing_spec(*spec == RunSpec::default()),
            &|| what(spec.ref_.as_ref(), spec.spec.as_ref(), "ref", "spec"),
            &|| status(spec.status.as_ref(), spec.status_message.as_ref()),
            &|| lists(&spec.params, &[]),
            &|| lists(&[], &spec.workspaces),
        ])
    }
}

/// The errors of the first check that has any.
fn first<const N: usize>(checks: [&dyn Fn() -> FieldErrors; N]) -> FieldErrors {
    checks
        .into_iter()
        .map(|check| check())
        .find(|errors| !errors.is_empty())
        .unwrap_or_default()
}

fn missing_spec(is_missing: bool) -> FieldErrors {
    if is_missing {
        FieldErrors::missing(&["spec"])
    } else {
        FieldErrors::none()
    }
}

fn what(
    reference: Option<&TaskRef>,
    embedded: Option<&EmbeddedCustomRunSpec>,
    reference_field: &str,
    spec_field: &str,
) -> FieldErrors {
    let (reference_field, spec_field) = (format!("spec.{reference_field}"), format!("spec.{spec_field}"));
    let (field, api_version, kind) = match (reference, embedded) {
        (Some(_), Some(_)) => return FieldErrors::multiple_one_of(&[&reference_field, &spec_field]),
        (None, None) => return FieldErrors::missing_one_of(&[&reference_field, &spec_field]),
        (Some(reference), None) => (reference_field, &reference.api_version, &reference.kind),
        (None, Some(embedded)) => (spec_field, &embedded.api_version, &embedded.kind),
    };
    if text(api_version.as_ref()).is_empty() {
        FieldErrors::missing(&[&format!("{field}.apiVersion")])
    } else if text(kind.as_ref()).is_empty() {
        FieldErrors::missing(&[&format!("{field}.kind")])
    } else {
        FieldErrors::none()
    }
}

fn status(status: Option<&CustomRunSpecStatus>, message: Option<&String>) -> FieldErrors {
    if status.is_some_and(|status| !status.as_str().is_empty()) {
        return FieldErrors::none();
    }
    message_without_status(text(message))
}

fn lists(params: &[Param], bindings: &[WorkspaceBinding]) -> FieldErrors {
    let params = values(params).via_field("spec.params");
    params.and(workspaces::bindings(bindings).via_field("spec.workspaces"))
}
