//! TaskRuns.
//!
//! Upstream counterpart: `taskrun_conversion.go`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::annotations::{keep, take};
use super::pipeline::{task_ref_down, task_ref_up};
use super::task::{self, has_resources};
use super::{Convert, ConvertError, name_of};
use crate::labels::{
    V1BETA1_CLOUD_EVENTS, V1BETA1_RESOURCES, V1BETA1_RESOURCES_RESULT, V1BETA1_RESOURCES_STATUS,
};
use crate::v1::Artifact;
use crate::{v1, v1beta1};

impl Convert<v1beta1::TaskRun> for v1::TaskRun {
    fn into_hub(self) -> Result<v1beta1::TaskRun, ConvertError> {
        let mut metadata = self.metadata;
        let resources: Option<v1beta1::TaskRunResources> = take(&mut metadata, V1BETA1_RESOURCES)?;
        let cloud_events: Option<Vec<v1beta1::CloudEventDelivery>> =
            take(&mut metadata, V1BETA1_CLOUD_EVENTS)?;
        let result: Option<Vec<v1beta1::PipelineResourceResult>> =
            take(&mut metadata, V1BETA1_RESOURCES_RESULT)?;
        let mut status = self
            .status
            .map(|status| status_down(status, &mut metadata))
            .transpose()?;
        if let Some(events) = cloud_events.filter(|events| !events.is_empty()) {
            status.get_or_insert_default().cloud_events = events;
        }
        if let Some(result) = result.filter(|result| !result.is_empty()) {
            status.get_or_insert_default().resources_result = result;
        }
        let of_status: Option<v1beta1::TaskResources> = take(&mut metadata, V1BETA1_RESOURCES_STATUS)?;
        if let Some(resources) = of_status.filter(has_resources) {
            status
                .get_or_insert_default()
                .task_spec
                .get_or_insert_default()
                .resources = Some(resources);
        }
        let mut spec = spec_down(self.spec, &mut metadata)?;
        spec.resources =
            resources.filter(|resources| !resources.inputs.is_empty() || !resources.outputs.is_empty());
        Ok(v1beta1::TaskRun {
            metadata,
            spec,
            status,
        })
    }

    fn from_hub(hub: v1beta1::TaskRun) -> Result<Self, ConvertError> {
        let mut metadata = hub.metadata;
        if let Some(resources) = &hub.spec.resources {
            keep(&mut metadata, V1BETA1_RESOURCES, resources)?;
        }
        if let Some(status) = &hub.status {
            if !status.cloud_events.is_empty() {
                keep(&mut metadata, V1BETA1_CLOUD_EVENTS, &status.cloud_events)?;
            }
            if !status.resources_result.is_empty() {
                keep(&mut metadata, V1BETA1_RESOURCES_RESULT, &status.resources_result)?;
            }
            if let Some(resources) = status.task_spec.as_ref().and_then(|spec| spec.resources.as_ref()) {
                keep(&mut metadata, V1BETA1_RESOURCES_STATUS, resources)?;
            }
        }
        let status = hub
            .status
            .map(|status| status_up(status, &mut metadata))
            .transpose()?;
        let spec = spec_up(hub.spec, &mut metadata)?;
        Ok(Self {
            metadata,
            spec,
            status,
        })
    }
}

/// A run of v1; `managedBy` is dropped, as upstream does.
fn spec_up(spec: v1beta1::TaskRunSpec, meta: &mut ObjectMeta) -> Result<v1::TaskRunSpec, ConvertError> {
    let name = name_of(meta);
    let task_spec = spec
        .task_spec
        .map(|spec| task::spec_up(spec, meta, &name))
        .transpose()?;
    Ok(v1::TaskRunSpec {
        debug: spec.debug,
        params: spec.params,
        service_account_name: spec.service_account_name,
        task_ref: spec.task_ref.map(task_ref_up),
        task_spec,
        status: spec.status,
        status_message: spec.status_message,
        retries: spec.retries,
        timeout: spec.timeout,
        pod_template: spec.pod_template,
        workspaces: spec.workspaces,
        step_specs: spec.step_overrides.into_iter().map(step_spec_up).collect(),
        sidecar_specs: spec.sidecar_overrides.into_iter().map(sidecar_spec_up).collect(),
        compute_resources: spec.compute_resources,
        managed_by: None,
    })
}

/// A run of v1beta1, with the same loss.
fn spec_down(spec: v1::TaskRunSpec, meta: &mut ObjectMeta) -> Result<v1beta1::TaskRunSpec, ConvertError> {
    let name = name_of(meta);
    let task_spec = spec
        .task_spec
        .map(|spec| task::spec_down(spec, meta, &name))
        .transpose()?;
    Ok(v1beta1::TaskRunSpec {
        debug: spec.debug,
        params: spec.params,
        resources: None,
        service_account_name: spec.service_account_name,
        task_ref: spec.task_ref.map(task_ref_down),
        task_spec,
        status: spec.status,
        status_message: spec.status_message,
        retries: spec.retries,
        timeout: spec.timeout,
        pod_template: spec.pod_template,
        workspaces: spec.workspaces,
        step_overrides: spec.step_specs.into_iter().map(step_spec_down).collect(),
        sidecar_overrides: spec.sidecar_specs.into_iter().map(sidecar_spec_down).collect(),
        compute_resources: spec.compute_resources,
        managed_by: None,
    })
}

/// Changes to a step, in v1.
pub(super) fn step_spec_up(spec: v1beta1::TaskRunStepOverride) -> v1::TaskRunStepSpec {
    v1::TaskRunStepSpec {
        name: spec.name,
        compute_resources: spec.resources,
    }
}

