//! CustomResourceDefinitions of all kinds, generated from the types.
//!
//! Names, versions, columns and conversion equal upstream's, and so does what the schemas accept and
//! drop; only descriptions differ. Upstream counterpart: `config/300-crds`.

mod columns;
mod schema;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceStatus,
    CustomResourceSubresources, CustomResourceValidation, ServiceReference, WebhookClientConfig,
    WebhookConversion,
};
use kube::core::{ObjectMeta, Resource};
use schemars::JsonSchema;

use crate::{resolution, v1, v1alpha1, v1beta1};
use columns::Columns;

/// Where the conversion webhook of an installation runs.
const WEBHOOK_NAME: &str = "tekton-pipelines-webhook";
const WEBHOOK_NAMESPACE: &str = "tekton-pipelines";

/// All definitions, in alphabetical order of their names.
///
/// ```
/// let names: Vec<_> = tekton_api::crd::all().into_iter().filter_map(|crd| crd.metadata.name).collect();
/// assert!(names.contains(&"taskruns.tekton.dev".to_owned()));
/// ```
pub fn all() -> Vec<CustomResourceDefinition> {
    vec![
        custom_run(),
        pipeline(),
        pipeline_run(),
        resolution_request(),
        step_action(),
        task(),
        task_run(),
        verification_policy(),
    ]
}

/// The definition of CustomRun.
pub fn custom_run() -> CustomResourceDefinition {
    Definition::new::<v1beta1::CustomRun>(&[])
        .version::<v1beta1::CustomRun>(Stage::Stored, Some(Columns::Run), true)
        .build(None)
}

/// The definition of Pipeline.
pub fn pipeline() -> CustomResourceDefinition {
    Definition::new::<v1::Pipeline>(&[])
        .version::<v1beta1::Pipeline>(Stage::Served, None, true)
        .version::<v1::Pipeline>(Stage::Stored, None, true)
        .build(Some(["v1beta1", "v1"]))
}

/// The definition of PipelineRun.
pub fn pipeline_run() -> CustomResourceDefinition {
    Definition::new::<v1::PipelineRun>(&["pr", "prs"])
        .version::<v1beta1::PipelineRun>(Stage::Served, Some(Columns::Run), true)
        .version::<v1::PipelineRun>(Stage::Stored, Some(Columns::Run), true)
        .build(Some(["v1beta1", "v1"]))
}

/// The definition of ResolutionRequest.
pub fn resolution_request() -> CustomResourceDefinition {
    Definition::new::<resolution::v1beta1::ResolutionRequest>(&[])
        .version::<resolution::v1alpha1::ResolutionRequest>(
            Stage::Deprecated,
            Some(Columns::OldRequest),
            true,
        )
        .version::<resolution::v1beta1::ResolutionRequest>(Stage::Stored, Some(Columns::Request), true)
        .build(Some(["v1alpha1", "v1beta1"]))
}

/// The definition of StepAction.
pub fn step_action() -> CustomResourceDefinition {
    Definition::new::<v1beta1::StepAction>(&[])
        .version::<v1alpha1::StepAction>(Stage::Served, None, true)
        .version::<v1beta1::StepAction>(Stage::Stored, None, true)
        .build(Some(["v1alpha1", "v1beta1"]))
}

/// The definition of Task.
pub fn task() -> CustomResourceDefinition {
    Definition::new::<v1::Task>(&[])
        .version::<v1beta1::Task>(Stage::Served, None, true)
        .version::<v1::Task>(Stage::Stored, None, true)
        .build(Some(["v1beta1", "v1"]))
}

/// The definition of TaskRun.
pub fn task_run() -> CustomResourceDefinition {
    Definition::new::<v1::TaskRun>(&["tr", "trs"])
        .version::<v1beta1::TaskRun>(Stage::Served, Some(Columns::Run), true)
        .version::<v1::TaskRun>(Stage::Stored, Some(Columns::Run), true)
        .build(Some(["v1beta1", "v1"]))
}

