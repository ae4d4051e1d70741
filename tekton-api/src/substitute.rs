//! Variable substitution: one engine for every place in which `$(…)` may stand.
//!
//! [`Replacements`] maps variable names to values and replaces in one pass, so that a value which looks
//! like a variable is never expanded again. [`scan`] finds variables without replacing them. Which fields
//! of which type are subject to substitution is decided in [`apply`].
//! Upstream counterpart: `pkg/substitution`, `docs/variables.md`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::v1::ParamValue;

pub mod apply;
pub mod scan;

/// A text that is one reference to a variable and nothing else.
static EXACT_REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\$\([_a-zA-Z0-9.-]+(\.[_a-zA-Z0-9.-]+)*(\[([0-9]+|\*)\])?\)$").ok());

/// Values of variables. Keys are names without `$()`; those of arrays are without `[*]`.
///
/// ```
/// use tekton_api::substitute::Replacements;
/// let mut known = Replacements::default();
/// known.strings.insert("params.who".into(), "world".into());
/// known.arrays.insert("params.flags".into(), vec!["-x".into(), "-v".into()]);
/// assert_eq!(known.string("hello $(params.who)"), "hello world");
/// let args = ["$(params.flags[*])".to_owned(), "$(params.who)".to_owned()];
/// assert_eq!(known.strings(&args), ["-x", "-v", "world"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacements {
    /// Variables with a text: string params, `array[0]`, `object.key`, context variables, …
    pub strings: BTreeMap<String, String>,
    /// Variables that stand for a whole array.
    pub arrays: BTreeMap<String, Vec<String>>,
    /// Variables that stand for a whole object.
    pub objects: BTreeMap<String, BTreeMap<String, String>>,
}

impl Replacements {
    /// True if there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty() && self.arrays.is_empty() && self.objects.is_empty()
    }

    /// Takes over all entries of `other`, whose values win.
    pub fn merge(&mut self, other: Self) {
        self.strings.extend(other.strings);
        self.arrays.extend(other.arrays);
        self.objects.extend(other.objects);
    }

    /// The text with every known string variable replaced; unknown ones stay.
    pub fn string(&self, text: &str) -> String {
        replace(text, &self.strings)
    }

    /// Replaces in place.
    pub fn apply_string(&self, text: &mut String) {
        if text.contains("$(") {
            *text = self.string(text);
        }
    }

    /// Replaces in place where there is a text.
    pub fn apply_option(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.apply_string(text);
        }
    }

    /// The texts that `text` stands for as an element of a list: the elements of an array variable if it is
    /// nothing but a reference to one, else itself with string variables replaced.
    pub fn array(&self, text: &str) -> Vec<String> {
        let name = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
        let elements = name.and_then(|name| {
            let starless = name.strip_suffix("[*]");
            self.arrays.get(name).or_else(|| self.arrays.get(starless?))
        });
        match elements {
            Some(elements) => elements.clone(),
            None => vec![self.string(text)],
        }
    }

    /// A list of texts, with array variables expanded.
    pub fn strings(&self, list: &[String]) -> Vec<String> {
        list.iter().flat_map(|text| self.array(text)).collect()
    }

    /// Expands a list in place.
    pub fn apply_strings(&self, list: &mut Vec<String>) {
        if list.iter().any(|text| text.contains("$(")) {
            *list = self.strings(list);
        }
    }

    /// Replaces the values of a map in place; keys are left alone.
    pub fn apply_values(&self, map: &mut BTreeMap<String, String>) {
        for value in map.values_mut() {
            self.apply_string(value);
        }
    }

    /// A param value with variables replaced. A text that is nothing but a reference to an array or object
    /// variable becomes that array or object.
    pub fn param_value(&self, value: &ParamValue) -> ParamValue {
        match value {
            ParamValue::Array(list) => ParamValue::Array(self.strings(list)),
            ParamValue::Object(members) => ParamValue::Object(
                members
                    .iter()
                    .map(|(key, text)| (key.clone(), self.string(text)))
                    .collect(),
            ),
            ParamValue::String(text) => self.text_value(text),
        }
    }

    fn text_value(&self, text: &str) -> ParamValue {
        let exact = EXACT_REFERENCE
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(text));
        if !exact {
            return ParamValue::String(self.string(text));
        }
        let name = scan::strip_reference(text);
        if let Some(members) = self.objects.get(name) {
            return ParamValue::Object(members.clone());
        }
        if self.arrays.contains_key(name) {
            return ParamValue::Array(self.array(text));
        }
        if self.strings.contains_key(name) {
            return ParamValue::String(self.string(text));
        }
        ParamValue::String(text.to_owned())
    }
}

