//! Golden cases: comparing what this crate computes with what is expected.
//!
//! Each kind of case has a function `check`, which gives a readable difference as its error. [`run`] walks
//! a folder of cases through one of them.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub mod convert;
pub mod dag;
pub mod diff;
pub mod matrix;
pub mod names;
pub mod results;
pub mod validate;
pub mod when;

/// What became of a folder of cases.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of cases that were as expected.
    pub passed: usize,
    /// The others by name, with the difference.
    pub failed: Vec<(String, String)>,
}

/// Runs all cases of a folder, in the order of their names.
///
/// # Errors
/// If the folder or a case cannot be read.
pub fn run(folder: &Path, check: impl Fn(&Value) -> Result<(), String>) -> Result<Report, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut report = Report::default();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
        let case: Value =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        match check(&case) {
            Ok(()) => report.passed += 1,
            Err(difference) => {
                let name = path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                report.failed.push((name, difference));
            }
        }
    }
    Ok(report)
}

/// A member of the input; `null` if absent.
fn input<'a>(case: &'a Value, name: &str) -> &'a Value {
    case.pointer("/input")
        .and_then(|input| input.get(name))
        .unwrap_or(&Value::Null)
}

/// A text of the input; empty if absent.
fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    input(case, name).as_str().unwrap_or_default()
}

/// A typed member of the input; the default if absent.
fn typed<T: DeserializeOwned + Default>(case: &Value, name: &str) -> Result<T, String> {
    let value = input(case, name);
    if value.is_null() {
        return Ok(T::default());
    }
    serde_json::from_value(value.clone()).map_err(|error| format!("input.{name}: {error}"))
}

/// What is expected.
fn expected(case: &Value) -> &Value {
    case.get("expected").unwrap_or(&Value::Null)
}

/// Puts a member into an object.
fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}
