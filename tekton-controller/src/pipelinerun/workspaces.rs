//! Which volumes a child gets for its workspaces.
//!
//! Upstream counterpart: `getTaskrunWorkspaces` in `pkg/reconciler/pipelinerun/pipelinerun.go`.

use k8s_openapi::api::core::v1::PersistentVolumeClaimVolumeSource;
use tekton_api::config::Coschedule;
use tekton_api::v1::{TaskSpec, WorkspaceBinding, WorkspacePipelineTaskBinding};

use super::draft::Draft;
use super::state::{TaskKind, TaskState};
use super::{affinity, contexts};

/// Bindings for a child, and the workspace of the pipeline whose claim decides on its node.
#[derive(Clone, Debug, Default)]
pub(super) struct Bound {
    pub(super) bindings: Vec<WorkspaceBinding>,
    pub(super) claim_workspace: String,
}

/// The bindings of a Task's or custom task's children.
///
/// # Errors
/// A required workspace is not bound by the run.
pub(super) fn of_task(draft: &Draft, task: &TaskState, coschedule: Coschedule) -> Result<Bound, String> {
    let mut wanted = task.task.workspaces.clone();
    if let Some(embedded) = &task.task.task_spec {
        for name in used_by(&embedded.task_spec) {
            if !wanted.iter().any(|workspace| workspace.name == name) {
                wanted.push(WorkspacePipelineTaskBinding {
                    name,
                    ..WorkspacePipelineTaskBinding::default()
                });
            }
        }
    }
    let mut bound = Bound::default();
    for workspace in &wanted {
        let of_pipeline = of_pipeline(workspace);
        if let Some(binding) = draft
            .run
            .spec
            .workspaces
            .iter()
            .rev()
            .find(|binding| binding.name == of_pipeline)
        {
            bound.add(draft, binding, workspace, coschedule);
            continue;
        }
        let optional = task
            .resolved
            .iter()
            .flat_map(|resolved| &resolved.spec.workspaces)
            .any(|declaration| {
                declaration.name == workspace.name && declaration.optional.unwrap_or_default()
            });
        if !optional {
            return Err(format!(
                "expected workspace \"{of_pipeline}\" to be provided by pipelinerun for pipeline task \"{}\"",
                task.name()
            ));
        }
    }
    let pipeline = draft
        .run
        .spec
        .pipeline_ref
        .as_ref()
        .and_then(|reference| reference.name.as_deref());
    let names = contexts::of_names(&draft.run, pipeline.unwrap_or_default());
    for binding in &mut bound.bindings {
        names.apply_option(&mut binding.sub_path);
    }
    Ok(bound)
}

/// The bindings of a child pipeline; those that the run lacks are left to the child to miss.
pub(super) fn of_pipeline_task(
    draft: &Draft,
    task: &TaskState,
    coschedule: Coschedule,
) -> Vec<WorkspaceBinding> {
    debug_assert_eq!(task.kind, TaskKind::Pipeline, "only pipelines are bound this way");
    let mut bound = Bound::default();
    for workspace in &task.task.workspaces {
        let name = of_pipeline(workspace);
        if let Some(binding) = draft
            .run
            .spec
            .workspaces
            .iter()
            .rev()
            .find(|binding| binding.name == name)
        {
            bound.add(draft, binding, workspace, coschedule);
        }
    }
    bound.bindings
}

fn of_pipeline(workspace: &WorkspacePipelineTaskBinding) -> &str {
    let named = workspace.workspace.as_deref().filter(|name| !name.is_empty());
    named.unwrap_or(&workspace.name)
}

impl Bound {
    fn add(
        &mut self,
        draft: &Draft,
        binding: &WorkspaceBinding,
        workspace: &WorkspacePipelineTaskBinding,
        coschedule: Coschedule,
    ) {
        if binding.persistent_volume_claim.is_some() || binding.volume_claim_template.is_some() {
            of_pipeline(workspace).clone_into(&mut self.claim_workspace);
        }
        let sub_path = combined(binding.sub_path.as_deref(), workspace.sub_path.as_deref());
        self.bindings.push(match &binding.volume_claim_template {
            None => WorkspaceBinding {
                name: workspace.name.clone(),
                sub_path,
                ..binding.clone()
            },
            Some(_) => WorkspaceBinding {
                name: workspace.name.clone(),
                sub_path,
                persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                    claim_name: affinity::claim_name(draft, binding, coschedule),
                    ..PersistentVolumeClaimVolumeSource::default()
                }),
                ..WorkspaceBinding::default()
            },
        });
    }
}

/// Both sub-paths joined and cleaned, or the one that is given.
fn combined(of_binding: Option<&str>, of_task: Option<&str>) -> Option<String> {
    let (of_binding, of_task) = (of_binding.unwrap_or_default(), of_task.unwrap_or_default());
    let path = match (of_binding, of_task) {
        ("", path) | (path, "") => path.to_owned(),
        (first, second) => clean(&format!("{first}/{second}")),
    };
    Some(path).filter(|path| !path.is_empty())
}

/// Go's `filepath.Clean`.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(part),
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Names of workspaces that a Task refers to by variable, in steps, sidecars and step template.
fn used_by(spec: &TaskSpec) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    let mut texts: Vec<&str> = Vec::new();
    for step in &spec.steps {
        texts.extend(step.script.as_deref());
        texts.extend(step.command.iter().chain(&step.args).map(String::as_str));
        texts.extend(step.working_dir.as_deref());
        texts.extend(step.env.iter().filter_map(|variable| variable.value.as_deref()));
        found.extend(step.workspaces.iter().map(|usage| usage.name.clone()));
    }
    for sidecar in &spec.sidecars {
        texts.extend(sidecar.script.as_deref());
        texts.extend(sidecar.command.iter().chain(&sidecar.args).map(String::as_str));
        texts.extend(sidecar.working_dir.as_deref());
        texts.extend(
            sidecar
                .env
                .iter()
                .filter_map(|variable| variable.value.as_deref()),
        );
        found.extend(sidecar.workspaces.iter().map(|usage| usage.name.clone()));
    }
    if let Some(template) = &spec.step_template {
        texts.extend(template.command.iter().chain(&template.args).map(String::as_str));
        texts.extend(template.working_dir.as_deref());
        texts.extend(
            template
                .env
                .iter()
                .filter_map(|variable| variable.value.as_deref()),
        );
    }
    for text in texts {
        found.extend(tekton_api::substitute::scan::variables(text, "workspaces").names);
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_paths_are_joined() {
        assert_eq!(combined(Some("a/"), Some("../b")).as_deref(), Some("b"));
        assert_eq!(combined(None, Some("b/")).as_deref(), Some("b/"));
        assert_eq!(combined(None, None), None);
    }
}
