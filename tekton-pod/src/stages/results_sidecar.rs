//! The sidecar that writes results to its log, where results are taken from there.
//!
//! Upstream counterpart: `createResultsSidecar`, `artifactsPathReferenced` in `pkg/pod/pod.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, SecurityContext};
use tekton_api::names;
use tekton_api::v1::TaskSpec;

use super::mounts::Mounts;
use crate::contract::sidecar_args::SidecarArgs;
use crate::contract::{json, paths};
use crate::draft::{SidecarDraft, StepDraft};
use crate::error::BuildError;

/// Name of the sidecar, before the prefix of sidecars is added.
pub(crate) const SIDECAR: &str = "tekton-log-results";
const KUBERNETES_MODE: &str = "-kubernetes-sidecar-mode";

/// True if the task needs the sidecar: it declares results, or a step writes artifacts.
pub(crate) fn is_needed(spec: &TaskSpec, steps: &[StepDraft<'_>]) -> bool {
    !spec.results.is_empty() || steps.iter().any(writes_artifacts)
}

/// The sidecar's container.
pub(crate) fn container(
    spec: &TaskSpec,
    steps: &[StepDraft<'_>],
    image: &str,
    polling_interval: String,
    security_context: Option<SecurityContext>,
) -> Result<Container, BuildError> {
    let step_names = steps
        .iter()
        .filter(|step| writes_artifacts(step))
        .map(|step| format!("step-{}", step.container.name))
        .collect();
    let step_results: BTreeMap<String, Vec<&str>> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !step.step.results.is_empty())
        .map(|(index, step)| {
            let declared = step
                .step
                .results
                .iter()
                .map(|result| result.name.as_str())
                .collect();
            (names::step_name(&step.container.name, index), declared)
        })
        .collect();
    let args = SidecarArgs {
        results_dir: paths::RESULTS_DIR.to_owned(),
        result_names: spec.results.iter().map(|result| result.name.clone()).collect(),
        step_names,
        step_results: json::to_string(&step_results).map_err(|error| BuildError::Encoding {
            message: error.to_string(),
        })?,
        kubernetes_sidecar_mode: false,
    };
    let program = "/ko-app/sidecarlogresults".to_owned();
    Ok(Container {
        name: SIDECAR.to_owned(),
        image: Some(image.to_owned()),
        command: Some([program].into_iter().chain(args.to_argv()).collect()),
        env: Some(vec![EnvVar {
            name: "SIDECAR_LOG_POLLING_INTERVAL".to_owned(),
            value: Some(polling_interval),
            ..EnvVar::default()
        }]),
        security_context,
        ..Container::default()
    })
}

/// Lets the sidecar see the results and the state of every step.
pub(crate) fn mount_into(sidecars: &mut [SidecarDraft<'_>], mounts: &Mounts) {
    for sidecar in sidecars
        .iter_mut()
        .filter(|sidecar| sidecar.container.name == SIDECAR)
    {
        let own = sidecar.container.volume_mounts.get_or_insert_default();
        mounts.add_to(own, None);
    }
}

/// As a native sidecar it must not end once the results are out, or it would be started again.
pub(crate) fn keep_running(container: &mut Container) {
    let command = container.command.get_or_insert_default();
    if !command.iter().rev().skip(1).any(|word| word == KUBERNETES_MODE) {
        command.extend([KUBERNETES_MODE.to_owned(), "true".to_owned()]);
    }
}

/// True if the step mentions the path of its artifacts, substituted or not.
fn writes_artifacts(draft: &StepDraft<'_>) -> bool {
    let name = &draft.container.name;
    let path = format!("{}/step-{name}/artifacts/provenance.json", paths::STEPS_DIR);
    let mentions = |text: &str| text.contains(&path) || text.contains("$(step.artifacts.path)");
    let container = &draft.container;
    mentions(draft.script())
        || container.args.iter().flatten().any(|text| mentions(text))
        || container.command.iter().flatten().any(|text| mentions(text))
        || container
            .env
            .iter()
            .flatten()
            .filter_map(|variable| variable.value.as_deref())
            .any(mentions)
}
