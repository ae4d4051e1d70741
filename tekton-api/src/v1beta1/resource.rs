//! PipelineResources, which have no effect any more but are carried along.
//!
//! Upstream counterparts: `pkg/apis/pipeline/v1beta1/resource_types.go` and `pkg/apis/resource`.

use crate::wire::wire_struct;

wire_struct! {
/// Declares a resource of a Pipeline.
pub struct PipelineDeclaredResource {
    /// The name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The kind of resource.
    #[serde(rename = "type", deserialize_with = "crate::wire::or_default")]
    pub type_: String,
    /// Whether a run may leave it out.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub optional: Option<bool>,
}
}

wire_struct! {
/// Declares a resource of a Task.
pub struct ResourceDeclaration {
    /// The name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The kind of resource.
    #[serde(rename = "type", deserialize_with = "crate::wire::or_default")]
    pub type_: String,
    /// What it is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// Where it appears.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub target_path: Option<String>,
    /// Whether a run may leave it out.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub optional: Option<bool>,
}
}

wire_struct! {
/// Resources of a Task.
pub struct TaskResources {
    /// Those it reads.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<ResourceDeclaration>,
    /// Those it writes.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<ResourceDeclaration>,
}
}

wire_struct! {
/// Resources of a TaskRun.
pub struct TaskRunResources {
    /// Those it reads.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<TaskResourceBinding>,
    /// Those it writes.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<TaskResourceBinding>,
}
}

wire_struct! {
/// Binds a resource of a Task.
pub struct TaskResourceBinding {
    /// The name declared.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_ref: Option<PipelineResourceRef>,
    /// The resource defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_spec: Option<PipelineResourceSpec>,
    /// Where it is copied.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}
}

wire_struct! {
/// Binds a resource of a Pipeline.
pub struct PipelineResourceBinding {
    /// The name declared.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_ref: Option<PipelineResourceRef>,
    /// The resource defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_spec: Option<PipelineResourceSpec>,
}
}

wire_struct! {
/// Points to a resource.
pub struct PipelineResourceRef {
    /// The name.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The group and version.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub api_version: Option<String>,
}
}

wire_struct! {
/// What a resource is.
pub struct PipelineResourceSpec {
    /// What it is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// The kind of resource.
    #[serde(rename = "type", deserialize_with = "crate::wire::or_default")]
    pub type_: String,
    /// Its settings.
    pub params: Option<Vec<ResourceParam>>,
    /// Its secret settings.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretParam>,
}
}

wire_struct! {
/// A setting of a resource.
pub struct ResourceParam {
    /// The name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The value.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub value: String,
}
}

wire_struct! {
/// A secret setting of a resource.
pub struct SecretParam {
    /// The setting.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub field_name: String,
    /// The key in the Secret.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub secret_key: String,
    /// The Secret.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub secret_name: String,
}
}

wire_struct! {
/// Resources of a task in a Pipeline.
pub struct PipelineTaskResources {
    /// Those it reads.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<PipelineTaskInputResource>,
    /// Those it writes.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<PipelineTaskOutputResource>,
}
}

wire_struct! {
/// A resource that a task reads.
pub struct PipelineTaskInputResource {
    /// The name declared by the Task.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The name declared by the Pipeline.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub resource: String,
    /// Tasks that write it before.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
}
}

wire_struct! {
/// A resource that a task writes.
pub struct PipelineTaskOutputResource {
    /// The name declared by the Task.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The name declared by the Pipeline.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub resource: String,
}
}

wire_struct! {
/// What a resource has produced.
pub struct PipelineResourceResult {
    /// The name of the fact.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub key: String,
    /// The fact.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub value: String,
    /// The resource.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub resource_name: Option<String>,
    /// The kind of result, as a number.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<ResultType>,
}
}

/// Kind of a [`PipelineResourceResult`]: a number, once a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ResultType(#[cfg_attr(feature = "schema", schemars(with = "i32"))] pub i64);

impl<'de> serde::Deserialize<'de> for ResultType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Number(number) => number
                .as_i64()
                .map(Self)
                .ok_or_else(|| D::Error::custom("unsupported value type, neither int nor string")),
            serde_json::Value::String(text) => Ok(Self(match text.as_str() {
                "TaskRunResult" => 1,
                "InternalTektonResult" => 3,
                "StepResult" => 4,
                "StepArtifactsResult" => 5,
                "TaskRunArtifactsResult" => 6,
                _ => 10,
            })),
            _ => Err(D::Error::custom("unsupported value type, neither int nor string")),
        }
    }
}
