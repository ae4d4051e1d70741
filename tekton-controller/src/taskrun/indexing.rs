//! Finds references to elements of array params in a TaskSpec.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use tekton_api::substitute::scan;
use tekton_api::v1::TaskSpec;

/// Every `$(params.list[i])` in steps, step template, volumes, workspaces and sidecars.
pub(super) fn references(spec: &TaskSpec) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for step in &spec.steps {
        collect_text(step.script.as_deref().unwrap_or_default(), &mut found);
        collect(&step.to_container(), &mut found);
    }
    if let Some(template) = &spec.step_template {
        collect(&template.to_container(), &mut found);
    }
    collect(&spec.volumes, &mut found);
    for workspace in &spec.workspaces {
        collect_text(workspace.mount_path.as_deref().unwrap_or_default(), &mut found);
    }
    for sidecar in &spec.sidecars {
        collect_text(sidecar.script.as_deref().unwrap_or_default(), &mut found);
        collect(&sidecar.to_container(), &mut found);
    }
    found
}

fn collect(part: &impl Serialize, found: &mut BTreeSet<String>) {
    collect_value(&serde_json::to_value(part).unwrap_or_default(), found);
}

fn collect_value(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => collect_text(text, found),
        Value::Array(items) => items.iter().for_each(|item| collect_value(item, found)),
        Value::Object(members) => members.values().for_each(|member| collect_value(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn collect_text(text: &str, found: &mut BTreeSet<String>) {
    found.extend(scan::indexed_params(text));
}
