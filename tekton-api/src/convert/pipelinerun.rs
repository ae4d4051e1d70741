//! PipelineRuns.
//!
//! Upstream counterpart: `pipelinerun_conversion.go`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::annotations::{keep, take};
use super::taskrun::{
    provenance_down, provenance_up, sidecar_spec_down, sidecar_spec_up, step_spec_down, step_spec_up,
};
use super::{Convert, ConvertError, pipeline};
use crate::labels::V1BETA1_RESOURCES;
use crate::v1::TimeoutFields;
use crate::{v1, v1beta1};

impl Convert<v1beta1::PipelineRun> for v1::PipelineRun {
    fn into_hub(self) -> Result<v1beta1::PipelineRun, ConvertError> {
        let mut metadata = self.metadata;
        let resources: Option<Vec<v1beta1::PipelineResourceBinding>> =
            take(&mut metadata, V1BETA1_RESOURCES)?;
        let status = self
            .status
            .map(|status| status_down(status, &mut metadata))
            .transpose()?;
        let mut spec = spec_down(self.spec, &mut metadata)?;
        spec.resources = resources.unwrap_or_default();
        Ok(v1beta1::PipelineRun {
            metadata,
            spec,
            status,
        })
    }

    fn from_hub(hub: v1beta1::PipelineRun) -> Result<Self, ConvertError> {
        let mut metadata = hub.metadata;
        if !hub.spec.resources.is_empty() {
            keep(&mut metadata, V1BETA1_RESOURCES, &hub.spec.resources)?;
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

/// A run of v1. The old `timeout` replaces all others; `managedBy` is dropped, as upstream does.
fn spec_up(
    spec: v1beta1::PipelineRunSpec,
    meta: &mut ObjectMeta,
) -> Result<v1::PipelineRunSpec, ConvertError> {
    let pipeline_spec = spec
        .pipeline_spec
        .map(|spec| pipeline::spec_up(spec, meta))
        .transpose()?;
    let old = spec.timeout.map(|timeout| TimeoutFields {
        pipeline: Some(timeout),
        ..TimeoutFields::default()
    });
    Ok(v1::PipelineRunSpec {
        pipeline_ref: spec.pipeline_ref.map(|reference| v1::PipelineRef {
            name: reference.name,
            api_version: reference.api_version,
            resolver: reference.resolver,
            params: reference.params,
        }),
        pipeline_spec,
        params: spec.params,
        status: spec.status,
        timeouts: old.or(spec.timeouts),
        task_run_template: v1::PipelineTaskRunTemplate {
            pod_template: spec.pod_template,
            service_account_name: spec.service_account_name,
        },
        workspaces: spec.workspaces,
        task_run_specs: spec.task_run_specs.into_iter().map(task_run_spec_up).collect(),
        managed_by: None,
    })
}

/// A run of v1beta1, with the same loss.
fn spec_down(
    spec: v1::PipelineRunSpec,
    meta: &mut ObjectMeta,
) -> Result<v1beta1::PipelineRunSpec, ConvertError> {
    let pipeline_spec = spec
        .pipeline_spec
        .map(|spec| pipeline::spec_down(spec, meta))
        .transpose()?;
    Ok(v1beta1::PipelineRunSpec {
        pipeline_ref: spec.pipeline_ref.map(|reference| v1beta1::PipelineRef {
            name: reference.name,
            api_version: reference.api_version,
            bundle: None,
            resolver: reference.resolver,
            params: reference.params,
        }),
        pipeline_spec,
        resources: Vec::new(),
        params: spec.params,
        service_account_name: spec.task_run_template.service_account_name,
        status: spec.status,
        timeouts: spec.timeouts,
        timeout: None,
        pod_template: spec.task_run_template.pod_template,
        workspaces: spec.workspaces,
        task_run_specs: spec.task_run_specs.into_iter().map(task_run_spec_down).collect(),
        managed_by: None,
    })
}

fn task_run_spec_up(spec: v1beta1::PipelineTaskRunSpec) -> v1::PipelineTaskRunSpec {
    v1::PipelineTaskRunSpec {
        pipeline_task_name: spec.pipeline_task_name,
        service_account_name: spec.task_service_account_name,
        pod_template: spec.task_pod_template,
        step_specs: spec.step_overrides.into_iter().map(step_spec_up).collect(),
        sidecar_specs: spec.sidecar_overrides.into_iter().map(sidecar_spec_up).collect(),
        metadata: spec.metadata,
        compute_resources: spec.compute_resources,
        timeout: spec.timeout,
    }
}

/// Upstream fills the annotations with the labels.
fn task_run_spec_down(spec: v1::PipelineTaskRunSpec) -> v1beta1::PipelineTaskRunSpec {
    v1beta1::PipelineTaskRunSpec {
        pipeline_task_name: spec.pipeline_task_name,
        task_service_account_name: spec.service_account_name,
        task_pod_template: spec.pod_template,
        step_overrides: spec.step_specs.into_iter().map(step_spec_down).collect(),
        sidecar_overrides: spec.sidecar_specs.into_iter().map(sidecar_spec_down).collect(),
        metadata: spec.metadata.map(|mut metadata| {
            metadata.annotations.clone_from(&metadata.labels);
            metadata
        }),
        compute_resources: spec.compute_resources,
        timeout: spec.timeout,
    }
}

/// A status of v1. The maps of runs and the trace are dropped.
fn status_up(
    status: v1beta1::PipelineRunStatus,
    meta: &mut ObjectMeta,
) -> Result<v1::PipelineRunStatus, ConvertError> {
    let pipeline_spec = status
        .pipeline_spec
        .map(|spec| pipeline::spec_up(spec, meta))
        .transpose()?;
    Ok(v1::PipelineRunStatus {
        observed_generation: status.observed_generation,
        conditions: status.conditions,
        annotations: status.annotations,
        start_time: status.start_time,
        completion_time: status.completion_time,
        results: status.pipeline_results,
        pipeline_spec,
        skipped_tasks: status.skipped_tasks,
        child_references: status.child_references,
        finally_start_time: status.finally_start_time,
        provenance: status.provenance.map(provenance_up),
        ..v1::PipelineRunStatus::default()
    })
}

/// A status of v1beta1, without the trace.
fn status_down(
    status: v1::PipelineRunStatus,
    meta: &mut ObjectMeta,
) -> Result<v1beta1::PipelineRunStatus, ConvertError> {
    let pipeline_spec = status
        .pipeline_spec
        .map(|spec| pipeline::spec_down(spec, meta))
        .transpose()?;
    Ok(v1beta1::PipelineRunStatus {
        observed_generation: status.observed_generation,
        conditions: status.conditions,
        annotations: status.annotations,
        start_time: status.start_time,
        completion_time: status.completion_time,
        pipeline_results: status.results,
        pipeline_spec,
        skipped_tasks: status.skipped_tasks,
        child_references: status.child_references,
        finally_start_time: status.finally_start_time,
        provenance: status.provenance.map(provenance_down),
        ..v1beta1::PipelineRunStatus::default()
    })
}
