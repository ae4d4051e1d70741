//! References to Tasks and Pipelines, with the bundles that v1 no longer has.
//!
//! Upstream counterparts: `taskref_types.go` and `pipelineref_types.go` in
//! `pkg/apis/pipeline/v1beta1`.

use super::Param;
use crate::wire::wire_struct;

wire_struct! {
/// Points to a Task, or to the kind of a custom task.
pub struct TaskRef {
    /// The name in the namespace of the run.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// `Task`, or the kind of a custom task.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub kind: Option<String>,
    /// The group and version of a custom task.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub api_version: Option<String>,
    /// Deprecated: the image that holds the Task.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub bundle: Option<String>,
    /// The resolver that fetches the Task.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub resolver: Option<String>,
    /// What the resolver is told.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
}
}

wire_struct! {
/// Points to a Pipeline.
pub struct PipelineRef {
    /// The name in the namespace of the run.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The group and version.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub api_version: Option<String>,
    /// Deprecated: the image that holds the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub bundle: Option<String>,
    /// The resolver that fetches the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub resolver: Option<String>,
    /// What the resolver is told.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
}
}