/// Changes to a step, in v1beta1.
pub(super) fn step_spec_down(spec: v1::TaskRunStepSpec) -> v1beta1::TaskRunStepOverride {
    v1beta1::TaskRunStepOverride {
        name: spec.name,
        resources: spec.compute_resources,
    }
}

/// Changes to a sidecar, in v1.
pub(super) fn sidecar_spec_up(spec: v1beta1::TaskRunSidecarOverride) -> v1::TaskRunSidecarSpec {
    v1::TaskRunSidecarSpec {
        name: spec.name,
        compute_resources: spec.resources,
    }
}

/// Changes to a sidecar, in v1beta1.
pub(super) fn sidecar_spec_down(spec: v1::TaskRunSidecarSpec) -> v1beta1::TaskRunSidecarOverride {
    v1beta1::TaskRunSidecarOverride {
        name: spec.name,
        resources: spec.compute_resources,
    }
}

/// A provenance of v1, without the source under its old name.
pub(super) fn provenance_up(provenance: v1beta1::Provenance) -> v1::Provenance {
    v1::Provenance {
        ref_source: provenance.ref_source,
        feature_flags: provenance.feature_flags,
    }
}

/// A provenance of v1beta1.
pub(super) fn provenance_down(provenance: v1::Provenance) -> v1beta1::Provenance {
    v1beta1::Provenance {
        config_source: None,
        ref_source: provenance.ref_source,
        feature_flags: provenance.feature_flags,
    }
}

/// A status of v1. The trace is dropped.
fn status_up(
    status: v1beta1::TaskRunStatus,
    meta: &mut ObjectMeta,
) -> Result<v1::TaskRunStatus, ConvertError> {
    let retries = status
        .retries_status
        .into_iter()
        .map(|status| status_up(status, meta))
        .collect::<Result<_, _>>()?;
    let name = name_of(meta);
    let task_spec = status
        .task_spec
        .map(|spec| task::spec_up(spec, meta, &name))
        .transpose()?;
    Ok(v1::TaskRunStatus {
        observed_generation: status.observed_generation,
        conditions: status.conditions,
        annotations: status.annotations,
        pod_name: status.pod_name,
        start_time: status.start_time,
        completion_time: status.completion_time,
        steps: status.steps.into_iter().map(step_state_up).collect(),
        retries_status: retries,
        results: status.task_results,
        sidecars: status.sidecars.into_iter().map(sidecar_state_up).collect(),
        task_spec,
        provenance: status.provenance.map(provenance_up),
        ..v1::TaskRunStatus::default()
    })
}

/// A status of v1beta1. The trace and the artifacts of the whole Task are dropped.
fn status_down(
    status: v1::TaskRunStatus,
    meta: &mut ObjectMeta,
) -> Result<v1beta1::TaskRunStatus, ConvertError> {
    let retries = status
        .retries_status
        .into_iter()
        .map(|status| status_down(status, meta))
        .collect::<Result<_, _>>()?;
    let name = name_of(meta);
    let task_spec = status
        .task_spec
        .map(|spec| task::spec_down(spec, meta, &name))
        .transpose()?;
    Ok(v1beta1::TaskRunStatus {
        observed_generation: status.observed_generation,
        conditions: status.conditions,
        annotations: status.annotations,
        pod_name: status.pod_name,
        start_time: status.start_time,
        completion_time: status.completion_time,
        steps: status.steps.into_iter().map(step_state_down).collect(),
        retries_status: retries,
        task_results: status.results,
        sidecars: status.sidecars.into_iter().map(sidecar_state_down).collect(),
        task_spec,
        provenance: status.provenance.map(provenance_down),
        ..v1beta1::TaskRunStatus::default()
    })
}

/// The state of a step in v1, which repeats the reason of its end.
fn step_state_up(state: v1beta1::StepState) -> v1::StepState {
    let reason = state
        .terminated
        .as_ref()
        .and_then(|terminated| terminated.reason.clone());
    v1::StepState {
        waiting: state.waiting,
        running: state.running,
        terminated: state.terminated,
        name: state.name,
        container: state.container,
        image_id: state.image_id,
        results: state.results,
        provenance: state.provenance.map(provenance_up),
        termination_reason: reason,
        inputs: by_products(state.inputs),
        outputs: by_products(state.outputs),
    }
}

/// The state of a step in v1beta1.
fn step_state_down(state: v1::StepState) -> v1beta1::StepState {
    v1beta1::StepState {
        waiting: state.waiting,
        running: state.running,
        terminated: state.terminated,
        name: state.name,
        container: state.container,
        image_id: state.image_id,
        results: state.results,
        provenance: state.provenance.map(provenance_down),
        inputs: by_products(state.inputs),
        outputs: by_products(state.outputs),
    }
}

/// Upstream forgets which artifacts were meant to be built.
fn by_products(artifacts: Vec<Artifact>) -> Vec<Artifact> {
    artifacts
        .into_iter()
        .map(|artifact| Artifact {
            build_output: None,
            ..artifact
        })
        .collect()
}

fn sidecar_state_up(state: v1beta1::SidecarState) -> v1::SidecarState {
    v1::SidecarState {
        waiting: state.waiting,
        running: state.running,
        terminated: state.terminated,
        name: state.name,
        container: state.container,
        image_id: state.image_id,
    }
}

fn sidecar_state_down(state: v1::SidecarState) -> v1beta1::SidecarState {
    v1beta1::SidecarState {
        waiting: state.waiting,
        running: state.running,
        terminated: state.terminated,
        name: state.name,
        container: state.container,
        image_id: state.image_id,
    }
}
