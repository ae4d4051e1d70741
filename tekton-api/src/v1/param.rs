//! Declarations and values of parameters.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/param_types.go`. How a value is read is decided in
//! `param_value.rs`.

use super::ParamValue;
use crate::wire::{open_enum, wire_struct};
use std::collections::BTreeMap;

open_enum! {
    /// Type of a parameter or result.
    pub enum ParamType {
        /// A text.
        String = "string",
        /// A list of texts.
        Array = "array",
        /// A map of texts.
        Object = "object",
    }
}

wire_struct! {
/// Declares a parameter.
pub struct ParamSpec {
    /// The name by which `$(params.NAME)` refers to it.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The type; defaulting infers it.
    #[serde(rename = "type", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub type_: Option<ParamType>,
    /// What the parameter is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// The keys of an object parameter.
    #[serde(deserialize_with = "crate::wire::optional_map", skip_serializing_if = "crate::wire::no_entries")]
    pub properties: Option<BTreeMap<String, PropertySpec>>,
    /// The value taken when none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<ParamValue>,
    /// The values allowed; empty allows all.
    #[serde(rename = "enum", deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub enum_: Vec<String>,
}
}

wire_struct! {
/// Type of one key of an object parameter or result.
pub struct PropertySpec {
    /// The type of the key's value, in fact always string.
    #[serde(rename = "type", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub type_: Option<ParamType>,
}
}

/// Gives a parameter its value.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Param {
    /// The parameter's name.
    #[serde(default, deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Its value, which may not be absent.
    pub value: ParamValue,
}

impl Param {
    /// A parameter with this value.
    pub fn new(name: impl Into<String>, value: impl Into<ParamValue>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}
