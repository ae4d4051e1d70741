//! Claims made from the templates in workspace bindings, one for each run and workspace.
//!
//! Upstream counterpart: `pkg/reconciler/volumeclaim`.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PersistentVolumeClaimVolumeSource};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use tekton_api::names;
use tekton_api::v1::WorkspaceBinding;

use crate::plan::{Answers, ApiFailure, Ask, ObjectRef, Waiting};

/// The claim for a binding with a template; `None` for other bindings.
pub(crate) fn claim(
    binding: &WorkspaceBinding,
    owner: &OwnerReference,
    namespace: &str,
) -> Option<PersistentVolumeClaim> {
    let mut claim = binding.volume_claim_template.clone()?;
    claim.metadata.name = Some(claim_name(binding, &claim, owner));
    claim.metadata.namespace = Some(namespace.to_owned());
    claim.metadata.owner_references = Some(vec![owner.clone()]);
    Some(claim)
}

/// Creates the claims that do not exist. The inner error says which one could not be created.
pub(crate) fn ensure(
    bindings: &[WorkspaceBinding],
    owner: &OwnerReference,
    namespace: &str,
    answers: &Answers,
) -> Result<Result<(), String>, Waiting> {
    for claim in bindings
        .iter()
        .filter_map(|binding| claim(binding, owner, namespace))
    {
        let name = claim.metadata.name.clone().unwrap_or_default();
        let target = ObjectRef::new("v1", "PersistentVolumeClaim", namespace, &name);
        match answers.ask(Ask::Get(target))? {
            Ok(_) => continue,
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => return Ok(Err(format!("failed to retrieve PVC {name}: {}", failure.message))),
        }
        let object = serde_json::to_value(&claim).unwrap_or_default();
        match answers.ask(Ask::Create {
            object,
            dry_run: false,
        })? {
            Err(failure) if !failure.is_already_exists() => {
                let kind = if is_retryable(failure) {
                    "PVC creation error, retryable"
                } else {
                    "PVC creation error"
                };
                return Ok(Err(format!("{kind} for {name}: {}", failure.message)));
            }
            _ => {}
        }
    }
    Ok(Ok(()))
}

/// The bindings with their claims in the place of templates.
pub(crate) fn bound(bindings: &[WorkspaceBinding], owner: &OwnerReference) -> Vec<WorkspaceBinding> {
    let bind = |binding: &WorkspaceBinding| match &binding.volume_claim_template {
        Some(template) => WorkspaceBinding {
            name: binding.name.clone(),
            sub_path: binding.sub_path.clone(),
            persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                claim_name: claim_name(binding, template, owner),
                ..PersistentVolumeClaimVolumeSource::default()
            }),
            ..WorkspaceBinding::default()
        },
        None => binding.clone(),
    };
    bindings.iter().map(bind).collect()
}

fn claim_name(
    binding: &WorkspaceBinding,
    template: &PersistentVolumeClaim,
    owner: &OwnerReference,
) -> String {
    names::volume_claim(
        template.metadata.name.as_deref().unwrap_or_default(),
        &binding.name,
        &owner.uid,
    )
}

fn is_retryable(failure: &ApiFailure) -> bool {
    (failure.is_forbidden() && failure.message.contains("exceeded quota")) || failure.is_conflict()
}
