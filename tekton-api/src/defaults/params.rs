//! Types of parameters and results that declare none.
//!
//! Upstream counterpart: `SetDefaults` of `ParamSpec`, `TaskResult` and `StepResult`.

use std::collections::BTreeMap;

use crate::v1::{ParamSpec, ParamType, PropertySpec, StepResult, TaskResult};

/// Infers the type of a parameter from its properties or its default.
pub fn param_spec(param: &mut ParamSpec) {
    if is_given(param.type_.as_ref()) {
        set_property_types(param.properties.as_mut());
    } else if param.properties.is_some() {
        param.type_ = Some(ParamType::Object);
        set_property_types(param.properties.as_mut());
    } else {
        let default = param.default.as_ref();
        param.type_ = Some(default.map_or(ParamType::String, crate::v1::ParamValue::param_type));
    }
}

/// Infers the type of a Task's result from its properties.
pub fn task_result(result: &mut TaskResult) {
    set_result_type(&mut result.type_, result.properties.as_mut());
}

/// Infers the type of a step's result from its properties.
pub fn step_result(result: &mut StepResult) {
    set_result_type(&mut result.type_, result.properties.as_mut());
}

fn set_result_type(result: &mut Option<ParamType>, properties: Option<&mut BTreeMap<String, PropertySpec>>) {
    if !is_given(result.as_ref()) {
        let has_properties = properties.is_some();
        *result = Some(if has_properties {
            ParamType::Object
        } else {
            ParamType::String
        });
    }
    set_property_types(properties);
}

fn set_property_types(properties: Option<&mut BTreeMap<String, PropertySpec>>) {
    for property in properties.into_iter().flat_map(BTreeMap::values_mut) {
        if !is_given(property.type_.as_ref()) {
            property.type_ = Some(ParamType::String);
        }
    }
}

fn is_given(type_: Option<&ParamType>) -> bool {
    type_.is_some_and(|type_| !type_.as_str().is_empty())
}
