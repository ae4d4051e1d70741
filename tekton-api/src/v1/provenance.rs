//! Where a definition came from and under which flags it ran.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/provenance.go`.

use std::collections::BTreeMap;

use crate::wire::wire_struct;

wire_struct! {
/// What is known about the making of a run.
pub struct Provenance {
    /// The source of a remote Task or Pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ref_source: Option<RefSource>,
    /// The feature flags at the start of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_flags: Option<serde_json::Map<String, serde_json::Value>>,
}
}

wire_struct! {
/// Source of a remote definition.
pub struct RefSource {
    /// The repository, bundle or address.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub uri: Option<String>,
    /// Digests by algorithm.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub digest: BTreeMap<String, String>,
    /// The file or name within the source.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub entry_point: Option<String>,
}
}
