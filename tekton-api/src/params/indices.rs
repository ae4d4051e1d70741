//! Where a Task or Pipeline takes single items of array parameters, as in `$(params.flags[2])`.
//!
//! Upstream counterparts: `GetIndexingReferencesToArrayParams` of TaskSpec and PipelineSpec.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, Volume};

use crate::substitute::scan;
use crate::v1::{Param, PipelineSpec, PipelineTask, TaskSpec};

/// The distinct references of a Task's steps, sidecars, volumes and workspaces.
pub fn task_array_indices(spec: &TaskSpec) -> BTreeSet<String> {
    let mut found = Found::default();
    for step in &spec.steps {
        found.option(step.script.as_ref());
        found.container(&step.to_container());
    }
    if let Some(template) = &spec.step_template {
        found.container(&template.to_container());
    }
    spec.volumes.iter().for_each(|volume| found.volume(volume));
    for workspace in &spec.workspaces {
        found.option(workspace.mount_path.as_ref());
    }
    for sidecar in &spec.sidecars {
        found.option(sidecar.script.as_ref());
        found.container(&sidecar.to_container());
    }
    found.0
}

/// The distinct references of a Pipeline's tasks: in their parameters, matrices, conditions and, but for
/// finally tasks, paths of workspaces.
pub fn pipeline_array_indices(spec: &PipelineSpec) -> BTreeSet<String> {
    let mut found = Found::default();
    for task in &spec.tasks {
        found.pipeline_task(task);
        for workspace in &task.workspaces {
            found.option(workspace.sub_path.as_ref());
        }
    }
    spec.finally.iter().for_each(|task| found.pipeline_task(task));
    found.0
}

/// References found so far.
#[derive(Default)]
struct Found(BTreeSet<String>);

impl Found {
    fn text(&mut self, text: &str) {
        self.0.extend(scan::indexed_params(text));
    }

    fn option(&mut self, text: Option<&String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        texts.into_iter().for_each(|text| self.text(text));
    }

    fn params(&mut self, params: &[Param]) {
        params
            .iter()
            .flat_map(|param| param.value.texts())
            .for_each(|text| self.text(text));
    }

    fn pipeline_task(&mut self, task: &PipelineTask) {
        self.params(&task.params);
        if let Some(matrix) = &task.matrix {
            self.params(&matrix.params);
        }
        for condition in &task.when {
            self.option(condition.input.as_ref());
            self.texts(&condition.values);
        }
    }

    fn container(&mut self, container: &Container) {
        self.text(&container.name);
        self.option(container.image.as_ref());
        self.option(container.image_pull_policy.as_ref());
        self.option(container.working_dir.as_ref());
        self.texts(container.args.iter().chain(&container.command).flatten());
        for variable in container.env.iter().flatten() {
            self.option(variable.value.as_ref());
            let Some(source) = &variable.value_from else {
                continue;
            };
            if let Some(key) = &source.secret_key_ref {
                self.texts([&key.name, &key.key]);
            }
            if let Some(key) = &source.config_map_key_ref {
                self.texts([&key.name, &key.key]);
            }
        }
        for source in container.env_from.iter().flatten() {
            self.option(source.prefix.as_ref());
            self.texts(source.config_map_ref.iter().map(|reference| &reference.name));
            self.texts(source.secret_ref.iter().map(|reference| &reference.name));
        }
        for mount in container.volume_mounts.iter().flatten() {
            self.texts([&mount.name, &mount.mount_path]);
            self.option(mount.sub_path.as_ref());
        }
    }

    fn volume(&mut self, volume: &Volume) {
        self.text(&volume.name);
        if let Some(source) = &volume.config_map {
            self.text(&source.name);
            self.texts(
                source
                    .items
                    .iter()
                    .flatten()
                    .flat_map(|item| [&item.key, &item.path]),
            );
        }
        if let Some(source) = &volume.secret {
            self.option(source.secret_name.as_ref());
            self.texts(
                source
                    .items
                    .iter()
                    .flatten()
                    .flat_map(|item| [&item.key, &item.path]),
            );
        }
        self.texts(
            volume
                .persistent_volume_claim
                .iter()
                .map(|source| &source.claim_name),
        );
        for source in volume
            .projected
            .iter()
            .flat_map(|projected| &projected.sources)
            .flatten()
        {
            self.texts(source.config_map.iter().map(|source| &source.name));
            self.texts(source.secret.iter().map(|source| &source.name));
            self.option(
                source
                    .service_account_token
                    .as_ref()
                    .and_then(|token| token.audience.as_ref()),
            );
        }
        if let Some(source) = &volume.csi {
            self.texts(
                source
                    .node_publish_secret_ref
                    .iter()
                    .map(|reference| &reference.name),
            );
            self.texts(
                source
                    .volume_attributes
                    .iter()
                    .flat_map(|attributes| attributes.values()),
            );
        }
    }
}
