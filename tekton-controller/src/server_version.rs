//! What the version of the API server allows.

use serde_json::Value;

/// First minor version with native sidecars switched on by default.
const NATIVE_SIDECARS: u64 = 29;

/// True if init containers may be sidecars, given an answer to [`crate::plan::Ask::ServerVersion`].
pub(crate) fn has_native_sidecars(version: &Value) -> bool {
    let number = |key: &str| {
        let text = version.get(key).and_then(Value::as_str).unwrap_or_default();
        text.trim_end_matches('+').parse::<u64>().unwrap_or_default()
    };
    number("major") > 1 || (number("major") == 1 && number("minor") >= NATIVE_SIDECARS)
}
