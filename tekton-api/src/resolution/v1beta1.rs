//! The group `resolution.tekton.dev`, version `v1beta1`: ResolutionRequest.
//!
//! Upstream counterpart: `pkg/apis/resolution/v1beta1`.

use std::collections::BTreeMap;

use kube::core::ObjectMeta;

use crate::condition::Conditions;
use crate::v1::{Param, RefSource};
use crate::wire::{resource, wire_struct};

/// A wish that a resolver fetches a definition.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct ResolutionRequest {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ResolutionRequestSpec,
    /// What has happened.
    pub status: Option<ResolutionRequestStatus>,
}

resource!(ResolutionRequest: "resolution.tekton.dev", "v1beta1", "resolutionrequests", NamespaceResourceScope, ResolutionRequestSpec, status ResolutionRequestStatus);

wire_struct! {
/// What is to be fetched.
pub struct ResolutionRequestSpec {
    /// What the resolver is told.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// The address, for resolvers without parameters.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub url: Option<String>,
}
}

wire_struct! {
/// What has been fetched.
pub struct ResolutionRequestStatus {
    /// The generation of the spec this status belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How it goes; [`crate::condition::SUCCEEDED`] decides.
    #[serde(deserialize_with = "crate::wire::or_default", skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// Further facts.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// The definition in Base64.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub data: String,
    /// Where it came from, under the old name.
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub source: Option<RefSource>,
    /// Where it came from.
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub ref_source: Option<RefSource>,
}
}
