//! Resource requirements from the configuration for containers that have none.
//!
//! Named entries come first, then `prefix-…` ones, then `default`; containers that Tekton adds itself
//! take an entry even if they have requirements. Upstream goes through its table in random order; here
//! the order is that of the names.
//! Upstream counterpart: `pkg/internal/defaultresourcerequirements/transformer.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec, ResourceRequirements};

use crate::stages::{prepare, scripts, working_dirs};

const DEFAULT: &str = "default";
const PREFIX: &str = "prefix-";
const RESULTS_CONTAINER: &str = "sidecar-tekton-log-results";

/// Applies the table of `default-container-resource-requirements`.
pub(crate) fn apply(pod: &mut PodSpec, table: &BTreeMap<String, ResourceRequirements>) {
    if table.is_empty() {
        return;
    }
    let containers = pod
        .init_containers
        .iter_mut()
        .flatten()
        .chain(&mut pod.containers);
    for container in containers {
        if let Some(requirements) = chosen(container, table) {
            container.resources = Some(requirements.clone());
        }
    }
}

fn chosen<'a>(
    container: &Container,
    table: &'a BTreeMap<String, ResourceRequirements>,
) -> Option<&'a ResourceRequirements> {
    if !is_empty(container.resources.as_ref()) && !is_internal(&container.name) {
        return None;
    }
    let entry = |name: &str| {
        table
            .get(name)
            .filter(|requirements| !is_empty(Some(requirements)))
    };
    let named = || {
        (container.name != DEFAULT && !container.name.starts_with(PREFIX)).then(|| entry(&container.name))?
    };
    let prefixed = || {
        table.iter().find_map(|(name, requirements)| {
            let prefix = format!("{}-", name.strip_prefix(PREFIX)?);
            (container.name.starts_with(&prefix) && !is_empty(Some(requirements))).then_some(requirements)
        })
    };
    named().or_else(prefixed).or_else(|| entry(DEFAULT))
}

/// Containers that Tekton adds by itself.
fn is_internal(name: &str) -> bool {
    matches!(
        name,
        prepare::CONTAINER | scripts::CONTAINER | working_dirs::CONTAINER | RESULTS_CONTAINER
    )
}

fn is_empty(requirements: Option<&ResourceRequirements>) -> bool {
    requirements.is_none_or(|requirements| {
        let ResourceRequirements {
            claims,
            limits,
            requests,
        } = requirements;
        claims.as_ref().is_none_or(Vec::is_empty)
            && limits.as_ref().is_none_or(BTreeMap::is_empty)
            && requests.as_ref().is_none_or(BTreeMap::is_empty)
    })
}
