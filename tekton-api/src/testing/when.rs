//! Cases of conditions.

use serde_json::{Value, json};

use super::results::replacements;
use super::{diff, expected, input, typed};
use crate::substitute::apply::container::when_expression;
use crate::v1::WhenExpression;
use crate::when::{self, CelError};

/// Replaces variables, evaluates the conditions and compares.
///
/// # Errors
/// The difference.
pub fn check(case: &Value) -> Result<(), String> {
    let mut conditions: Vec<WhenExpression> = typed(case, "when")?;
    let mut actual = json!({});
    if !input(case, "replacements").is_null() {
        let known = replacements(input(case, "replacements"))?;
        for condition in &mut conditions {
            when_expression(condition, &known);
        }
        actual = json!({"replaced": conditions});
    }
    let mut expected = expected(case).clone();
    let members = actual.as_object_mut().ok_or("no object")?;
    match when::evaluate_all(&conditions) {
        Ok(evaluated) => members.insert("allowed".into(), when::allows(&conditions, &evaluated).into()),
        Err(error) => {
            // Only the text about values of other types is Tekton's own.
            if !matches!(error, CelError::NotBoolean(_))
                && let Some(text) = expected.get_mut("error").filter(|text| text.is_string())
                && !text
                    .as_str()
                    .is_some_and(|text| text.starts_with("The CEL expression"))
            {
                *text = error.to_string().into();
            }
            members.insert("error".into(), error.to_string().into())
        }
    };
    diff::compare(&expected, &actual)
}
