//! Conditions under which a task or step is executed.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/when_types.go`.

use crate::wire::{open_enum, wire_struct};

open_enum! {
    /// How the input relates to the values.
    pub enum WhenOperator {
        /// The input is among the values.
        In = "in",
        /// The input is not among the values.
        NotIn = "notin",
    }
}

wire_struct! {
/// One condition; a list of them holds if each one does.
pub struct WhenExpression {
    /// The text compared.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub input: Option<String>,
    /// How it relates to the values.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub operator: Option<WhenOperator>,
    /// The texts it is compared with.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// An expression in the Common Expression Language, instead of the three above.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub cel: Option<String>,
}
}
