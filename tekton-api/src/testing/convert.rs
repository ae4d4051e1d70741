//! Cases of conversion.

use serde_json::Value;

use super::{diff, expected, input, text};
use crate::config::Config;
use crate::convert::{ConvertError, convert, convert_with_defaults};

/// Converts the object, without and with defaults, and compares. Errors in reading the object are compared by
/// kind only.
///
/// # Errors
/// The difference.
pub fn check(case: &Value) -> Result<(), String> {
    let wanted = expected(case);
    let (object, to) = (input(case, "object"), text(case, "to"));
    match (convert(object, to), wanted.get("error").and_then(Value::as_str)) {
        (Ok(converted), None) => {
            let plain = wanted.get("object").unwrap_or(&Value::Null);
            diff::compare(plain, &converted)?;
            let defaulted = convert_with_defaults(object, to, &Config::default())
                .map_err(|error| format!("defaults: {error}"))?;
            let complete = wanted.get("defaulted").unwrap_or(plain);
            diff::compare(complete, &defaulted).map_err(|difference| format!("with defaults:\n{difference}"))
        }
        (Err(ConvertError::Decode(_)), Some(error)) if error.starts_with("unable to unmarshal") => Ok(()),
        (Err(error), Some(wanted)) if error.to_string() == wanted => Ok(()),
        (Err(error), wanted) => Err(format!("expected {wanted:?}, got the error {error}")),
        (Ok(object), Some(error)) => Err(format!("expected the error {error}, got {object}")),
    }
}
