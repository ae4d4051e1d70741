//! Cases of conversion.

use serde_json::Value;

use super::{diff, expected, input, text};
use crate::convert::{ConvertError, convert};

/// Converts the object and compares. Errors in reading the object are compared by kind only.
///
/// # Errors
/// The difference.
pub fn check(case: &Value) -> Result<(), String> {
    let wanted = expected(case);
    match (
        convert(input(case, "object"), text(case, "to")),
        wanted.get("error").and_then(Value::as_str),
    ) {
        (Ok(object), None) => diff::compare(wanted.get("object").unwrap_or(&Value::Null), &object),
        (Err(ConvertError::Decode(_)), Some(error)) if error.starts_with("unable to unmarshal") => Ok(()),
        (Err(error), Some(wanted)) if error.to_string() == wanted => Ok(()),
        (Err(error), wanted) => Err(format!("expected {wanted:?}, got the error {error}")),
        (Ok(object), Some(error)) => Err(format!("expected the error {error}, got {object}")),
    }
}
