//! Whether a list of conditions holds.

use std::collections::BTreeMap;

use super::cel::{CelError, evaluate};
use crate::v1::{WhenExpression, WhenOperator};

/// Whether all conditions hold. `evaluated` has the value of each CEL expression; one that is missing does
/// not hold.
///
/// ```
/// use tekton_api::v1::{WhenExpression, WhenOperator};
///
/// let on_main = WhenExpression {
///     input: Some("main".into()),
///     operator: Some(WhenOperator::In),
///     values: vec!["main".into()],
///     ..WhenExpression::default()
/// };
/// assert!(tekton_api::when::allows(&[on_main], &Default::default()));
/// ```
pub fn allows(conditions: &[WhenExpression], evaluated: &BTreeMap<String, bool>) -> bool {
    conditions.iter().all(|condition| {
        let cel = condition.cel.as_deref().unwrap_or_default();
        compares(condition) && (cel.is_empty() || evaluated.get(cel) == Some(&true))
    })
}

/// The same for conditions in which CEL expressions are not evaluated, and so do not hold.
pub fn allows_without_cel(conditions: &[WhenExpression]) -> bool {
    allows(conditions, &BTreeMap::new())
}

/// The value of each CEL expression among the conditions.
///
/// # Errors
/// If one of them cannot be evaluated, whatever the others say.
pub fn evaluate_all(conditions: &[WhenExpression]) -> Result<BTreeMap<String, bool>, CelError> {
    let mut evaluated = BTreeMap::new();
    for condition in conditions {
        let Some(text) = condition.cel.as_deref().filter(|text| !text.is_empty()) else {
            continue;
        };
        if !evaluated.contains_key(text) {
            evaluated.insert(text.to_owned(), evaluate(text)?);
        }
    }
    Ok(evaluated)
}

/// Whether the input is, or is not, among the values. Every operator but `in` means `notin`.
fn compares(condition: &WhenExpression) -> bool {
    let input = condition.input.as_deref().unwrap_or_default();
    let among = condition.values.iter().any(|value| value == input);
    among == (condition.operator == Some(WhenOperator::In))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(operator: &str, values: &[&str]) -> WhenExpression {
        WhenExpression {
            input: Some("a".into()),
            operator: Some(operator.into()),
            values: values.iter().map(|&value| value.into()).collect(),
            cel: None,
        }
    }

    #[test]
    fn unknown_operators_mean_notin() {
        assert!(allows_without_cel(&[condition("in", &["b", "a"])]));
        assert!(!allows_without_cel(&[condition("notin", &["a"])]));
        assert!(!allows_without_cel(&[condition("equals", &["a"])]));
        assert!(allows_without_cel(&[]));
    }

    #[cfg(feature = "cel")]
    #[test]
    fn an_error_counts_even_behind_a_false_condition() {
        let failing = WhenExpression {
            cel: Some("1 / 0 == 1".into()),
            ..WhenExpression::default()
        };
        assert!(evaluate_all(&[condition("in", &["b"]), failing]).is_err());
    }
}
