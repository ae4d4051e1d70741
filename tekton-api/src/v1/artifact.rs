//! Things a step consumed or produced, for provenance.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/artifact_types.go`.

use std::collections::BTreeMap;

use crate::wire::wire_struct;

wire_struct! {
/// A named group of values.
pub struct Artifact {
    /// The group's name.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// What belongs to it.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ArtifactValue>,
    /// Whether it is what was meant to be built, not a by-product.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub build_output: Option<bool>,
}
}

wire_struct! {
/// One thing, by its place and digests.
pub struct ArtifactValue {
    /// Digests by algorithm.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub digest: BTreeMap<String, String>,
    /// Where it can be found.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub uri: Option<String>,
}
}

wire_struct! {
/// All inputs and outputs.
pub struct Artifacts {
    /// What was consumed.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Artifact>,
    /// What was produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Artifact>,
}
}

/// An artifact of a step.
pub type TaskRunStepArtifact = Artifact;
