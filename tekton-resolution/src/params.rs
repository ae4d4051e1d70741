//! Reads the params of a request.

use std::collections::BTreeMap;

use tekton_api::v1::{Param, ParamValue};

/// String values by name; arrays and objects count as empty texts, the last of several wins.
pub fn strings(params: &[Param]) -> BTreeMap<String, String> {
    params
        .iter()
        .map(|param| (param.name.clone(), text(&param.value).to_owned()))
        .collect()
}

/// The string of a value; empty for arrays and objects.
pub fn text(value: &ParamValue) -> &str {
    match value {
        ParamValue::String(text) => text,
        ParamValue::Array(_) | ParamValue::Object(_) => "",
    }
}