/// The definition of VerificationPolicy.
pub fn verification_policy() -> CustomResourceDefinition {
    Definition::new::<v1alpha1::VerificationPolicy>(&[])
        .version::<v1alpha1::VerificationPolicy>(Stage::Stored, None, false)
        .build(None)
}

/// What a version is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Objects are stored in it.
    Stored,
    /// Objects are converted to and from it.
    Served,
    /// As [`Stage::Served`], with a warning.
    Deprecated,
}

/// A definition in the making.
struct Definition {
    group: String,
    names: CustomResourceDefinitionNames,
    versions: Vec<CustomResourceDefinitionVersion>,
}

impl Definition {
    fn new<T: Resource<DynamicType = ()>>(short_names: &[&str]) -> Self {
        let kind = T::kind(&()).into_owned();
        Self {
            group: T::group(&()).into_owned(),
            names: CustomResourceDefinitionNames {
                singular: Some(kind.to_lowercase()),
                kind,
                plural: T::plural(&()).into_owned(),
                categories: Some(vec!["tekton".to_owned(), "tekton-pipelines".to_owned()]),
                short_names: (!short_names.is_empty())
                    .then(|| short_names.iter().map(|&name| name.to_owned()).collect()),
                list_kind: None,
            },
            versions: Vec::new(),
        }
    }

    fn version<T>(mut self, stage: Stage, columns: Option<Columns>, status: bool) -> Self
    where
        T: Resource<DynamicType = ()> + JsonSchema,
    {
        self.versions.push(CustomResourceDefinitionVersion {
            name: T::version(&()).into_owned(),
            served: true,
            storage: stage == Stage::Stored,
            deprecated: (stage == Stage::Deprecated).then_some(true),
            additional_printer_columns: columns.map(Columns::definitions),
            schema: Some(CustomResourceValidation {
                open_api_v3_schema: schema::of::<T>(),
            }),
            subresources: status.then(|| CustomResourceSubresources {
                status: Some(CustomResourceSubresourceStatus(serde_json::json!({}))),
                scale: None,
            }),
            ..CustomResourceDefinitionVersion::default()
        });
        self
    }

    fn build(self, convertible: Option<[&str; 2]>) -> CustomResourceDefinition {
        let conversion = convertible.map(|versions| CustomResourceConversion {
            strategy: "Webhook".to_owned(),
            webhook: Some(WebhookConversion {
                conversion_review_versions: versions.map(str::to_owned).into(),
                client_config: Some(WebhookClientConfig {
                    service: Some(ServiceReference {
                        name: WEBHOOK_NAME.to_owned(),
                        namespace: WEBHOOK_NAMESPACE.to_owned(),
                        ..ServiceReference::default()
                    }),
                    ..WebhookClientConfig::default()
                }),
            }),
        });
        CustomResourceDefinition {
            metadata: ObjectMeta {
                name: Some(format!("{}.{}", self.names.plural, self.group)),
                labels: Some(labels(&self.group)),
                ..ObjectMeta::default()
            },
            spec: CustomResourceDefinitionSpec {
                group: self.group,
                names: self.names,
                scope: "Namespaced".to_owned(),
                versions: self.versions,
                conversion,
                preserve_unknown_fields: None,
            },
            status: None,
        }
    }
}

/// Labels by which installers find the definitions.
fn labels(group: &str) -> BTreeMap<String, String> {
    let version = env!("CARGO_PKG_VERSION");
    let labels: &[(&str, &str)] = if group == crate::labels::RESOLUTION_GROUP {
        &[("resolution.tekton.dev/release", version)]
    } else {
        &[
            (crate::labels::APP_INSTANCE, "default"),
            ("app.kubernetes.io/part-of", "tekton-pipelines"),
            (crate::labels::RELEASE, version),
            ("version", version),
        ]
    };
    labels
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}
