//! ResolutionRequests, whose parameters are texts only in v1alpha1.
//!
//! As upstream, conditions, status annotations and the address are lost on the way.
//! Upstream counterpart: `pkg/apis/resolution/v1alpha1/resolution_request_conversion.go`.

use super::{Convert, ConvertError};
use crate::resolution::{v1alpha1, v1beta1};
use crate::v1::{Param, ParamValue};

impl Convert<v1alpha1::ResolutionRequest> for v1beta1::ResolutionRequest {
    fn into_hub(self) -> Result<v1alpha1::ResolutionRequest, ConvertError> {
        let mut others = Vec::new();
        let mut spec = v1alpha1::ResolutionRequestSpec::default();
        for param in self.spec.params {
            match param.value {
                ParamValue::String(text) => {
                    spec.params.insert(param.name, text);
                }
                ParamValue::Array(_) | ParamValue::Object(_) => others.push(param.name),
            }
        }
        if !others.is_empty() {
            return Err(ConvertError::NotText(others.join(", ")));
        }
        let status = self.status.map(|status| v1alpha1::ResolutionRequestStatus {
            data: status.data,
            ref_source: status.ref_source.or(status.source),
            ..v1alpha1::ResolutionRequestStatus::default()
        });
        Ok(v1alpha1::ResolutionRequest {
            metadata: self.metadata,
            spec,
            status,
        })
    }

    fn from_hub(hub: v1alpha1::ResolutionRequest) -> Result<Self, ConvertError> {
        let params = hub
            .spec
            .params
            .into_iter()
            .map(|(name, text)| Param::new(name, text))
            .collect();
        let status = hub.status.map(|status| v1beta1::ResolutionRequestStatus {
            data: status.data,
            ref_source: status.ref_source,
            ..v1beta1::ResolutionRequestStatus::default()
        });
        Ok(Self {
            metadata: hub.metadata,
            spec: v1beta1::ResolutionRequestSpec { params, url: None },
            status,
        })
    }
}
