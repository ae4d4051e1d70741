//! Substitution of workspace variables, and of params in workspace bindings.
//!
//! Upstream counterpart: `ApplyWorkspaces` in `pkg/reconciler/taskrun/resources/apply.go`, `pkg/workspace`.

use std::collections::BTreeMap;

use super::{container, task_spec, volumes};
use crate::substitute::Replacements;
use crate::v1::{TaskSpec, WorkspaceBinding, WorkspaceDeclaration};

/// Substitutes `workspaces.NAME.{path,bound,volume,claim}` in a TaskSpec. `volume_names` maps workspaces to the
/// volumes they are bound to.
pub fn workspaces(
    spec: &mut TaskSpec,
    bindings: &[WorkspaceBinding],
    volume_names: &BTreeMap<String, String>,
) {
    let mut known = Replacements::default();
    for declaration in spec.workspaces.clone() {
        let bound = bindings.iter().any(|binding| binding.name == declaration.name);
        let prefix = format!("workspaces.{}.", declaration.name);
        let is_there = bound || !declaration.optional.unwrap_or_default();
        known
            .strings
            .insert(format!("{prefix}bound"), is_there.to_string());
        if is_there {
            mount_path(spec, &declaration, &format!("{prefix}path"));
        } else {
            known.strings.insert(format!("{prefix}path"), String::new());
        }
    }
    for (workspace, volume) in volume_names {
        known
            .strings
            .insert(format!("workspaces.{workspace}.volume"), volume.clone());
    }
    for binding in bindings {
        let claim = binding
            .persistent_volume_claim
            .as_ref()
            .map(|claim| claim.claim_name.clone());
        known.strings.insert(
            format!("workspaces.{}.claim", binding.name),
            claim.unwrap_or_default(),
        );
    }
    task_spec::task_spec(spec, &known);
}

/// Declares workspaces that are bound but not declared.
pub fn propagate(spec: &mut TaskSpec, bindings: &[WorkspaceBinding]) {
    let declared: Vec<String> = spec
        .workspaces
        .iter()
        .map(|declaration| declaration.name.clone())
        .collect();
    for binding in bindings
        .iter()
        .filter(|binding| !declared.contains(&binding.name))
    {
        spec.workspaces.push(WorkspaceDeclaration {
            name: binding.name.clone(),
            ..WorkspaceDeclaration::default()
        });
    }
}

/// The path of a workspace: in steps and sidecars that mount it elsewhere that place, else the declared one.
fn mount_path(spec: &mut TaskSpec, declaration: &WorkspaceDeclaration, variable: &str) {
    let known = |path: &str| Replacements {
        strings: BTreeMap::from([(variable.to_owned(), path.to_owned())]),
        ..Replacements::default()
    };
    for step in &mut spec.steps {
        for usage in step.workspaces.clone() {
            if usage.name == declaration.name && !usage.mount_path.is_empty() {
                container::step(step, &known(&usage.mount_path));
            }
        }
    }
    for sidecar in &mut spec.sidecars {
        for usage in sidecar.workspaces.clone() {
            if usage.name == declaration.name && !usage.mount_path.is_empty() {
                container::sidecar(sidecar, &known(&usage.mount_path));
            }
        }
    }
    task_spec::task_spec(spec, &known(&declaration.mount_path()));
}

/// Substitutes in the bindings of a run.
pub fn bindings(bindings: &mut [WorkspaceBinding], known: &Replacements) {
    for binding in bindings {
        known.apply_option(&mut binding.sub_path);
        if let Some(claim) = &mut binding.persistent_volume_claim {
            known.apply_string(&mut claim.claim_name);
        }
        if let Some(config_map) = &mut binding.config_map {
            known.apply_string(&mut config_map.name);
            volumes::items(&mut config_map.items, known);
        }
        if let Some(secret) = &mut binding.secret {
            known.apply_option(&mut secret.secret_name);
            volumes::items(&mut secret.items, known);
        }
        let sources = binding
            .projected
            .iter_mut()
            .flat_map(|projected| projected.sources.iter_mut().flatten());
        for source in sources {
            if let Some(config_map) = &mut source.config_map {
                known.apply_string(&mut config_map.name);
                volumes::items(&mut config_map.items, known);
            }
            if let Some(secret) = &mut source.secret {
                known.apply_string(&mut secret.name);
                volumes::items(&mut secret.items, known);
            }
        }
        if let Some(csi) = &mut binding.csi {
            known.apply_string(&mut csi.driver);
            if let Some(secret) = &mut csi.node_publish_secret_ref {
                known.apply_string(&mut secret.name);
            }
        }
    }
}
