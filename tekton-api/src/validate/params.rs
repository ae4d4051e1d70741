//! Checks on declared parameters and on lists of values.
//!
//! Upstream counterparts: `param_types.go`, and parts of `task_validation.go` and `taskrun_validation.go` in
//! `pkg/apis/pipeline/v1`.

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::names::{is_object_name, is_variable_name};
use super::variables::{Declared, Names, array_variable, key_prefix, string_variable, whole_reference};
use crate::field_errors::FieldErrors;
use crate::v1::{Param, ParamSpec, ParamType, ParamValue, PropertySpec};

const STRING_NAME_RULES: &str = "String/Array Names: \nMust only contain alphanumeric characters, hyphens (-), \
     underscores (_), and dots (.)\nMust begin with a letter or an underscore (_)";
const OBJECT_NAME_RULES: &str = "Object Names: \nMust only contain alphanumeric characters, hyphens (-), underscores (_) \
     \nMust begin with a letter or an underscore (_)";

/// The type, if one is given.
pub(crate) fn type_of(param: &ParamSpec) -> &str {
    param.type_.as_ref().map_or("", ParamType::as_str)
}

/// Names of the parameters with this type.
pub(crate) fn names_of_type(params: &[ParamSpec], wanted: &ParamType) -> Names {
    let matching = params.iter().filter(|param| param.type_.as_ref() == Some(wanted));
    matching.map(|param| param.name.clone()).collect()
}

/// Names of all parameters.
pub(crate) fn all_names(params: &[ParamSpec]) -> Names {
    params.iter().map(|param| param.name.clone()).collect()
}

/// The object parameters.
pub(crate) fn objects(params: &[ParamSpec]) -> impl Iterator<Item = &ParamSpec> {
    params
        .iter()
        .filter(|param| param.type_ == Some(ParamType::Object))
}

/// Names of the keys of an object parameter.
pub(crate) fn keys(param: &ParamSpec) -> Names {
    param
        .properties
        .iter()
        .flat_map(BTreeMap::keys)
        .cloned()
        .collect()
}

/// What the parameters declare, for checks on texts that use them.
pub(crate) fn declared(params: &[ParamSpec], prefix: &str) -> Declared {
    // Objects without keys are not told apart from strings, as upstream does.
    let mut by_name: BTreeMap<&str, Names> = BTreeMap::new();
    for object in objects(params).filter(|object| !keys(object).is_empty()) {
        by_name.entry(&object.name).or_default().extend(keys(object));
    }
    Declared {
        all: all_names(params),
        arrays: names_of_type(params, &ParamType::Array),
        objects: by_name
            .into_iter()
            .map(|(name, keys)| (name.to_owned(), key_prefix(prefix, name), keys))
            .collect(),
    }
}

/// Types are known, defaults fit, keys of objects are strings.
pub(crate) fn types(params: &[ParamSpec]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for param in params {
        errors.add(type_and_default(param));
    }
    errors
}

fn type_and_default(param: &ParamSpec) -> FieldErrors {
    let name = &param.name;
    let Some(type_) = param.type_.as_ref().filter(|type_| type_.is_known()) else {
        return FieldErrors::invalid_value(type_of(param), &format!("{name}.type"));
    };
    if let Some(default) = param.default.as_ref().map(ParamValue::param_type)
        && default != *type_
    {
        return FieldErrors::new(
            format!("\"{type_}\" type does not match default value's type: \"{default}\""),
            &[&format!("{name}.type"), &format!("{name}.default.type")],
        );
    }
    let wrong = keys_that_are_no_strings(param.properties.as_ref());
    if wrong.is_empty() {
        return FieldErrors::none();
    }
    FieldErrors::new(
        format!(
            "The value type specified for these keys [{}] is invalid",
            wrong.join(" ")
        ),
        &[&format!("{name}.properties")],
    )
}

/// Keys with a type other than string.
pub(crate) fn keys_that_are_no_strings(properties: Option<&BTreeMap<String, PropertySpec>>) -> Vec<&str> {
    properties
        .into_iter()
        .flatten()
        .filter(|(_, property)| property.type_ != Some(ParamType::String))
        .map(|(key, _)| key.as_str())
        .collect()
}

/// The names that occur more than once.
fn duplicates<'a>(names: impl Iterator<Item = &'a String>) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| !seen.insert(*name)).collect()
}

/// No parameter is declared twice.
pub(crate) fn no_duplicates(params: &[ParamSpec]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for name in duplicates(params.iter().map(|param| &param.name)) {
        errors.add(FieldErrors::new("parameter appears more than once", &[""]).via_field_key("params", name));
    }
    errors
}

