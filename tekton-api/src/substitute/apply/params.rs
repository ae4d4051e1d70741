//! The variables that params stand for.
//!
//! A param `p` is known as `params.p`, `params["p"]`, `params['p']` and, from v1beta1, `inputs.params.p`; an
//! element of an array also with its index, a member of an object as `params.p.key`.
//! Upstream counterpart: `pkg/reconciler/taskrun/resources/apply.go`.

use std::collections::BTreeMap;

use crate::substitute::{Replacements, scan};
use crate::v1::{Param, ParamSpec, ParamValue};

const REFERENCE: &str = "$(params.";

/// The names by which a param is known.
pub fn names(param: &str) -> [String; 4] {
    [
        format!("params.{param}"),
        format!("params[\"{param}\"]"),
        format!("params['{param}']"),
        format!("inputs.params.{param}"),
    ]
}

/// Variables of given params.
pub fn of_values(params: &[Param]) -> Replacements {
    let mut known = Replacements::default();
    for param in params {
        insert(&mut known, &param.name, &param.value);
    }
    known
}

/// Variables of the defaults of declared params. A default that refers to another param takes that param's
/// default, never the value the run gives.
pub fn of_defaults(specs: &[ParamSpec]) -> Replacements {
    let mut known = Replacements::default();
    let defaults = specs
        .iter()
        .filter_map(|spec| Some((spec.name.as_str(), spec.default.as_ref()?)));
    let refers = |value: &ParamValue| value.as_str().is_some_and(|text| text.contains(REFERENCE));
    for (name, value) in defaults.clone().filter(|(_, value)| !refers(value)) {
        insert(&mut known, name, value);
    }
    for (name, value) in defaults.filter(|(_, value)| refers(value)) {
        let text = value.as_str().unwrap_or_default();
        for expression in scan::variable_expressions(text, "params") {
            let other = expression.strip_prefix(REFERENCE).unwrap_or(&expression);
            let other = other.strip_suffix(')').unwrap_or(other);
            let found = names(other)
                .iter()
                .find_map(|name| known.strings.get(name).cloned());
            if let Some(found) = found {
                let resolved = text.replace(&expression, &found);
                known
                    .strings
                    .extend(names(name).map(|name| (name, resolved.clone())));
            }
        }
    }
    known
}

/// Variables of a run's params over the defaults of their declarations; objects are joined key by key.
pub fn of_run(given: &[Param], declared: &[ParamSpec]) -> Replacements {
    let mut known = of_defaults(declared);
    extend(&mut known, of_values(given));
    known
}

/// Takes over `others`; of an object known on both sides the keys are joined.
pub fn extend(known: &mut Replacements, others: Replacements) {
    known.strings.extend(others.strings);
    known.arrays.extend(others.arrays);
    for (name, members) in others
        .objects
        .into_iter()
        .filter(|(_, members)| !members.is_empty())
    {
        known.objects.entry(name).or_default().extend(members);
    }
}

fn insert(known: &mut Replacements, param: &str, value: &ParamValue) {
    match value {
        ParamValue::String(text) => {
            known
                .strings
                .extend(names(param).map(|name| (name, text.clone())));
        }
        ParamValue::Array(items) => {
            for name in names(param) {
                for (index, item) in items.iter().enumerate() {
                    known.strings.insert(format!("{name}[{index}]"), item.clone());
                }
                known.arrays.insert(name, items.clone());
            }
        }
        ParamValue::Object(members) => {
            known
                .objects
                .extend(names(param).map(|name| (name, members.clone())));
            let members = members
                .iter()
                .map(|(key, text)| (format!("params.{param}.{key}"), text.clone()));
            known.strings.extend(members);
        }
    }
}

/// Lengths of the arrays among params, those of the run before those of the defaults.
pub fn array_lengths(given: &[Param], declared: &[ParamSpec]) -> BTreeMap<String, usize> {
    let defaults = declared
        .iter()
        .filter_map(|spec| Some((&spec.name, spec.default.as_ref()?)));
    let values = given.iter().map(|param| (&param.name, &param.value));
    defaults
        .chain(values)
        .filter_map(|(name, value)| Some((name.clone(), value.as_array()?.len())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, default: impl Into<ParamValue>) -> ParamSpec {
        ParamSpec {
            name: name.into(),
            default: Some(default.into()),
            ..ParamSpec::default()
        }
    }

    #[test]
    fn a_default_takes_the_default_of_another() {
        let declared = [spec("a", "one"), spec("b", "<$(params.a)>")];
        let known = of_run(&[Param::new("a", "two")], &declared);
        assert_eq!(known.string("$(params.a) $(params['b'])"), "two <one>");
    }

    #[test]
    fn objects_are_joined_and_arrays_replaced() {
        let object =
            |key: &str, value: &str| ParamValue::Object(BTreeMap::from([(key.into(), value.into())]));
        let declared = [spec("o", object("k", "default")), spec("l", ["x", "y"])];
        let known = of_run(
            &[Param::new("o", object("m", "given")), Param::new("l", ["z"])],
            &declared,
        );
        assert_eq!(known.objects["params.o"].len(), 2);
        assert_eq!(known.string("$(params.o.k) $(params.o.m)"), "default given");
        assert_eq!(known.arrays["params.l"], ["z"]);
    }
}
