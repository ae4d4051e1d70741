//! Errors about the fields of an object, collected rather than stopped at the first.
//!
//! Each error names the paths it concerns; printed, equal ones are merged and all are sorted, so that the
//! order in which checks are made does not show. Upstream counterpart: `knative.dev/pkg/apis`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Most errors kept of one object; further ones are dropped.
const MOST: usize = 5_000;
/// Longest path that is still prefixed.
const LONGEST_PATH: usize = 1_024;

/// One error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldError {
    /// What is wrong.
    pub message: String,
    /// Explanation on a line of its own, often empty.
    pub details: String,
    /// The fields concerned, such as `spec.steps[0].name`.
    pub paths: Vec<String>,
}

/// All errors of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<FieldError>);

impl std::error::Error for FieldErrors {}

impl FieldErrors {
    /// No error.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// A single error.
    pub fn new(message: impl Into<String>, paths: &[&str]) -> Self {
        Self::detailed(message, "", paths)
    }

    /// A single error with an explanation.
    pub fn detailed(message: impl Into<String>, details: impl Into<String>, paths: &[&str]) -> Self {
        Self(vec![FieldError {
            message: message.into(),
            details: details.into(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }])
    }

    /// Fields are missing.
    pub fn missing(paths: &[&str]) -> Self {
        Self::new("missing field(s)", paths)
    }

    /// Fields must not be set.
    pub fn disallowed(paths: &[&str]) -> Self {
        Self::new("must not set the field(s)", paths)
    }

    /// A value is not allowed.
    pub fn invalid_value(value: impl fmt::Display, path: &str) -> Self {
        Self::new(format!("invalid value: {value}"), &[path])
    }

    /// A value is not allowed, with an explanation.
    pub fn invalid_value_because(value: impl fmt::Display, path: &str, details: &str) -> Self {
        Self::detailed(format!("invalid value: {value}"), details, &[path])
    }

    /// One of the fields must be set.
    pub fn missing_one_of(paths: &[&str]) -> Self {
        Self::new("expected exactly one, got neither", paths)
    }

    /// Only one of the fields may be set.
    pub fn multiple_one_of(paths: &[&str]) -> Self {
        Self::new("expected exactly one, got both", paths)
    }

    /// Whether there is no error.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors as they were found.
    pub fn iter(&self) -> impl Iterator<Item = &FieldError> {
        self.0.iter()
    }

    /// `Ok` if there is no error.
    ///
    /// # Errors
    /// `self`, if there is one.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// Adds errors.
    pub fn add(&mut self, other: Self) {
        let room = MOST.saturating_sub(self.0.len());
        self.0.extend(other.0.into_iter().take(room));
    }

    /// These errors and others.
    pub fn and(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    /// The errors as seen from the struct that has this field.
    pub fn via_field(mut self, field: &str) -> Self {
        for error in &mut self.0 {
            for path in &mut error.paths {
                if path.len() <= LONGEST_PATH {
                    *path = flatten(&[field, path]);
                }
            }
        }
        self
    }

    /// The errors as seen from the list in which this is an item.
    pub fn via_index(self, index: usize) -> Self {
        if self.is_empty() {
            return self;
        }
        self.via_field(&format!("[{index}]"))
    }

    /// The errors as seen from the map, or list of named items, in which this is an entry.
    pub fn via_key(self, key: &str) -> Self {
        if self.is_empty() {
            return self;
        }
        self.via_field(&format!("[{key}]"))
    }

    /// The errors as seen from the struct that has the list.
    pub fn via_field_index(self, field: &str, index: usize) -> Self {
        self.via_index(index).via_field(field)
    }

    /// The errors as seen from the struct that has the map.
    pub fn via_field_key(self, field: &str, key: &str) -> Self {
        self.via_key(key).via_field(field)
    }

    /// Errors with the same text merged, and everything sorted.
    pub fn merged(&self) -> Vec<FieldError> {
        let mut by_text: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for error in &self.0 {
            by_text
                .entry((&error.message, &error.details))
                .or_default()
                .extend(error.paths.iter().map(String::as_str));
        }
        by_text
            .into_iter()
            .map(|((message, details), paths)| FieldError {
                message: message.to_owned(),
                details: details.to_owned(),
                paths: paths.into_iter().map(str::to_owned).collect(),
            })
            .collect()
    }
}

impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.merged().iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.paths.join(", "))?;
        if !self.details.is_empty() {
            write!(f, "\n{}", self.details)?;
        }
        Ok(())
    }
}

/// Joins the parts of a path with dots; an index follows what it belongs to, an empty part vanishes.
fn flatten(parts: &[&str]) -> String {
    let mut path = String::new();
    for part in parts.iter().flat_map(|part| part.split('.')) {
        if part.is_empty() {
            continue;
        }
        let is_index = part.starts_with('[') && part.ends_with(']');
        if !path.is_empty() && !is_index {
            path.push('.');
        }
        path.push_str(part);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join() {
        let error = FieldErrors::missing(&["name", ""]);
        let error = error
            .via_index(2)
            .via_field("")
            .via_field_key("steps", "a")
            .via_field("spec");
        assert_eq!(
            error.to_string(),
            "missing field(s): spec.steps[a][2], spec.steps[a][2].name"
        );
    }

    #[test]
    fn equal_texts_merge() {
        let errors = FieldErrors::invalid_value("x", "b")
            .and(FieldErrors::new("a", &[]))
            .and(FieldErrors::invalid_value("x", "a"))
            .and(FieldErrors::invalid_value_because("x", "a", "why"));
        assert_eq!(
            errors.to_string(),
            "a: \ninvalid value: x: a, b\ninvalid value: x: a\nwhy"
        );
    }
}
