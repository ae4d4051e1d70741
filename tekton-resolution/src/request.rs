//! The ResolutionRequest that a run makes, and the data that comes back in it.
//!
//! Upstream counterpart: `pkg/resolution/resource`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use tekton_api::labels;
use tekton_api::resolution::v1beta1::{ResolutionRequest, ResolutionRequestSpec};
use tekton_api::v1::Param;

use crate::ResolveError;

/// The request for a resource, owned by the run that needs it.
pub fn resolution_request(
    resolver: &str,
    name: &str,
    namespace: &str,
    params: &[Param],
    owner: OwnerReference,
) -> ResolutionRequest {
    ResolutionRequest {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some([(labels::RESOLVER_TYPE.to_owned(), resolver.to_owned())].into()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: ResolutionRequestSpec {
            params: params.to_vec(),
            ..ResolutionRequestSpec::default()
        },
        ..ResolutionRequest::default()
    }
}

/// The bytes that a resolver wrote into `status.data`.
pub fn decode_data(encoded: &str) -> Result<Vec<u8>, ResolveError> {
    STANDARD
        .decode(encoded)
        .map_err(|error| ResolveError::new(format!("error decoding data from base64: {error}")))
}
