//! Workspaces: bindings of a run become volumes, declarations of a task become mounts.
//!
//! [`apply`] is the step between a substituted [`TaskSpec`] and [`crate::build_pod`]. It works on the
//! specification, not on the pod, because step templates and workspaces meet there.
//! Upstream counterpart: `pkg/workspace/apply.go`.

mod isolated;
mod mounts;
mod volumes;

use tekton_api::v1::{TaskSpec, WorkspaceBinding, WorkspaceDeclaration};

pub use volumes::volumes;

/// Adds the bound workspaces to a specification: a volume for each, and mounts for all steps and sidecars,
/// or only for those which ask for the workspace by themselves. Bound workspaces that the task does not
/// declare are declared on the way.
///
/// Optional workspaces without binding need nothing; that required ones are bound was checked before.
///
/// ```
/// use tekton_api::v1::{TaskSpec, WorkspaceBinding};
///
/// let binding = WorkspaceBinding {
///     name: "source".to_owned(),
///     empty_dir: Some(Default::default()),
///     ..Default::default()
/// };
/// let spec = tekton_pod::workspace::apply(TaskSpec::default(), &[binding]);
/// assert_eq!(spec.volumes.len(), 1);
/// ```
pub fn apply(mut spec: TaskSpec, bindings: &[WorkspaceBinding]) -> TaskSpec {
    if bindings.is_empty() {
        return spec;
    }
    // Even if all workspaces are isolated there is a template from now on, and with it merging.
    spec.step_template.get_or_insert_default();
    let isolated = isolated::names(&spec);
    let mut added = Vec::new();
    for (binding, volume) in bindings.iter().zip(volumes(bindings)) {
        let declaration = declaration(&mut spec, &binding.name);
        let mount = mounts::mount(&declaration, binding, &volume.name);
        if isolated.contains(&binding.name) {
            isolated::mount(&mut spec, &binding.name, &mount);
        } else {
            mounts::share(&mut spec, &mount);
        }
        if !added.contains(&volume.name) {
            added.push(volume.name.clone());
            spec.volumes.push(volume);
        }
    }
    spec
}

/// The declaration of a bound workspace; one that the task lacks is propagated into it.
fn declaration(spec: &mut TaskSpec, name: &str) -> WorkspaceDeclaration {
    if let Some(declared) = spec.workspaces.iter().find(|declared| declared.name == name) {
        return declared.clone();
    }
    let propagated = WorkspaceDeclaration {
        name: name.to_owned(),
        ..WorkspaceDeclaration::default()
    };
    spec.workspaces.push(propagated.clone());
    propagated
}
