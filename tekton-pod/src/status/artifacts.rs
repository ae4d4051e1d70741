//! Collects the artifacts that steps and the run declare.
//!
//! Upstream counterpart: `pkg/pod/status.go`, `Artifacts.Merge` in `pkg/apis/pipeline/v1/artifact_types.go`.

use std::collections::BTreeMap;

use tekton_api::v1::{Artifact, Artifacts, Step};

use super::containers::step_container;
use super::error::StatusError;
use crate::contract::json;
use crate::contract::result::{ResultType, RunResult};

const UNRESOLVED_PATH: &str = "$(step.artifacts.path)";

/// The artifacts in the first entry of a type (and of a key, if one is given); none if there is no such entry.
pub(super) fn find(
    entries: &[RunResult],
    wanted: ResultType,
    key: Option<&str>,
) -> Result<Artifacts, StatusError> {
    let found = entries
        .iter()
        .find(|entry| entry.result_type == wanted && key.is_none_or(|key| entry.key == key));
    match found {
        Some(entry) => {
            let value = json::parse(&entry.value).map_err(StatusError::Artifacts)?;
            serde_json::from_value(value).map_err(|error| StatusError::Artifacts(format!("json: {error}")))
        }
        None => Ok(Artifacts::default()),
    }
}

/// Adds the artifacts of `others` to `all`: values of the same name are joined without repeats.
pub(super) fn merge(all: &mut Artifacts, others: &Artifacts) {
    all.inputs = joined(&all.inputs, &others.inputs, false);
    all.outputs = joined(&all.outputs, &others.outputs, true);
}

fn joined(all: &[Artifact], others: &[Artifact], keep_build_output: bool) -> Vec<Artifact> {
    let mut by_name: BTreeMap<Option<String>, Artifact> = all
        .iter()
        .map(|artifact| (artifact.name.clone(), artifact.clone()))
        .collect();
    for other in others {
        let known = by_name.entry(other.name.clone()).or_insert_with(|| Artifact {
            name: other.name.clone(),
            ..Artifact::default()
        });
        if other.build_output == Some(true) {
            known.build_output = Some(true);
        }
        for value in &other.values {
            if !known.values.contains(value) {
                known.values.push(value.clone());
            }
        }
    }
    let mut joined: Vec<Artifact> = by_name.into_values().collect();
    if !keep_build_output {
        for artifact in &mut joined {
            artifact.build_output = None;
        }
    }
    joined
}

/// True if a step mentions the file in which it declares its artifacts, before or after substitution.
pub fn are_referenced(steps: &[Step]) -> bool {
    steps.iter().any(is_referenced)
}

fn is_referenced(step: &Step) -> bool {
    let name = step.name.as_str();
    let container = if name.is_empty() {
        "step-".to_owned()
    } else {
        step_container(name, 0)
    };
    let path = format!("/tekton/steps/{container}/artifacts/provenance.json");
    let mentions = |text: &str| text.contains(UNRESOLVED_PATH) || text.contains(&path);
    step.script.as_deref().is_some_and(mentions)
        || step.args.iter().any(|text| mentions(text))
        || step.command.iter().any(|text| mentions(text))
        || step
            .env
            .iter()
            .filter_map(|env| env.value.as_deref())
            .any(mentions)
}
