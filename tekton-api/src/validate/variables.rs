//! Checks on the variables in one text.
//!
//! Upstream counterpart: the `Validate…` functions of `pkg/substitution`.

use std::collections::BTreeSet;

use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::substitute::scan;

/// Names of variables.
pub(crate) type Names = BTreeSet<String>;

/// Collects names.
pub(crate) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
    names.into_iter().map(str::to_owned).collect()
}

fn problem(message: String) -> FieldErrors {
    // The empty path stands for the text itself.
    FieldErrors::new(message, &[""])
}

/// Refuses variables below the prefix that are not known.
pub(crate) fn no_unknown(text: &str, prefix: &str, known: &Names) -> FieldErrors {
    unknown(text, prefix, known, false)
}

/// The same with the variable's name in the message.
pub(crate) fn no_unknown_with_detail(text: &str, prefix: &str, known: &Names) -> FieldErrors {
    unknown(text, prefix, known, true)
}

fn unknown(text: &str, prefix: &str, known: &Names, with_detail: bool) -> FieldErrors {
    let found = scan::variables(text, prefix);
    if !found.error.is_empty() {
        return problem(found.error);
    }
    for name in &found.names {
        let name = scan::trim_array_index(name);
        if !known.contains(&name) {
            return problem(if with_detail {
                format!("non-existent variable `{name}` in {}", quote(text))
            } else {
                format!("non-existent variable in {}", quote(text))
            });
        }
    }
    FieldErrors::none()
}

fn without_star(name: &str) -> &str {
    name.strip_suffix("[*]").unwrap_or(name)
}

/// Refuses the prohibited variables, but for references to one of their items.
pub(crate) fn no_prohibited(text: &str, prefix: &str, prohibited: &Names) -> FieldErrors {
    let found = scan::variables(text, prefix);
    if !found.error.is_empty() {
        return problem(found.error);
    }
    if found
        .names
        .iter()
        .any(|name| prohibited.contains(without_star(name)))
    {
        return problem(format!("variable type invalid in {}", quote(text)));
    }
    FieldErrors::none()
}

/// Refuses the prohibited variables as a whole; items and keys of them are fine.
pub(crate) fn no_entire_prohibited(text: &str, prefix: &str, prohibited: &Names) -> FieldErrors {
    if prohibited.is_empty() {
        return FieldErrors::none();
    }
    let found = scan::entire_variables(text, prefix);
    if found.iter().any(|name| prohibited.contains(without_star(name))) {
        return problem(format!("variable type invalid in {}", quote(text)));
    }
    FieldErrors::none()
}

/// Refuses the variables unless the text is nothing else.
pub(crate) fn isolated(text: &str, prefix: &str, vars: &Names) -> FieldErrors {
    let found = scan::variables(text, prefix);
    if !found.error.is_empty() {
        return problem(found.error);
    }
    if !found.present {
        return FieldErrors::none();
    }
    let first = scan::variable_expressions(text, prefix)
        .into_iter()
        .next()
        .unwrap_or_default();
    if first.len() != text.len() && found.names.iter().any(|name| vars.contains(without_star(name))) {
        return problem(format!("variable is not properly isolated in {}", quote(text)));
    }
    FieldErrors::none()
}

/// Which names are known, and which of them are arrays or objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    /// All names.
    pub(crate) all: Names,
    /// Names of arrays.
    pub(crate) arrays: Names,
    /// Names of objects with the patterns for their keys and the keys.
    pub(crate) objects: Vec<(String, String, Names)>,
}

/// The pattern for keys of an object.
pub(crate) fn key_prefix(prefix: &str, object: &str) -> String {
    format!("{prefix}\\.{object}")
}

/// Checks a text in which only strings and keys of objects may stand.
pub(crate) fn string_variable(text: &str, prefix: &str, declared: &Declared) -> FieldErrors {
    if !text.contains("$(") {
        return FieldErrors::none();
    }
    no_unknown(text, prefix, &declared.all)
        .and(object_variable(text, prefix, declared))
        .and(no_prohibited(text, prefix, &declared.arrays))
}

/// Checks a text in which arrays may stand alone.
pub(crate) fn array_variable(text: &str, prefix: &str, declared: &Declared) -> FieldErrors {
    if !text.contains("$(") {
        return FieldErrors::none();
    }
    no_unknown(text, prefix, &declared.all)
        .and(object_variable(text, prefix, declared))
        .and(isolated(text, prefix, &declared.arrays))
}

fn object_variable(text: &str, prefix: &str, declared: &Declared) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut objects = Names::new();
    for (object, key_prefix, keys) in &declared.objects {
        objects.insert(object.clone());
        errors.add(no_unknown(text, key_prefix, keys));
    }
    errors.and(no_entire_prohibited(text, prefix, &objects))
}

/// If the text is a reference to a whole array or object and nothing else, whether that is known.
pub(crate) fn whole_reference(name: &str, text: &str, prefix: &str, known: &Names) -> Option<FieldErrors> {
    scan::is_isolated_whole_reference(text, prefix)
        .then(|| no_unknown(text, prefix, known).via_field_key(prefix, name))
}