/// Enums are allowed, of strings, without repeats, and have the default among their values.
pub(crate) fn enums(params: &[ParamSpec], context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for param in params.iter().filter(|param| !param.enum_.is_empty()) {
        let mut problem = |message: String| errors.add(FieldErrors::new(message, &[""]).via_key(&param.name));
        if !context.config.features.enable_param_enum {
            problem("feature flag `enable-param-enum` should be set to true to use Enum".to_owned());
        }
        if param.type_ != Some(ParamType::String) {
            problem("enum can only be set with string type param".to_owned());
        }
        for value in duplicates(param.enum_.iter()) {
            problem(format!("parameter enum value {value} appears more than once"));
        }
        if let Some(ParamValue::String(default)) = &param.default
            && !default.is_empty()
            && !param.enum_.contains(default)
        {
            problem(format!("param default value {default} not in the enum list"));
        }
    }
    errors
}

/// Object parameters declare their keys.
pub(crate) fn objects_have_properties(params: &[ParamSpec]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for param in objects(params).filter(|param| param.properties.is_none()) {
        errors.add(FieldErrors::missing(&[&format!("{}.properties", param.name)]));
    }
    errors
}

/// Names of parameters and keys have the form of variables.
pub(crate) fn name_format(params: &[ParamSpec]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let plain: BTreeSet<&str> = params
        .iter()
        .filter(|param| param.type_ != Some(ParamType::Object))
        .map(|param| param.name.as_str())
        .filter(|name| !is_variable_name(name))
        .collect();
    if !plain.is_empty() {
        let list = plain.into_iter().collect::<Vec<_>>().join(" ");
        errors.add(FieldErrors::detailed(
            format!("The format of following array and string variable names is invalid: [{list}]"),
            STRING_NAME_RULES,
            &["params"],
        ));
    }
    let mut wrong: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for object in objects(params) {
        if !is_object_name(&object.name) {
            wrong.insert(&object.name, Vec::new());
        }
        for key in object.properties.iter().flat_map(BTreeMap::keys) {
            if !is_object_name(key) {
                wrong.entry(&object.name).or_default().push(key);
            }
        }
    }
    if !wrong.is_empty() {
        let list: Vec<String> = wrong
            .into_iter()
            .map(|(name, keys)| format!("{name}:[{}]", keys.join(" ")))
            .collect();
        errors.add(FieldErrors::detailed(
            format!(
                "Object param name and key name format is invalid: map[{}]",
                list.join(" ")
            ),
            OBJECT_NAME_RULES,
            &["params"],
        ));
    }
    errors
}

/// No name occurs twice, ignoring case. Told by index or by name.
pub(crate) fn no_duplicate_names<'a>(names: impl Iterator<Item = &'a str>, by_index: bool) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut seen = BTreeSet::new();
    for (index, name) in names.enumerate() {
        if !seen.insert(name.to_lowercase()) {
            let error = FieldErrors::multiple_one_of(&["name"]);
            errors.add(if by_index {
                error.via_index(index)
            } else {
                error.via_key(name)
            });
        }
    }
    errors
}

/// Values given for a run: no name occurs twice.
pub(crate) fn values(params: &[Param]) -> FieldErrors {
    no_duplicate_names(params.iter().map(|param| param.name.as_str()), false)
}

/// Values given within a Pipeline: no name occurs twice.
pub(crate) fn no_duplicate_values(params: &[Param]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut seen = BTreeSet::new();
    for (index, param) in params.iter().enumerate() {
        if !seen.insert(&param.name) {
            let message = format!(
                "parameter names must be unique, the parameter \"{}\" is also defined at",
                param.name
            );
            errors.add(FieldErrors::new(message, &[&format!("[{index}].name")]));
        }
    }
    errors
}

/// Values given within a Pipeline use only what it declares, arrays and objects in the right places.
pub(crate) fn values_use_declared(params: &[Param], prefix: &str, declared: &Declared) -> FieldErrors {
    let mut errors = no_duplicate_values(params).via_field("params");
    for param in params {
        match &param.value {
            ParamValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let error = array_variable(item, prefix, declared).via_field_index("value", index);
                    errors.add(error.via_field_key("params", &param.name));
                }
            }
            ParamValue::Object(entries) => {
                for (key, value) in entries {
                    let error = string_variable(value, prefix, declared).via_field_key("properties", key);
                    errors.add(error.via_field_key("params", &param.name));
                }
            }
            ParamValue::String(text) => {
                let whole = whole_reference(&param.name, text, prefix, &declared.all);
                errors.add(whole.unwrap_or_else(|| {
                    string_variable(text, prefix, declared).via_field_key("params", &param.name)
                }));
            }
        }
    }
    errors
}
