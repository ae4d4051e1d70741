//! Columns that `kubectl get` shows.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition;

const DOUBLE_QUOTED_STATUS: &str = ".status.conditions[?(@.type==\"Succeeded\")].status";
const DOUBLE_QUOTED_REASON: &str = ".status.conditions[?(@.type==\"Succeeded\")].reason";
const STATUS: &str = ".status.conditions[?(@.type=='Succeeded')].status";
const REASON: &str = ".status.conditions[?(@.type=='Succeeded')].reason";
const DECIDED: &str = ".status.conditions[?(@.type=='Succeeded')].lastTransitionTime";

/// The sets of columns in use.
#[derive(Clone, Copy)]
pub(super) enum Columns {
    /// Of TaskRun, PipelineRun and CustomRun.
    Run,
    /// Of ResolutionRequest.
    Request,
    /// Of ResolutionRequest in v1alpha1.
    OldRequest,
}

impl Columns {
    /// The columns in their order.
    pub(super) fn definitions(self) -> Vec<CustomResourceColumnDefinition> {
        let columns: &[(&str, &str, &str)] = match self {
            Self::Run => &[
                ("Succeeded", "string", DOUBLE_QUOTED_STATUS),
                ("Reason", "string", DOUBLE_QUOTED_REASON),
                ("StartTime", "date", ".status.startTime"),
                ("CompletionTime", "date", ".status.completionTime"),
            ],
            Self::Request => &[
                ("OwnerKind", "string", ".metadata.ownerReferences[0].kind"),
                ("Owner", "string", ".metadata.ownerReferences[0].name"),
                ("Succeeded", "string", STATUS),
                ("Reason", "string", REASON),
                ("StartTime", "string", ".metadata.creationTimestamp"),
                ("EndTime", "string", DECIDED),
            ],
            Self::OldRequest => &[("Succeeded", "string", STATUS), ("Reason", "string", REASON)],
        };
        columns
            .iter()
            .map(|&(name, type_, json_path)| CustomResourceColumnDefinition {
                name: name.to_owned(),
                type_: type_.to_owned(),
                json_path: json_path.to_owned(),
                ..CustomResourceColumnDefinition::default()
            })
            .collect()
    }
}
