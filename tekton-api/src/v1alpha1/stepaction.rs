//! StepActions: steps to be reused.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1alpha1/stepaction_types.go`.

use kube::core::ObjectMeta;

use crate::wire::resource;

/// What a StepAction does; the same as in v1beta1.
pub use crate::v1beta1::StepActionSpec;

/// A reusable step.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct StepAction {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: StepActionSpec,
}

resource!(StepAction: "tekton.dev", "v1alpha1", "stepactions", NamespaceResourceScope, StepActionSpec);
