//! When expressions of a step: whether it runs at all.
//!
//! Upstream counterparts: `allowExec` in `pkg/entrypoint/entrypointer.go`, `when_types.go`.

use serde::Deserialize;

use crate::error::StepError;

#[cfg(feature = "cel")]
mod cel;

/// One condition.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct StepWhen {
    pub(crate) input: String,
    pub(crate) operator: String,
    pub(crate) values: Vec<String>,
    pub(crate) cel: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wire {
    input: Option<String>,
    operator: Option<String>,
    values: Option<Vec<Option<String>>>,
    cel: Option<String>,
}

/// Reads the value of the flag.
pub(crate) fn parse(text: &str) -> Result<Vec<StepWhen>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let value = tekton_pod::contract::json::parse(text)?;
    let wire: Option<Vec<Option<Wire>>> = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let expressions = wire
        .unwrap_or_default()
        .into_iter()
        .map(Option::unwrap_or_default);
    Ok(expressions
        .map(|wire| StepWhen {
            input: wire.input.unwrap_or_default(),
            operator: wire.operator.unwrap_or_default(),
            values: wire
                .values
                .unwrap_or_default()
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
            cel: wire.cel.unwrap_or_default(),
        })
        .collect())
}

/// True if all conditions hold. CEL comes first, in order; the first that is false ends it.
pub(crate) fn allows(expressions: &[StepWhen]) -> Result<bool, StepError> {
    for expression in expressions.iter().filter(|expression| !expression.cel.is_empty()) {
        if !evaluate(&expression.cel)? {
            return Ok(false);
        }
    }
    Ok(expressions.iter().all(StepWhen::holds))
}

impl StepWhen {
    /// Every operator but `in` means `notin`; so does none, which a mere CEL expression has.
    fn holds(&self) -> bool {
        self.values.contains(&self.input) == (self.operator == "in")
    }
}

#[cfg(feature = "cel")]
fn evaluate(expression: &str) -> Result<bool, StepError> {
    cel::evaluate(expression).map_err(StepError::When)
}

#[cfg(not(feature = "cel"))]
fn evaluate(expression: &str) -> Result<bool, StepError> {
    Err(StepError::When(format!(
        "the CEL expression {expression} cannot be evaluated: this build has no CEL"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_conditions_must_hold() {
        for (json, runs) in [
            ("", true),
            ("null", true),
            ("[]", true),
            (r#"[{"input":"a","operator":"in","values":["a"]}]"#, true),
            (
                r#"[{"input":"a","operator":"in","values":["a"]},{"input":"a","operator":"notin","values":["a"]}]"#,
                false,
            ),
            (r#"[{"input":"a","operator":"like","values":["b"]}]"#, true),
            (r#"[{"input":"a","operator":"in"}]"#, false),
        ] {
            assert_eq!(allows(&parse(json).unwrap()).unwrap(), runs, "{json}");
        }
        assert!(parse("a in b").is_err());
        assert!(parse("[1]").is_err());
    }
}
