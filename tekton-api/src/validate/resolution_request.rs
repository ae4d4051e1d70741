//! Checks on ResolutionRequests.
//!
//! Upstream counterpart: `resolution_request_validation.go` in `pkg/apis/resolution`.

use kube::core::ObjectMeta;

use super::{Context, Validate};
use crate::field_errors::FieldErrors;
use crate::labels;
use crate::resolution::{v1alpha1, v1beta1};

impl Validate for v1beta1::ResolutionRequest {
    fn validate(&self, _: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        type_label(&self.metadata)
    }
}

impl Validate for v1alpha1::ResolutionRequest {
    fn validate(&self, _: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        type_label(&self.metadata)
    }
}

/// A label names the resolver.
fn type_label(metadata: &ObjectMeta) -> FieldErrors {
    let label = metadata
        .labels
        .as_ref()
        .and_then(|all| all.get(labels::RESOLVER_TYPE));
    if label.is_some_and(|label| !label.is_empty()) {
        return FieldErrors::none();
    }
    FieldErrors::missing(&[labels::RESOLVER_TYPE])
        .via_field("labels")
        .via_field("meta")
}
