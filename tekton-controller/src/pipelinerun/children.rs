//! Child references: taken from the labels of children that the status does not know yet, and written anew
//! from the state at the end of a pass.
//!
//! Upstream counterparts: `updatePipelineRunStatusFromInformer` in `pkg/reconciler/pipelinerun/pipelinerun.go`,
//! `GetChildReferences` in `resources/pipelinerunstate.go`.

use std::collections::BTreeMap;

use serde_json::Value;
use tekton_api::labels;
use tekton_api::substitute::Replacements;
use tekton_api::v1::{ChildStatusReference, ParamValue};

use super::child::Child;
use super::draft::{Draft, Halt};
use super::state::TaskState;
use crate::plan::{Answers, Ask, ObjectRef};

/// Kinds of children with the API versions that their references show.
const KINDS: [(&str, &str); 3] = [
    ("PipelineRun", "tekton.dev/v1"),
    ("TaskRun", "tekton.dev/v1"),
    ("CustomRun", "tekton.dev/v1beta1"),
];

/// Adds references to children that were created but not recorded.
pub(super) fn recover(draft: &mut Draft, answers: &Answers) -> Result<(), Halt> {
    let selector = format!(
        "{}={},{}={}",
        labels::PIPELINE_RUN,
        draft.name(),
        labels::PIPELINE_RUN_UID,
        draft.uid()
    );
    let asks: Vec<Ask> = KINDS
        .iter()
        .map(|(kind, api_version)| Ask::List {
            api_version: (*api_version).to_owned(),
            kind: (*kind).to_owned(),
            namespace: draft.namespace().to_owned(),
            labels: selector.clone(),
        })
        .collect();
    let mut found: Vec<(&str, &str, &Value)> = Vec::new();
    for ((kind, api_version), answer) in KINDS.iter().zip(answers.all(&asks)?) {
        let list = answer.as_ref().map_err(Halt::from)?;
        found.extend(
            list.as_array()
                .into_iter()
                .flatten()
                .map(|child| (*kind, *api_version, child)),
        );
    }
    if !found.is_empty() {
        let uid = draft.uid().to_owned();
        let mut known: BTreeMap<String, ChildStatusReference> = BTreeMap::new();
        for reference in &draft.status().child_references {
            known.insert(reference.name.clone().unwrap_or_default(), reference.clone());
        }
        for (kind, api_version, child) in found {
            let owner = child
                .pointer("/metadata/ownerReferences/0/uid")
                .and_then(Value::as_str);
            if owner != Some(uid.as_str()) {
                continue;
            }
            let name = ObjectRef::of(child).name;
            let task = child.get("metadata").and_then(|metadata| metadata.get("labels"));
            let task = task
                .and_then(|labels| labels.get(labels::PIPELINE_TASK))
                .and_then(Value::as_str);
            known.entry(name.clone()).or_insert_with(|| ChildStatusReference {
                api_version: Some(api_version.to_owned()),
                kind: Some(kind.to_owned()),
                name: Some(name),
                pipeline_task_name: task.map(str::to_owned),
                ..ChildStatusReference::default()
            });
        }
        let mut references: Vec<ChildStatusReference> = known.into_values().collect();
        references.sort_by(|a, b| {
            (&a.pipeline_task_name, &a.name, &a.kind).cmp(&(&b.pipeline_task_name, &b.name, &b.kind))
        });
        draft.status_mut().child_references = references;
    }
    check_kinds(&draft.status().child_references)
}

fn check_kinds(references: &[ChildStatusReference]) -> Result<(), Halt> {
    let unknown: Vec<String> = references
        .iter()
        .filter(|reference| {
            !KINDS
                .iter()
                .any(|(kind, _)| reference.kind.as_deref() == Some(kind))
        })
        .map(|reference| {
            format!(
                "child with name {} has unknown kind {}",
                reference.name.as_deref().unwrap_or_default(),
                reference.kind.as_deref().unwrap_or_default()
            )
        })
        .collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(Halt::transient(unknown.join("\n")))
    }
}

/// The references of a task's children.
pub(super) fn references(task: &TaskState) -> Vec<ChildStatusReference> {
    task.children.iter().map(|child| reference(task, child)).collect()
}

fn reference(task: &TaskState, child: &Child) -> ChildStatusReference {
    let (api_version, kind) = child.type_of();
    ChildStatusReference {
        api_version: Some(api_version.to_owned()),
        kind: Some(kind.to_owned()),
        name: Some(child.name().to_owned()),
        display_name: display_name(task, child),
        pipeline_task_name: Some(task.name().to_owned()),
        when_expressions: task.task.when.clone(),
    }
}

/// The display name of the task with the child's params in place, or the names of the matrix includes that the
/// child belongs to.
fn display_name(task: &TaskState, child: &Child) -> Option<String> {
    let mut known = Replacements::default();
    for (name, value) in child.string_params() {
        known.strings.insert(format!("params.{name}"), value.to_owned());
    }
    let includes = task.task.matrix.iter().flat_map(|matrix| &matrix.include);
    let names: Vec<String> = includes
        .filter_map(|include| {
            let name = include.name.as_deref().filter(|name| !name.is_empty())?;
            let fits = include.params.iter().all(|param| {
                let value = known.strings.get(&format!("params.{}", param.name));
                value.is_some_and(|value| match &param.value {
                    ParamValue::String(wanted) => wanted == value,
                    ParamValue::Array(_) | ParamValue::Object(_) => true,
                })
            });
            fits.then(|| known.string(name))
        })
        .collect();
    let name = if names.is_empty() {
        task.task.display_name.as_deref().map(|name| known.string(name))
    } else {
        Some(names.join(" "))
    };
    name.filter(|name| !name.is_empty())
}
