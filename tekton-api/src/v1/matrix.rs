//! Fanning a task out over combinations of parameters.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/matrix_types.go`.

use super::Param;
use crate::wire::wire_struct;

wire_struct! {
/// Parameters that make one run per combination of their items.
pub struct Matrix {
    /// Arrays of which every combination is run.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// Combinations added or extended.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<IncludeParams>,
}
}

wire_struct! {
/// One further combination.
pub struct IncludeParams {
    /// A name for people.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The combination's parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
}
}

impl Matrix {
    /// Whether there are arrays to combine.
    pub fn has_params(&self) -> bool {
        !self.params.is_empty()
    }

    /// Whether there are combinations added by hand.
    pub fn has_include(&self) -> bool {
        !self.include.is_empty()
    }
}