/// Replaces `$(name)` by its value in one pass from left to right.
fn replace(text: &str, values: &BTreeMap<String, String>) -> String {
    let Some(first) = text.find("$(") else {
        return text.to_owned();
    };
    let longest = values.keys().map(String::len).max().unwrap_or_default();
    let (head, mut rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len());
    out.push_str(head);
    while let Some(start) = rest.find("$(") {
        let (before, reference) = rest.split_at(start);
        out.push_str(before);
        if let Some((value, after)) = match_reference(reference, values, longest) {
            out.push_str(value);
            rest = after;
        } else {
            let (opening, after) = reference.split_at(2);
            out.push_str(opening);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The value of the reference at the start of `text`, and what follows it.
fn match_reference<'v, 't>(
    text: &'t str,
    values: &'v BTreeMap<String, String>,
    longest: usize,
) -> Option<(&'v str, &'t str)> {
    let body = text.strip_prefix("$(")?;
    for (end, _) in body.match_indices(')') {
        if end > longest {
            return None;
        }
        let (name, after) = body.split_at(end);
        if let Some(value) = values.get(name) {
            return Some((value, after.strip_prefix(')').unwrap_or(after)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Replacements {
        Replacements {
            strings: BTreeMap::from([
                ("params.a".into(), "A".into()),
                ("params.self".into(), "$(params.a)".into()),
                ("params.o.k".into(), "OK".into()),
            ]),
            arrays: BTreeMap::from([
                ("params.l".into(), vec!["x".into(), "y".into()]),
                ("params.e".into(), vec![]),
            ]),
            objects: BTreeMap::from([("params.o".into(), BTreeMap::from([("k".into(), "OK".into())]))]),
        }
    }

    #[test]
    fn replaces_once_and_keeps_the_unknown() {
        assert_eq!(
            known().string("$(params.self)$(params.b)$$(params.a)$(params.a"),
            "$(params.a)$(params.b)$A$(params.a"
        );
        assert_eq!(known().string("$($(params.a))"), "$(A)");
        assert_eq!(known().string("ü$(params.a)ü"), "üAü");
    }

    #[test]
    fn a_lone_array_reference_expands_and_an_empty_one_vanishes() {
        let list = [
            "$(params.l)".to_owned(),
            "$(params.e[*])".into(),
            "z$(params.l[*])".into(),
        ];
        assert_eq!(known().strings(&list), ["x", "y", "z$(params.l[*])"]);
    }

    #[test]
    fn a_lone_reference_takes_the_type_of_its_variable() {
        let value = |text: &str| known().param_value(&ParamValue::String(text.into()));
        assert_eq!(
            value("$(params.l[*])"),
            ParamValue::Array(vec!["x".into(), "y".into()])
        );
        assert_eq!(
            value("$(params.o[*])"),
            ParamValue::Object(BTreeMap::from([("k".into(), "OK".into())]))
        );
        assert_eq!(value("$(params.a)"), ParamValue::String("A".into()));
        assert_eq!(
            value("$(params.missing)"),
            ParamValue::String("$(params.missing)".into())
        );
    }
}
