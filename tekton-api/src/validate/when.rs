//! Checks on when expressions.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/when_validation.go`.

use super::variables::{Declared, array_variable, string_variable};
use super::{Context, text};
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::v1::{WhenExpression, WhenOperator};

const CEL_FLAG: &str = "enable-cel-in-whenexpression";

/// Checks a list of expressions.
pub(super) fn expressions(expressions: &[WhenExpression], context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, expression) in expressions.iter().enumerate() {
        errors.add(self::expression(expression, context).via_field_index("when", index));
    }
    errors
}

fn expression(expression: &WhenExpression, context: &Context<'_>) -> FieldErrors {
    let cel = text(expression.cel.as_ref());
    if !cel.is_empty() {
        return self::cel(cel, expression, context);
    }
    let input = text(expression.input.as_ref());
    let operator = operator(expression);
    if input.is_empty() && operator.is_empty() && expression.values.is_empty() {
        return FieldErrors::missing(&[""]);
    }
    if !matches!(operator, "in" | "notin") {
        let message = format!(
            "operator {} is not recognized. valid operators: in,notin",
            quote(operator)
        );
        return FieldErrors::invalid_value(message, "");
    }
    if expression.values.is_empty() {
        return FieldErrors::invalid_value("expecting non-empty values field", "");
    }
    FieldErrors::none()
}

fn operator(expression: &WhenExpression) -> &str {
    expression.operator.as_ref().map_or("", WhenOperator::as_str)
}

fn cel(cel: &str, expression: &WhenExpression, context: &Context<'_>) -> FieldErrors {
    if !context.config.features.enable_cel_in_when_expression {
        let message =
            format!("feature flag {CEL_FLAG} should be set to true to use CEL: {cel} in WhenExpression");
        return FieldErrors::new(message, &[""]);
    }
    let input = text(expression.input.as_ref());
    let operator = operator(expression);
    if !input.is_empty() || !operator.is_empty() || !expression.values.is_empty() {
        let values = expression.values.join(" ");
        return FieldErrors::new(
            format!(
                "cel and input+operator+values cannot be set in one WhenExpression: \
                 &{{{input} {operator} [{values}] {cel}}}"
            ),
            &[],
        );
    }
    match crate::when::compile(cel) {
        Ok(()) => FieldErrors::none(),
        // Upstream forgets to fill in its message and takes what belongs there for paths.
        Err(error) => FieldErrors::new(
            "invalid cel expression: %s with err: %s",
            &[cel, &error.to_string()],
        ),
    }
}

/// The expressions use only declared parameters. Arrays may stand alone among the values.
pub(super) fn params(expressions: &[WhenExpression], declared: &Declared) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, expression) in expressions.iter().enumerate() {
        let input = string_variable(text(expression.input.as_ref()), "params", declared);
        errors.add(input.via_field("input").via_field_index("when", index));
        for value in &expression.values {
            let error = if declared.arrays.contains(array_reference(value)) {
                array_variable(value, "params", declared)
            } else {
                string_variable(value, "params", declared)
            };
            errors.add(error.via_field("values").via_field_index("when", index));
        }
    }
    errors
}

/// `$(params.name[*])` → `name`.
fn array_reference(text: &str) -> &str {
    let text = text.strip_prefix("$(params.").unwrap_or(text);
    text.strip_suffix("[*])").unwrap_or(text)
}
