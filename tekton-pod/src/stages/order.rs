//! Wraps every step into the entrypoint, so that it waits for the one before it and tells the next one.
//!
//! Input: steps with commands; output: steps that run `/tekton/bin/entrypoint` with flags.
//! Upstream counterpart: `orderContainers` in `pkg/pod/entrypoint.go`.

use k8s_openapi::api::core::v1::Container;
use tekton_api::config::ResultsFrom;
use tekton_api::names;
use tekton_api::v1::{OnError, Step, StepOutputConfig, TaskResult};

use super::debug_scripts::Breakpoints;
use super::volumes::{self, read_only_mount};
use crate::contract::args::{CredentialFlag, EntrypointArgs};
use crate::contract::duration::GoDuration;
use crate::contract::{files, json, paths};
use crate::draft::StepDraft;
use crate::error::BuildError;

/// What all steps have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<'a> {
    /// Secrets of which credentials are made.
    pub(crate) credentials: &'a [CredentialFlag],
    /// Results that the task declares.
    pub(crate) results: &'a [TaskResult],
    /// Results are signed.
    pub(crate) spire: bool,
    /// Results are taken from a sidecar's log.
    pub(crate) results_from_logs: bool,
    /// Termination messages are compressed.
    pub(crate) compress: bool,
    /// Breakpoints in force.
    pub(crate) breakpoints: Breakpoints<'a>,
    /// The first step waits until the sidecars are ready.
    pub(crate) wait_for_sidecars: bool,
    /// Every step watches for cancellation.
    pub(crate) keep_on_cancel: bool,
}

/// Chains the steps.
pub(crate) fn apply(steps: &mut [StepDraft<'_>], chain: &Chain<'_>) -> Result<(), BuildError> {
    if steps.is_empty() {
        return Err(BuildError::NoSteps);
    }
    let results = result_names(chain.results);
    for (index, draft) in steps.iter_mut().enumerate() {
        let args = entrypoint_args(index, draft, chain, results.as_ref())?;
        let watches = chain.keep_on_cancel || (index == 0 && chain.wait_for_sidecars);
        let container = &mut draft.container;
        container.command = Some(vec![paths::ENTRYPOINT.to_owned()]);
        container.args = Some(args);
        container.termination_message_path = Some(paths::TERMINATION.to_owned());
        if watches {
            draft
                .mounts()
                .push(read_only_mount(volumes::DOWNWARD, paths::DOWNWARD_DIR));
        }
    }
    Ok(())
}

/// The steps' containers under the names that they have in the pod.
pub(crate) fn named_containers(steps: Vec<StepDraft<'_>>) -> Vec<Container> {
    let named = |(index, draft): (usize, StepDraft<'_>)| {
        let mut container = draft.container;
        container.name = names::step_container(&container.name, index);
        container
    };
    steps.into_iter().enumerate().map(named).collect()
}

fn entrypoint_args(
    index: usize,
    draft: &mut StepDraft<'_>,
    chain: &Chain<'_>,
    results: Option<&Vec<String>>,
) -> Result<Vec<String>, BuildError> {
    let step = draft.step;
    let mut command = draft.container.command.take().unwrap_or_default();
    let entrypoint = (!command.is_empty()).then(|| command.remove(0));
    command.extend(draft.container.args.take().unwrap_or_default());
    let wait_files = match index.checked_sub(1) {
        Some(before) => vec![files::post_file(before)],
        None if chain.wait_for_sidecars => vec![paths::DOWNWARD_READY.to_owned()],
        None => Vec::new(),
    };
    let path = |config: &Option<StepOutputConfig>| {
        config
            .as_ref()
            .map(|config| config.path.clone().unwrap_or_default())
    };
    let args = EntrypointArgs {
        wait_file_content: index == 0 && chain.wait_for_sidecars,
        wait_files,
        post_file: files::post_file(index),
        termination_path: Some(paths::TERMINATION.to_owned()),
        step_metadata_dir: files::step_metadata_dir(index),
        enable_spire: chain.spire,
        spire_socket_path: None,
        credentials: chain.credentials.to_vec(),
        result_from: chain
            .results_from_logs
            .then(|| ResultsFrom::SidecarLogs.to_string()),
        compress_termination_message: chain.compress,
        on_error: on_error(step)?,
        timeout: step.timeout.map(|timeout| GoDuration(timeout.as_nanos())),
        stdout_path: path(&step.stdout_config),
        stderr_path: path(&step.stderr_config),
        step_results: (!step.results.is_empty())
            .then(|| step.results.iter().map(|result| result.name.clone()).collect()),
        when_expressions: when_expressions(step)?,
        results: results.cloned(),
        breakpoint_on_failure: chain.breakpoints.on_failure,
        debug_before_step: chain.breakpoints.before(&draft.container.name),
        entrypoint,
        command_args: command,
    };
    Ok(args.into_argv())
}

fn on_error(step: &Step) -> Result<Option<String>, BuildError> {
    match &step.on_error {
        Some(OnError::Other(value)) => Err(BuildError::OnError { value: value.clone() }),
        known => Ok(known.as_ref().map(|known| known.as_str().to_owned())),
    }
}

fn when_expressions(step: &Step) -> Result<Option<String>, BuildError> {
    if step.when.is_empty() {
        return Ok(None);
    }
    let encoded = json::to_string(&step.when);
    encoded.map(Some).map_err(|error| BuildError::Encoding {
        message: error.to_string(),
    })
}

/// Results that steps write by themselves, not those made of step results.
fn result_names(results: &[TaskResult]) -> Option<Vec<String>> {
    let written = results
        .iter()
        .filter(|result| result.value.is_none())
        .map(|result| result.name.clone());
    (!results.is_empty()).then(|| written.collect())
}
