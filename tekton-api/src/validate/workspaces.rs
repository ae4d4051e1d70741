//! Checks on declared, used and bound workspaces.
//!
//! Upstream counterparts: `workspace_validation.go`, and parts of `task_validation.go`,
//! `pipeline_validation.go` and `taskrun_validation.go` in `pkg/apis/pipeline/v1`.

use std::collections::BTreeSet;

use super::names::clean_path;
use super::params::no_duplicate_names;
use super::{Context, text};
use crate::config::ApiFields;
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::v1::{PipelineTask, PipelineWorkspaceDeclaration, TaskSpec, WorkspaceBinding, WorkspaceUsage};

const VOLUME_SOURCES: [&str; 5] = [
    "persistentvolumeclaim",
    "volumeclaimtemplate",
    "emptydir",
    "configmap",
    "secret",
];

/// Workspaces of a Task have names and places of their own.
pub(super) fn declared(spec: &TaskSpec) -> FieldErrors {
    let steps = spec.steps.iter().flat_map(|step| &step.volume_mounts);
    let template = spec
        .step_template
        .iter()
        .flat_map(|template| &template.volume_mounts);
    let mut paths: BTreeSet<String> = steps
        .chain(template)
        .map(|mount| clean_path(&mount.mount_path))
        .collect();
    let mut names = BTreeSet::new();
    let mut errors = FieldErrors::none();
    for (index, workspace) in spec.workspaces.iter().enumerate() {
        if !names.insert(&workspace.name) {
            let message = format!("workspace name {} must be unique", quote(&workspace.name));
            errors.add(FieldErrors::new(message, &["name"]).via_index(index));
        }
        let path = match text(workspace.mount_path.as_ref()) {
            "" => clean_path(&format!("/workspace/{}", workspace.name)),
            path => clean_path(path),
        };
        if paths.contains(&path) {
            let message = format!("workspace mount path {} must be unique", quote(&path));
            errors.add(FieldErrors::new(message, &["mountpath"]).via_index(index));
        }
        paths.insert(path);
    }
    errors
}

/// Steps and sidecars use declared workspaces.
pub(super) fn usages(spec: &TaskSpec, context: &Context<'_>) -> FieldErrors {
    let declared: BTreeSet<&str> = spec
        .workspaces
        .iter()
        .map(|workspace| workspace.name.as_str())
        .collect();
    let mut errors = FieldErrors::none();
    for (index, step) in spec.steps.iter().enumerate() {
        let found = used(&step.workspaces, "step workspaces", &declared, context);
        errors.add(found.via_field_index("steps", index));
    }
    for (index, sidecar) in spec.sidecars.iter().enumerate() {
        let found = used(&sidecar.workspaces, "sidecar workspaces", &declared, context);
        errors.add(found.via_field_index("sidecars", index));
    }
    errors
}

fn used(
    usages: &[WorkspaceUsage],
    feature: &str,
    declared: &BTreeSet<&str>,
    context: &Context<'_>,
) -> FieldErrors {
    if usages.is_empty() {
        return FieldErrors::none();
    }
    let mut errors = context.requires(feature, ApiFields::Beta);
    for (index, usage) in usages.iter().enumerate() {
        if !declared.contains(usage.name.as_str()) {
            let message = format!("undefined workspace {}", quote(&usage.name));
            errors.add(FieldErrors::new(message, &["name"]).via_field_index("workspaces", index));
        }
    }
    errors
}

/// Workspaces of a Pipeline have names, each its own.
pub(super) fn pipeline_declared(workspaces: &[PipelineWorkspaceDeclaration]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut names = BTreeSet::new();
    for (index, workspace) in workspaces.iter().enumerate() {
        if workspace.name.is_empty() {
            let error = FieldErrors::invalid_value(format!("workspace {index} has empty name"), "");
            errors.add(error.via_field_index("workspaces", index));
        }
        if !names.insert(&workspace.name) {
            let message = format!(
                "workspace with name {} appears more than once",
                quote(&workspace.name)
            );
            errors.add(FieldErrors::invalid_value(message, "").via_field_index("workspaces", index));
        }
    }
    errors
}

/// A pipeline task is bound to workspaces that are known, each once.
pub(super) fn pipeline_task(task: &PipelineTask, known: &BTreeSet<&str>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut names = BTreeSet::new();
    for (index, binding) in task.workspaces.iter().enumerate() {
        if !names.insert(&binding.name) {
            let message = format!("workspace name {} must be unique", quote(&binding.name));
            errors.add(FieldErrors::new(message, &[""]).via_field_index("workspaces", index));
        }
        let wanted = match text(binding.workspace.as_ref()) {
            "" => binding.name.as_str(),
            workspace => workspace,
        };
        if !known.contains(wanted) {
            let message = format!(
                "pipeline task {} expects workspace with name {} but none exists in pipeline spec",
                quote(task.name()),
                quote(wanted)
            );
            errors.add(FieldErrors::invalid_value(message, "").via_field_index("workspaces", index));
        }
    }
    errors
}

/// Bindings of a TaskRun.
pub(super) fn bindings(bindings: &[WorkspaceBinding]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, binding) in bindings.iter().enumerate() {
        errors.add(self::binding(binding).via_index(index));
    }
    errors.and(no_duplicate_names(
        bindings.iter().map(|binding| binding.name.as_str()),
        true,
    ))
}

/// A binding names one volume, completely.
pub fn binding(binding: &WorkspaceBinding) -> FieldErrors {
    if *binding == WorkspaceBinding::default() {
        return FieldErrors::missing(&[""]);
    }
    let sources = [
        binding.volume_claim_template.is_some(),
        binding.persistent_volume_claim.is_some(),
        binding.empty_dir.is_some(),
        binding.config_map.is_some(),
        binding.secret.is_some(),
        binding.projected.is_some(),
        binding.csi.is_some(),
    ];
    match sources.into_iter().filter(|is_given| *is_given).count() {
        0 => return FieldErrors::missing_one_of(&VOLUME_SOURCES),
        1 => {}
        _ => return FieldErrors::multiple_one_of(&VOLUME_SOURCES),
    }
    let claim = binding.persistent_volume_claim.as_ref();
    let config_map = binding.config_map.as_ref();
    let secret = binding.secret.as_ref();
    let projected = binding.projected.as_ref();
    if claim.is_some_and(|claim| claim.claim_name.is_empty()) {
        FieldErrors::missing(&["persistentvolumeclaim.claimname"])
    } else if config_map.is_some_and(|config_map| config_map.name.is_empty()) {
        FieldErrors::missing(&["configmap.name"])
    } else if secret.is_some_and(|secret| text(secret.secret_name.as_ref()).is_empty()) {
        FieldErrors::missing(&["secret.secretName"])
    } else if projected.is_some_and(|projected| projected.sources.as_ref().is_none_or(Vec::is_empty)) {
        FieldErrors::missing(&["projected.sources"])
    } else if binding.csi.as_ref().is_some_and(|csi| csi.driver.is_empty()) {
        FieldErrors::missing(&["csi.driver"])
    } else {
        FieldErrors::none()
    }
}
