//! Cases of computed names.

use serde_json::{Value, json};

use super::{expected, input, text, typed};
use crate::names;
use crate::v1::{ChildStatusReference, Param, WorkspaceBinding};

/// Computes the name or names and compares.
///
/// # Errors
/// The difference.
pub fn check(case: &Value) -> Result<(), String> {
    let number = |name| usize::try_from(input(case, name).as_u64().unwrap_or_default()).unwrap_or_default();
    let name = match text(case, "fn") {
        "child-name" => names::child_name(text(case, "parent"), text(case, "suffix")),
        "restrict-length" => names::restrict_length(text(case, "base")),
        "step-container" => names::step_container(text(case, "name"), number("index")),
        "sidecar-container" => names::sidecar_container(text(case, "name")),
        "hashed-name" => names::hashed_name(text(case, "prefix"), text(case, "name"), number("hashLength")),
        "pvc" => names::volume_claim(text(case, "claim"), text(case, "workspace"), text(case, "uid")),
        "affinity-assistant" => names::affinity_assistant(text(case, "workspace"), text(case, "pipelineRun")),
        "resolution-request" => {
            let params: Vec<Param> = typed(case, "params")?;
            names::resolution_request(
                text(case, "prefix"),
                text(case, "base"),
                &params,
                text(case, "url"),
            )
        }
        "child-taskruns" => return children(case, "TaskRun", number("count")),
        "child-pipelineruns" => return children(case, "PipelineRun", number("count")),
        "workspace-volumes" => return volumes(case),
        other => return Err(format!("unknown function {other}")),
    };
    super::diff::compare(expected(case), &json!({"name": name}))
}

fn children(case: &Value, kind: &str, count: usize) -> Result<(), String> {
    let started: Vec<ChildStatusReference> = typed(case, "childReferences")?;
    let found = names::child_runs(
        &started,
        kind,
        text(case, "pipelineTask"),
        text(case, "pipelineRun"),
        count,
    );
    let found = if found.is_empty() {
        Value::Null
    } else {
        json!(found)
    };
    super::diff::compare(expected(case), &json!({"names": found}))
}

fn volumes(case: &Value) -> Result<(), String> {
    let bindings: Vec<WorkspaceBinding> = typed(case, "workspaces")?;
    let claim = |binding: &WorkspaceBinding| {
        binding
            .persistent_volume_claim
            .as_ref()
            .map(|claim| claim.claim_name.clone())
    };
    let claims: Vec<_> = bindings.iter().map(claim).collect();
    let bound = bindings
        .iter()
        .zip(&claims)
        .map(|(binding, claim)| (binding.name.as_str(), claim.as_deref()));
    let named = bindings.iter().zip(names::workspace_volumes(bound));
    let volumes: serde_json::Map<String, Value> = named
        .filter(|(binding, _)| has_volume(binding))
        .map(|(binding, name)| (binding.name.clone(), name.into()))
        .collect();
    super::diff::compare(expected(case), &json!({"volumes": volumes}))
}

/// Whether the binding names a source that becomes a volume.
fn has_volume(binding: &WorkspaceBinding) -> bool {
    binding.persistent_volume_claim.is_some()
        || binding.empty_dir.is_some()
        || binding.config_map.is_some()
        || binding.secret.is_some()
        || binding.projected.is_some()
        || binding.csi.is_some()
}
