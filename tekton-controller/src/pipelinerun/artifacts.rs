//! Artifacts of ended tasks as variables: `tasks.NAME.outputs.ARTIFACT`, and the first one without its name.
//!
//! Upstream counterpart: `PropagateArtifacts` in `pkg/reconciler/pipelinerun/resources/apply.go`.

use tekton_api::substitute::Replacements;
use tekton_api::v1::Artifact;

use super::child::Child;
use super::state::{TaskKind, TaskState};

/// The variables, each with the values of the artifact as JSON.
pub(super) fn propagated<'a>(tasks: impl Iterator<Item = &'a TaskState>) -> Replacements {
    let mut known = Replacements::default();
    for task in tasks.filter(|task| task.kind == TaskKind::Task && task.has_ended()) {
        let (mut inputs, mut outputs): (Vec<Artifact>, Vec<Artifact>) = (Vec::new(), Vec::new());
        for child in &task.children {
            let Child::Task(run) = child else { continue };
            for artifacts in run.status.iter().filter_map(|status| status.artifacts.as_ref()) {
                merge(&mut inputs, &artifacts.inputs);
                merge(&mut outputs, &artifacts.outputs);
            }
        }
        for (kind, list) in [("inputs", inputs), ("outputs", outputs)] {
            for (index, artifact) in list.iter().enumerate() {
                let Ok(json) = serde_json::to_string(&artifact.values) else {
                    continue;
                };
                let base = format!("tasks.{}.{kind}", task.name());
                if index == 0 {
                    known.strings.insert(base.clone(), json.clone());
                }
                known.strings.insert(
                    format!("{base}.{}", artifact.name.as_deref().unwrap_or_default()),
                    json,
                );
            }
        }
    }
    known
}

/// Adds artifacts; values of one that is known already join it.
fn merge(known: &mut Vec<Artifact>, more: &[Artifact]) {
    for artifact in more {
        match known.iter_mut().find(|other| other.name == artifact.name) {
            Some(other) => {
                for value in &artifact.values {
                    if !other.values.contains(value) {
                        other.values.push(value.clone());
                    }
                }
            }
            None => known.push(artifact.clone()),
        }
    }
}
