//! Checks on references to Tasks, Pipelines and StepActions.
//!
//! Upstream counterpart: `validateRef` in `container_validation.go`, `taskref_validation.go`,
//! `pipelineref_validation.go`.

use super::names::qualified_name_problems;
use super::params::values;
use super::{Context, text};
use crate::config::ApiFields;
use crate::field_errors::FieldErrors;
use crate::v1::{Param, PipelineRef, Ref, TaskRef};

const CONCISE_SYNTAX: &str =
    "feature flag enable-concise-resolver-syntax should be set to true to use concise resolver syntax";

pub(super) fn task(reference: &TaskRef, context: &Context<'_>) -> FieldErrors {
    check(
        text(reference.name.as_ref()),
        text(reference.resolver.as_ref()),
        &reference.params,
        context,
    )
}

pub(super) fn pipeline(reference: &PipelineRef, context: &Context<'_>) -> FieldErrors {
    check(
        text(reference.name.as_ref()),
        text(reference.resolver.as_ref()),
        &reference.params,
        context,
    )
}

pub(super) fn step_action(reference: &Ref, context: &Context<'_>) -> FieldErrors {
    check(
        text(reference.name.as_ref()),
        text(reference.resolver.as_ref()),
        &reference.params,
        context,
    )
}

fn check(name: &str, resolver: &str, params: &[Param], context: &Context<'_>) -> FieldErrors {
    if resolver.is_empty() && params.is_empty() {
        return plain_name(name, context);
    }
    let mut errors = FieldErrors::none();
    if !params.is_empty() {
        errors.add(
            context
                .requires("resolver params", ApiFields::Beta)
                .via_field("params"),
        );
        if !name.is_empty() {
            errors.add(FieldErrors::multiple_one_of(&["name", "params"]));
        }
        if resolver.is_empty() {
            errors.add(FieldErrors::missing(&["resolver"]));
        }
        errors.add(values(params));
    }
    if !resolver.is_empty() {
        errors.add(
            context
                .requires("resolver", ApiFields::Beta)
                .via_field("resolver"),
        );
        if !name.is_empty() {
            if !is_like_url(name) {
                errors.add(FieldErrors::invalid_value("invalid URI for request", "name"));
            } else if !context.config.features.enable_concise_resolver_syntax {
                errors.add(FieldErrors::new(CONCISE_SYNTAX, &[""]));
            }
        }
    }
    errors
}

fn plain_name(name: &str, context: &Context<'_>) -> FieldErrors {
    if name.is_empty() {
        return FieldErrors::missing(&["name"]);
    }
    if is_like_url(name) {
        let mut errors = FieldErrors::missing(&["resolver"]);
        if !context.config.features.enable_concise_resolver_syntax {
            errors.add(FieldErrors::new(CONCISE_SYNTAX, &[""]));
        }
        return errors;
    }
    let problems = qualified_name_problems(name);
    if problems.is_empty() {
        return FieldErrors::none();
    }
    FieldErrors::invalid_value(problems.join(","), "name")
}

/// Whether a scheme such as `git:/` stands anywhere in the name.
fn is_like_url(name: &str) -> bool {
    name.match_indices(":/").any(|(index, _)| {
        let before = name.get(..index).unwrap_or_default();
        before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    })
}
