//! Substitution in a TaskSpec: params, context, results, artifacts, exit codes, credentials.
//!
//! The order in which these are applied is the reconciler's; workspaces are in `workspaces`.
//! Upstream counterpart: `pkg/reconciler/taskrun/resources/apply.go`.

use super::{container, volumes};
use crate::names::step_name;
use crate::substitute::Replacements;
use crate::v1::{Step, TaskRun, TaskSpec};

const STEPS_DIR: &str = "/tekton/steps";
const ARTIFACTS_DIR: &str = "/tekton/artifacts";
const RESULTS_DIR: &str = "/tekton/results";

/// Substitutes everywhere in a TaskSpec.
pub fn task_spec(spec: &mut TaskSpec, known: &Replacements) {
    for step in &mut spec.steps {
        for param in &mut step.params {
            param.value = known.param_value(&param.value);
        }
        container::step(step, known);
    }
    if let Some(template) = &mut spec.step_template {
        container::step_template(template, known);
    }
    for volume in &mut spec.volumes {
        volumes::volume(volume, known);
    }
    for workspace in &mut spec.workspaces {
        known.apply_option(&mut workspace.mount_path);
    }
    for sidecar in &mut spec.sidecars {
        container::sidecar(sidecar, known);
    }
}

/// `context.*` of a TaskRun.
pub fn context(task_name: &str, run: &TaskRun) -> Replacements {
    let retries = run
        .status
        .as_ref()
        .map_or(0, |status| status.retries_status.len());
    let metadata = &run.metadata;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    strings([
        ("context.taskRun.name".to_owned(), text(&metadata.name)),
        ("context.task.name".to_owned(), task_name.to_owned()),
        ("context.taskRun.namespace".to_owned(), text(&metadata.namespace)),
        ("context.taskRun.uid".to_owned(), text(&metadata.uid)),
        ("context.task.retry-count".to_owned(), retries.to_string()),
    ])
}

/// Puts the paths of step results and Task results in place of `step.results.*.path` and `results.*.path`.
pub fn result_paths(spec: &mut TaskSpec) {
    for (index, step) in spec.steps.iter_mut().enumerate() {
        let names: Vec<String> = step.results.iter().map(|result| result.name.clone()).collect();
        let dir = format!("{STEPS_DIR}/{}/results", step_name(&step.name, index));
        container::step(step, &paths("step.results", &dir, &names));
    }
    let names: Vec<String> = spec.results.iter().map(|result| result.name.clone()).collect();
    task_spec(spec, &paths("results", RESULTS_DIR, &names));
}

/// Puts the files in which artifacts are declared in place of `step.artifacts.path` and `artifacts.path`.
pub fn artifact_paths(spec: &mut TaskSpec) {
    for (index, step) in spec.steps.iter_mut().enumerate() {
        let dir = step_dir(step, index);
        let known = strings([
            (
                "step.artifacts.path".to_owned(),
                format!("{dir}/artifacts/provenance.json"),
            ),
            (
                "artifacts.path".to_owned(),
                format!("{ARTIFACTS_DIR}/provenance.json"),
            ),
        ]);
        container::step(step, &known);
    }
}

/// Puts the files with exit codes in place of `steps.CONTAINER.exitCode.path`.
pub fn exit_code_paths(spec: &mut TaskSpec) {
    let known = strings(spec.steps.iter().enumerate().map(|(index, step)| {
        let name = step_name(&step.name, index);
        (
            format!("steps.{name}.exitCode.path"),
            format!("{}/exitCode", step_dir(step, index)),
        )
    }));
    task_spec(spec, &known);
}

/// Puts the directory of credentials in place of `credentials.path`.
pub fn credentials_path(spec: &mut TaskSpec, dir: &str) {
    task_spec(spec, &strings([("credentials.path".to_owned(), dir.to_owned())]));
}

fn step_dir(step: &Step, index: usize) -> String {
    format!("{STEPS_DIR}/{}", step_name(&step.name, index))
}

fn paths(prefix: &str, dir: &str, names: &[String]) -> Replacements {
    strings(names.iter().flat_map(|name| {
        [
            format!("{prefix}.{name}.path"),
            format!("{prefix}[\"{name}\"].path"),
            format!("{prefix}['{name}'].path"),
        ]
        .map(|variable| (variable, format!("{dir}/{name}")))
    }))
}

fn strings(entries: impl IntoIterator<Item = (String, String)>) -> Replacements {
    Replacements {
        strings: entries.into_iter().collect(),
        ..Replacements::default()
    }
}
