//! JSON patch (RFC 6902) with the leniency of the Go library that Kubernetes uses.
//!
//! `replace` of a missing key in an existing map adds it, and `test` of a missing key against null
//! holds; Tekton and kube-rs rely on these.

use serde::Deserialize;
use serde_json::Value;

use crate::api::error::ApiError;

/// How many operations a patch may have.
const MOST_OPERATIONS: usize = 10_000;

/// One operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(super) enum Operation {
    /// Sets a key, or inserts before an index.
    Add {
        path: String,
        #[serde(default)]
        value: Value,
    },
    /// Takes out a value.
    Remove { path: String },
    /// Sets a value.
    Replace {
        path: String,
        #[serde(default)]
        value: Value,
    },
    /// Takes out a value and adds it elsewhere.
    Move { from: String, path: String },
    /// Adds a copy.
    Copy { from: String, path: String },
    /// Requires a value.
    Test {
        path: String,
        #[serde(default)]
        value: Value,
    },
}

/// Reads the operations.
pub(super) fn parse(body: &[u8]) -> Result<Vec<Operation>, ApiError> {
    let operations: Vec<Operation> = serde_json::from_slice(body)
        .map_err(|why| ApiError::bad_request(format!("error decoding patch: {why}")))?;
    if operations.len() > MOST_OPERATIONS {
        let text = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
            operations.len()
        );
        return Err(ApiError {
            message: text,
            ..ApiError::too_large(MOST_OPERATIONS)
        });
    }
    Ok(operations)
}

/// Applies all operations, or none.
pub(super) fn apply(object: &Value, operations: &[Operation]) -> Result<Value, ApiError> {
    let mut value = object.clone();
    for operation in operations {
        one(&mut value, operation).map_err(ApiError::unprocessable)?;
    }
    Ok(value)
}

fn one(value: &mut Value, operation: &Operation) -> Result<(), String> {
    match operation {
        Operation::Add { path, value: new } => add(value, path, new.clone()),
        Operation::Remove { path } => remove(value, path).map(|_| ()),
        Operation::Replace { path, value: new } => replace(value, path, new.clone()),
        Operation::Move { from, path } => {
            let taken = remove(value, from)?;
            add(value, path, taken)
        }
        Operation::Copy { from, path } => {
            let found = value
                .pointer(from)
                .cloned()
                .ok_or_else(|| missing("copy", from))?;
            add(value, path, found)
        }
        Operation::Test { path, value: wanted } => {
            let found = value.pointer(path).unwrap_or(&Value::Null);
            if found == wanted {
                Ok(())
            } else {
                Err(format!("testing value {path} failed: test failed"))
            }
        }
    }
}

fn missing(operation: &str, path: &str) -> String {
    format!("{operation} operation does not apply: doc is missing path: {path}: missing value")
}

/// The container of a path and the last key, unescaped.
fn parent<'a>(value: &'a mut Value, path: &str, operation: &str) -> Result<(&'a mut Value, String), String> {
    let (above, last) = path.rsplit_once('/').ok_or_else(|| missing(operation, path))?;
    let container = value.pointer_mut(above).ok_or_else(|| missing(operation, path))?;
    Ok((container, last.replace("~1", "/").replace("~0", "~")))
}

fn index(text: &str, length: usize) -> Option<usize> {
    text.parse::<usize>().ok().filter(|index| *index < length)
}

fn add(value: &mut Value, path: &str, new: Value) -> Result<(), String> {
    if path.is_empty() {
        *value = new;
        return Ok(());
    }
    let (container, key) = parent(value, path, "add")?;
    match container {
        Value::Object(map) => {
            map.insert(key, new);
            Ok(())
        }
        Value::Array(items) if key == "-" => {
            items.push(new);
            Ok(())
        }
        Value::Array(items) => {
            let place = index(&key, items.len() + 1).ok_or_else(|| {
                format!("add operation does not apply: unable to access invalid index: {key}")
            })?;
            items.insert(place, new);
            Ok(())
        }
        _ => Err(missing("add", path)),
    }
}

fn remove(value: &mut Value, path: &str) -> Result<Value, String> {
    let (container, key) = parent(value, path, "remove")?;
    match container {
        Value::Object(map) => map.remove(&key).ok_or_else(|| missing("remove", path)),
        Value::Array(items) => match index(&key, items.len()) {
            Some(place) => Ok(items.remove(place)),
            None => Err(format!(
                "remove operation does not apply: unable to access invalid index: {key}"
            )),
        },
        _ => Err(missing("remove", path)),
    }
}

fn replace(value: &mut Value, path: &str, new: Value) -> Result<(), String> {
    if path.is_empty() {
        *value = new;
        return Ok(());
    }
    let (container, key) = parent(value, path, "replace")?;
    match container {
        Value::Object(map) => {
            map.insert(key, new);
            Ok(())
        }
        Value::Array(items) => {
            let place = index(&key, items.len()).and_then(|place| items.get_mut(place));
            *place.ok_or_else(|| missing("replace", path))? = new;
            Ok(())
        }
        _ => Err(missing("replace", path)),
    }
}
