//! Where a definition came from and under which flags it ran.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1beta1/provenance.go`.

use crate::v1::RefSource;
use crate::wire::wire_struct;

wire_struct! {
/// What is known about the making of a run.
pub struct Provenance {
    /// Deprecated: the source under its old name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_source: Option<RefSource>,
    /// The source of a remote Task or Pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ref_source: Option<RefSource>,
    /// The feature flags at the start of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_flags: Option<serde_json::Map<String, serde_json::Value>>,
}
}
