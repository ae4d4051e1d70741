//! Pipelines and their tasks.
//!
//! Upstream counterpart: `pipeline_conversion.go`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::annotations::{keep, take};
use super::task::{self, typed};
use super::{Convert, ConvertError};
use crate::labels::V1BETA1_RESOURCES;
use crate::{v1, v1beta1};

impl Convert<v1beta1::Pipeline> for v1::Pipeline {
    fn into_hub(self) -> Result<v1beta1::Pipeline, ConvertError> {
        let mut metadata = self.metadata;
        let resources: Option<Vec<v1beta1::PipelineDeclaredResource>> =
            take(&mut metadata, V1BETA1_RESOURCES)?;
        let mut spec = spec_down(self.spec, &mut metadata)?;
        spec.resources = resources.unwrap_or_default();
        Ok(v1beta1::Pipeline { metadata, spec })
    }

    fn from_hub(hub: v1beta1::Pipeline) -> Result<Self, ConvertError> {
        let mut metadata = hub.metadata;
        if !hub.spec.resources.is_empty() {
            keep(&mut metadata, V1BETA1_RESOURCES, &hub.spec.resources)?;
        }
        let spec = spec_up(hub.spec, &mut metadata)?;
        Ok(Self { metadata, spec })
    }
}

/// A Pipeline of v1.
pub(super) fn spec_up(
    spec: v1beta1::PipelineSpec,
    meta: &mut ObjectMeta,
) -> Result<v1::PipelineSpec, ConvertError> {
    let tasks = spec
        .tasks
        .into_iter()
        .map(|task| task_up(task, meta))
        .collect::<Result<_, _>>()?;
    let finally = spec
        .finally
        .into_iter()
        .map(|task| task_up(task, meta))
        .collect::<Result<_, _>>()?;
    Ok(v1::PipelineSpec {
        display_name: spec.display_name,
        description: spec.description,
        tasks,
        params: spec.params.into_iter().map(typed).collect(),
        workspaces: spec.workspaces,
        results: spec.results,
        finally,
    })
}

/// A Pipeline of v1beta1.
pub(super) fn spec_down(
    spec: v1::PipelineSpec,
    meta: &mut ObjectMeta,
) -> Result<v1beta1::PipelineSpec, ConvertError> {
    let tasks = spec
        .tasks
        .into_iter()
        .map(|task| task_down(task, meta))
        .collect::<Result<_, _>>()?;
    let finally = spec
        .finally
        .into_iter()
        .map(|task| task_down(task, meta))
        .collect::<Result<_, _>>()?;
    Ok(v1beta1::PipelineSpec {
        display_name: spec.display_name,
        description: spec.description,
        resources: Vec::new(),
        tasks,
        params: spec.params.into_iter().map(typed).collect(),
        workspaces: spec.workspaces,
        results: spec.results,
        finally,
    })
}

/// A pipeline task of v1. As upstream, Pipelines in Pipelines are dropped, and a matrix without content.
fn task_up(task: v1beta1::PipelineTask, meta: &mut ObjectMeta) -> Result<v1::PipelineTask, ConvertError> {
    let name = task.name.clone().unwrap_or_default();
    let task_spec = match task.task_spec {
        Some(embedded) => Some(v1::EmbeddedTask {
            api_version: embedded.api_version,
            kind: embedded.kind,
            spec: embedded.spec,
            metadata: embedded.metadata,
            task_spec: task::spec_up(embedded.task_spec, meta, &name)?,
        }),
        None => None,
    };
    Ok(v1::PipelineTask {
        name: task.name,
        display_name: task.display_name,
        description: task.description,
        task_ref: task.task_ref.map(task_ref_up),
        task_spec,
        when: task.when,
        retries: task.retries,
        run_after: task.run_after,
        params: task.params,
        matrix: task
            .matrix
            .filter(|matrix| matrix.has_params() || matrix.has_include()),
        workspaces: task.workspaces,
        timeout: task.timeout,
        pipeline_ref: None,
        pipeline_spec: None,
        on_error: task.on_error,
    })
}

/// A pipeline task of v1beta1, with the same losses.
fn task_down(task: v1::PipelineTask, meta: &mut ObjectMeta) -> Result<v1beta1::PipelineTask, ConvertError> {
    let name = task.name.clone().unwrap_or_default();
    let task_spec = match task.task_spec {
        Some(embedded) => Some(v1beta1::EmbeddedTask {
            api_version: embedded.api_version,
            kind: embedded.kind,
            spec: embedded.spec,
            metadata: embedded.metadata,
            task_spec: task::spec_down(embedded.task_spec, meta, &name)?,
        }),
        None => None,
    };
    Ok(v1beta1::PipelineTask {
        name: task.name,
        display_name: task.display_name,
        description: task.description,
        task_ref: task.task_ref.map(task_ref_down),
        task_spec,
        when: task.when,
        retries: task.retries,
        run_after: task.run_after,
        resources: None,
        params: task.params,
        matrix: task
            .matrix
            .filter(|matrix| matrix.has_params() || matrix.has_include()),
        workspaces: task.workspaces,
        timeout: task.timeout,
        pipeline_ref: None,
        pipeline_spec: None,
        on_error: task.on_error,
    })
}

/// A reference of v1; bundles are dropped.
pub(super) fn task_ref_up(reference: v1beta1::TaskRef) -> v1::TaskRef {
    v1::TaskRef {
        name: reference.name,
        kind: reference.kind,
        api_version: reference.api_version,
        resolver: reference.resolver,
        params: reference.params,
    }
}

/// A reference of v1beta1.
pub(super) fn task_ref_down(reference: v1::TaskRef) -> v1beta1::TaskRef {
    v1beta1::TaskRef {
        name: reference.name,
        kind: reference.kind,
        api_version: reference.api_version,
        bundle: None,
        resolver: reference.resolver,
        params: reference.params,
    }
}
