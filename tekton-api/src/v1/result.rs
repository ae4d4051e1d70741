//! Declarations and values of results.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/result_types.go`.

use std::collections::BTreeMap;

use super::{ParamType, ParamValue, PropertySpec};
use crate::wire::wire_struct;

/// Value of a result; the same as that of a parameter.
pub type ResultValue = ParamValue;
/// Type of a result; the same as that of a parameter.
pub type ResultsType = ParamType;

wire_struct! {
/// Declares a result of a Task.
pub struct TaskResult {
    /// The name of the file below `/tekton/results`.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The type; defaulting fills it in.
    #[serde(rename = "type", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub type_: Option<ResultsType>,
    /// The keys of an object result.
    #[serde(deserialize_with = "crate::wire::optional_map", skip_serializing_if = "crate::wire::no_entries")]
    pub properties: Option<BTreeMap<String, PropertySpec>>,
    /// What the result holds.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// A reference to a step's result that this one repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ResultValue>,
}
}

wire_struct! {
/// Declares a result of a step.
pub struct StepResult {
    /// The name of the file in the step's result directory.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The type; defaulting fills it in.
    #[serde(rename = "type", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub type_: Option<ResultsType>,
    /// The keys of an object result.
    #[serde(deserialize_with = "crate::wire::optional_map", skip_serializing_if = "crate::wire::no_entries")]
    pub properties: Option<BTreeMap<String, PropertySpec>>,
    /// What the result holds.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
}
}

wire_struct! {
/// What a step or Task has produced.
pub struct TaskRunResult {
    /// The result's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The type found.
    #[serde(rename = "type", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub type_: Option<ResultsType>,
    /// The value found.
    pub value: ResultValue,
}
}

/// What a step has produced.
pub type TaskRunStepResult = TaskRunResult;

wire_struct! {
/// Declares a result of a Pipeline.
pub struct PipelineResult {
    /// The result's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The type.
    #[serde(rename = "type", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub type_: Option<ResultsType>,
    /// What the result holds; always written.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub description: String,
    /// The text with references to results of tasks.
    pub value: ResultValue,
}
}

wire_struct! {
/// What a Pipeline has produced.
pub struct PipelineRunResult {
    /// The result's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The value found.
    pub value: ResultValue,
}
}
