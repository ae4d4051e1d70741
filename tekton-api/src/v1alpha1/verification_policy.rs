//! VerificationPolicies: whose signatures on which resources are accepted.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1alpha1/verificationpolicy_types.go`.

use k8s_openapi::api::core::v1::SecretReference;
use kube::core::ObjectMeta;

use crate::wire::{open_enum, resource, wire_struct};

/// Whose signatures on which resources are accepted.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct VerificationPolicy {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: VerificationPolicySpec,
}

resource!(VerificationPolicy: "tekton.dev", "v1alpha1", "verificationpolicies", NamespaceResourceScope, VerificationPolicySpec);

wire_struct! {
/// Sources and the keys that apply to them.
pub struct VerificationPolicySpec {
    /// Which sources it applies to.
    #[serde(deserialize_with = "crate::wire::list")]
    pub resources: Vec<ResourcePattern>,
    /// The keys, each of which must accept.
    #[serde(deserialize_with = "crate::wire::list")]
    pub authorities: Vec<Authority>,
    /// What a failure means.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub mode: Option<ModeType>,
}
}

wire_struct! {
/// Sources of resources.
pub struct ResourcePattern {
    /// A regular expression for the source's address.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub pattern: String,
}
}

wire_struct! {
/// A key by name.
pub struct Authority {
    /// The name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Where the key is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyRef>,
}
}

wire_struct! {
/// Where a key is.
pub struct KeyRef {
    /// In a Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
    /// Here.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub data: Option<String>,
    /// At a key management service.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub kms: Option<String>,
    /// The algorithm by which content is hashed.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub hash_algorithm: Option<HashAlgorithm>,
}
}

open_enum! {
    /// What a failed verification means.
    pub enum ModeType {
        /// The run fails.
        Enforce = "enforce",
        /// A warning is logged.
        Warn = "warn",
    }
}

open_enum! {
    /// How content is hashed before it is signed.
    pub enum HashAlgorithm {
        /// SHA-224.
        Sha224 = "sha224",
        /// SHA-256, the default.
        Sha256 = "sha256",
        /// SHA-384.
        Sha384 = "sha384",
        /// SHA-512.
        Sha512 = "sha512",
    }
}
