//! Declarations and bindings of workspaces.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/workspace_types.go`.

use k8s_openapi::api::core::v1::{
    CSIVolumeSource, ConfigMapVolumeSource, EmptyDirVolumeSource, PersistentVolumeClaim,
    PersistentVolumeClaimVolumeSource, ProjectedVolumeSource, SecretVolumeSource,
};

use crate::wire::wire_struct;

wire_struct! {
/// Declares a workspace of a Task.
pub struct WorkspaceDeclaration {
    /// The name to which a volume is bound.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// What the workspace is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// Where it is mounted instead of `/workspace/NAME`.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub mount_path: Option<String>,
    /// Whether the steps may not write.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub read_only: Option<bool>,
    /// Whether a run may leave it unbound.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub optional: Option<bool>,
}
}

wire_struct! {
/// Binds a workspace to a volume.
pub struct WorkspaceBinding {
    /// The workspace's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The directory on the volume, instead of its root.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub sub_path: Option<String>,
    /// A claim to be made for this run.
    #[serde(
        serialize_with = "crate::wire::kubernetes::claim",
        deserialize_with = "crate::wire::kubernetes::optional",
        skip_serializing_if = "Option::is_none",
    )]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub volume_claim_template: Option<PersistentVolumeClaim>,
    /// An existing claim.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim: Option<PersistentVolumeClaimVolumeSource>,
    /// A directory that lives as long as the pod.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub empty_dir: Option<EmptyDirVolumeSource>,
    /// A ConfigMap's entries as files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapVolumeSource>,
    /// A Secret's entries as files.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretVolumeSource>,
    /// Several sources in one directory.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub projected: Option<ProjectedVolumeSource>,
    /// A volume of a storage driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csi: Option<CSIVolumeSource>,
}
}

wire_struct! {
/// Declares a workspace of a Pipeline.
pub struct PipelineWorkspaceDeclaration {
    /// The name to which the run binds a volume.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// What the workspace is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// Whether a run may leave it unbound.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub optional: Option<bool>,
}
}

wire_struct! {
/// Hands a workspace of the Pipeline to a task.
pub struct WorkspacePipelineTaskBinding {
    /// The name declared by the task.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The name declared by the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub workspace: Option<String>,
    /// The directory on the volume, instead of its root.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub sub_path: Option<String>,
}
}

wire_struct! {
/// Gives a step or sidecar access to a workspace that the others lack.
pub struct WorkspaceUsage {
    /// The workspace's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Where it is mounted in this container.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub mount_path: String,
}
}

impl WorkspaceDeclaration {
    /// Where the workspace is mounted.
    pub fn mount_path(&self) -> String {
        match self.mount_path.as_deref() {
            Some(path) if !path.is_empty() => path.to_owned(),
            _ => crate::paths::workspace(&self.name),
        }
    }
}
