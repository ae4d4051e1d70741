//! The children of a pipeline task as objects, and their creation.
//!
//! Upstream counterpart: `createTaskRun`, `createCustomRun`, `createChildPipelineRun` in
//! `pkg/reconciler/pipelinerun/pipelinerun.go`.

use std::collections::BTreeMap;

use kube::core::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::defaults::merge_pod_template;
use tekton_api::duration::Duration;
use tekton_api::labels;
use tekton_api::reasons::PipelineRunReason;
use tekton_api::v1::{
    OnError, Param, PipelineRun, PipelineRunSpec, PipelineTaskMetadata, PipelineTaskRunSpec, TaskRun,
    TaskRunSpec,
};
use tekton_api::v1beta1::{self, CustomRun, CustomRunSpec, EmbeddedCustomRunSpec};

use super::child::Child;
use super::draft::{Draft, Halt};
use super::facts::Facts;
use super::state::{TaskKind, TaskState};
use super::timeouts::Timeouts;
use super::{affinity, contexts, workspaces};
use crate::plan::{Answers, Ask, ObjectRef, PassInput, RunEvent, decode};
use crate::taskrun::validate;

/// Annotations that stay with the object they were written for.
fn is_reserved(annotation: &str) -> bool {
    annotation.contains("chains.tekton.dev/")
}

/// Creates all children of a task.
pub(super) fn children(
    draft: &mut Draft,
    facts: &Facts,
    position: usize,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Vec<Child>, Halt> {
    let Some(task) = facts.state.get(position) else {
        return Ok(Vec::new());
    };
    let mut task = task.clone();
    contexts::apply_to_task(&mut task.task, draft.status().pipeline_spec.as_ref(), facts);
    let combinations = match &task.task.matrix {
        Some(matrix) if task.task.is_matrixed() => matrix.fan_out(),
        _ => Vec::new(),
    };
    if task.kind == TaskKind::Task && input.config.features.enable_param_enum {
        check_enums(&task, &combinations)?;
    }
    let build = Builder {
        draft,
        task: &task,
        config: input.config,
        timeouts: &facts.timeouts,
    };
    let mut objects = Vec::new();
    for (index, name) in task.names.iter().enumerate() {
        let mut params = combinations.get(index).cloned().unwrap_or_default();
        params.extend(task.task.params.iter().cloned());
        objects.push(match task.kind {
            TaskKind::Task => build.task_run(name, params),
            TaskKind::Custom => build.custom_run(name, params),
            TaskKind::Pipeline => build.pipeline_run(name, answers)?,
        });
    }
    let mut created = Vec::new();
    for object in objects {
        let outcome = object.map_err(Refused::Permanent).and_then(|object| {
            let stored = answers
                .ask(Ask::Create {
                    object: object.clone(),
                    dry_run: false,
                })
                .map_err(Refused::Wait)?;
            match stored {
                Ok(stored) => Ok(stored.clone()),
                // Made by an earlier pass that could not record it.
                Err(failure) if failure.is_already_exists() => {
                    own_child(draft, &object, answers, &failure.message)
                }
                Err(failure) if failure.is_invalid() || failure.is_bad_request() => {
                    Err(Refused::Permanent(failure.message.clone()))
                }
                Err(failure) => Err(Refused::Transient(failure.message.clone())),
            }
        });
        match outcome {
            Ok(stored) => created.push(child(task.kind, &stored)?),
            Err(Refused::Wait(waiting)) => return Err(Halt::Wait(waiting)),
            Err(Refused::Permanent(text)) => return Err(refused(draft, &task, &text, true)),
            Err(Refused::Transient(text)) => return Err(refused(draft, &task, &text, false)),
        }
    }
    Ok(created)
}

/// Why a child was not created.
enum Refused {
    Wait(crate::plan::Waiting),
    Permanent(String),
    Transient(String),
}

/// A child of this very run under the name of the one to be created.
fn own_child(draft: &Draft, object: &Value, answers: &Answers, text: &str) -> Result<Value, Refused> {
    let found = answers
        .ask(Ask::Get(ObjectRef::of(object)))
        .map_err(Refused::Wait)?;
    let owner = found
        .as_ref()
        .ok()
        .and_then(|found| found.pointer("/metadata/ownerReferences/0/uid"));
    match found {
        Ok(found) if owner.and_then(Value::as_str) == Some(draft.uid()) => Ok(found.clone()),
        _ => Err(Refused::Transient(text.to_owned())),
    }
}

fn refused(draft: &mut Draft, task: &TaskState, text: &str, permanent: bool) -> Halt {
    let (event, plural, kind) = match task.kind {
        TaskKind::Task => ("TaskRunsCreationFailed", "TaskRuns", "TaskRuns"),
        TaskKind::Custom => ("RunsCreationFailed", "CustomRuns", "CustomRuns"),
        TaskKind::Pipeline => (
            "ChildPipelineRunsCreationFailed",
            "child (PIP) PipelineRuns",
            "child PipelineRuns",
        ),
    };
    let quoted: Vec<String> = task.names.iter().map(|name| format!("{name:?}")).collect();
    draft.events.push(RunEvent::warning(
        event,
        format!("Failed to create {plural} [{}]: {text}", quoted.join(" ")),
    ));
    let error = format!(
        "error creating {kind} called [{}] for PipelineTask {} from PipelineRun {}: {text}",
        task.names.join(" "),
        task.name(),
        draft.name()
    );
    if permanent {
        Halt::fail(PipelineRunReason::CreateRunFailed, text, error)
    } else {
        Halt::transient(error)
    }
}

fn check_enums(task: &TaskState, combinations: &[Vec<Param>]) -> Result<(), Halt> {
    let Some(resolved) = &task.resolved else {
        return Ok(());
    };
    for index in 0..task.names.len() {
        let mut params = combinations.get(index).cloned().unwrap_or_default();
        params.extend(task.task.params.iter().cloned());
        validate::enums(&params, &resolved.spec.params).map_err(|error| {
            let prefix = format!("Invalid param value from PipelineTask \"{}\": ", task.name());
            Halt::user(PipelineRunReason::InvalidParamValue, &prefix, error)
        })?;
    }
    Ok(())
}

/// A stored object as a child.
pub(super) fn child(kind: TaskKind, object: &Value) -> Result<Child, Halt> {
    fn typed<T: DeserializeOwned>(object: &Value) -> Result<T, Halt> {
        decode(object).map_err(|failure| Halt::transient(failure.message))
    }
    Ok(match kind {
        TaskKind::Task => Child::Task(typed(object)?),
        TaskKind::Custom => Child::Custom(typed(object)?),
        TaskKind::Pipeline => Child::Pipeline(typed(object)?),
    })
}

struct Builder<'a> {
    draft: &'a Draft,
    task: &'a TaskState,
    config: &'a Config,
    timeouts: &'a Timeouts,
}

impl Builder<'_> {
    fn task_run(&self, name: &str, params: Vec<Param>) -> Result<Value, String> {
        let overrides = self.overrides();
        let mut annotations = self.annotations(&overrides);
        if self.task.task.on_error == Some(OnError::Continue) {
            annotations.insert(
                labels::PIPELINE_TASK_ON_ERROR.to_owned(),
                OnError::Continue.as_str().to_owned(),
            );
        }
        let bound = workspaces::of_task(self.draft, self.task, self.config.features.coschedule)?;
        self.bind_to_assistant(&mut annotations, &bound.claim_workspace);
        let resolved = self.task.resolved.as_ref();
        let by_name = resolved.is_some_and(|resolved| !resolved.name.is_empty());
        let run = TaskRun {
            metadata: self.metadata(name, self.labels(&overrides), annotations),
            spec: TaskRunSpec {
                retries: self.task.task.retries,
                params,
                service_account_name: overrides.service_account_name.clone().unwrap_or_default(),
                pod_template: overrides.pod_template.clone(),
                step_specs: overrides.step_specs.clone(),
                sidecar_specs: overrides.sidecar_specs.clone(),
                compute_resources: overrides.compute_resources.clone(),
                timeout: self.timeout(&overrides),
                task_ref: if by_name {
                    self.task.task.task_ref.clone()
                } else {
                    None
                },
                task_spec: if by_name {
                    None
                } else {
                    resolved.map(|resolved| resolved.spec.clone())
                },
                workspaces: bound.bindings,
                ..TaskRunSpec::default()
            },
            status: None,
        };
        serde_json::to_value(run).map_err(|error| error.to_string())
    }

    fn custom_run(&self, name: &str, params: Vec<Param>) -> Result<Value, String> {
        let overrides = self.overrides();
        let bound = workspaces::of_task(self.draft, self.task, self.config.features.coschedule)?;
        let mut annotations = self.propagated_annotations();
        self.bind_to_assistant(&mut annotations, &bound.claim_workspace);
        let reference = self
            .task
            .task
            .task_ref
            .as_ref()
            .map(|reference| v1beta1::TaskRef {
                name: reference.name.clone(),
                kind: reference.kind.clone(),
                api_version: reference.api_version.clone(),
                resolver: reference.resolver.clone(),
                params: reference.params.clone(),
                ..v1beta1::TaskRef::default()
            });
        let embedded = self
            .task
            .task
            .task_spec
            .as_ref()
            .map(|embedded| EmbeddedCustomRunSpec {
                api_version: embedded.api_version.clone(),
                kind: embedded.kind.clone(),
                metadata: embedded.metadata.clone(),
                spec: embedded.spec.clone(),
            });
        let run = CustomRun {
            metadata: self.metadata(name, self.child_labels(), annotations),
            spec: CustomRunSpec {
                retries: self.task.task.retries,
                custom_ref: reference,
                custom_spec: embedded,
                params,
                service_account_name: overrides.service_account_name.clone().unwrap_or_default(),
                timeout: self.timeout(&overrides),
                workspaces: bound.bindings,
                ..CustomRunSpec::default()
            },
            status: None,
        };
        serde_json::to_value(run).map_err(|error| error.to_string())
    }

    fn pipeline_run(&self, name: &str, answers: &Answers) -> Result<Result<Value, String>, Halt> {
        let pipeline = self.task.pipeline.clone().unwrap_or_default();
        if self.task.task.pipeline_ref.is_some()
            && !pipeline.name.is_empty()
            && let Err(text) = self.check_ancestors(&pipeline.name, answers)?
        {
            return Ok(Err(text));
        }
        let mut labels = self.child_labels();
        if !pipeline.name.is_empty() {
            labels.insert(labels::PIPELINE.to_owned(), pipeline.name);
        }
        let by_reference = self.task.task.pipeline_ref.is_some();
        let run = PipelineRun {
            metadata: self.metadata(name, labels, self.propagated_annotations()),
            spec: PipelineRunSpec {
                task_run_template: self.draft.run.spec.task_run_template.clone(),
                params: self.task.task.params.clone(),
                workspaces: workspaces::of_pipeline_task(
                    self.draft,
                    self.task,
                    self.config.features.coschedule,
                ),
                pipeline_ref: self.task.task.pipeline_ref.clone(),
                pipeline_spec: (!by_reference).then_some(pipeline.spec),
                ..PipelineRunSpec::default()
            },
            status: None,
        };
        Ok(serde_json::to_value(run).map_err(|error| error.to_string()))
    }

    /// A pipeline must not be among those that lead to it.
    fn check_ancestors(&self, pipeline: &str, answers: &Answers) -> Result<Result<(), String>, Halt> {
        let mut current = serde_json::to_value(&self.draft.run).unwrap_or_default();
        let mut visited: Vec<String> = Vec::new();
        loop {
            let label = current
                .get("metadata")
                .and_then(|metadata| metadata.get("labels"));
            let label = label
                .and_then(|labels| labels.get(labels::PIPELINE))
                .and_then(Value::as_str)
                .unwrap_or_default();
            if label == pipeline {
                return Ok(Err(format!(
                    "detected cycle in pipeline-in-pipeline: pipeline \"{pipeline}\" is already running in ancestor \
                     chain [{}]",
                    visited.join(" ")
                )));
            }
            if !label.is_empty() {
                visited.push(label.to_owned());
            }
            let owners = current
                .pointer("/metadata/ownerReferences")
                .and_then(Value::as_array)
                .cloned();
            let owner = owners
                .into_iter()
                .flatten()
                .find(|owner| owner.get("controller") == Some(&json!(true)));
            let Some(owner) = owner.filter(|owner| owner.get("kind") == Some(&json!("PipelineRun"))) else {
                return Ok(Ok(()));
            };
            let name = owner.get("name").and_then(Value::as_str).unwrap_or_default();
            let target = ObjectRef::new("tekton.dev/v1", "PipelineRun", self.draft.namespace(), name);
            match answers.ask(Ask::Get(target))? {
                Ok(parent) => current = parent.clone(),
                Err(failure) if failure.is_not_found() => return Ok(Ok(())),
                Err(failure) => {
                    return Err(Halt::transient(format!(
                        "cycle detection in pipeline-in-pipeline: could not look up parent PipelineRun {name}: {}",
                        failure.message
                    )));
                }
            }
        }
    }

    fn metadata(
        &self,
        name: &str,
        labels: BTreeMap<String, String>,
        annotations: BTreeMap<String, String>,
    ) -> ObjectMeta {
        ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(self.draft.namespace().to_owned()),
            owner_references: Some(vec![self.draft.owner()]),
            labels: Some(labels),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        }
    }

    /// What the run overrides for this task: its own entry on top of the template for all.
    fn overrides(&self) -> PipelineTaskRunSpec {
        let spec = &self.draft.run.spec;
        let template = &spec.task_run_template;
        let mut found = PipelineTaskRunSpec {
            pipeline_task_name: Some(self.task.name().to_owned()),
            service_account_name: template.service_account_name.clone(),
            pod_template: template.pod_template.clone(),
            ..PipelineTaskRunSpec::default()
        };
        for own in spec
            .task_run_specs
            .iter()
            .filter(|own| own.pipeline_task_name.as_deref() == Some(self.task.name()))
        {
            // A pod template of the task is filled up from the one for all.
            found.pod_template =
                merge_pod_template(own.pod_template.clone(), found.pod_template.take().as_ref());
            if own
                .service_account_name
                .as_deref()
                .is_some_and(|name| !name.is_empty())
            {
                found.service_account_name.clone_from(&own.service_account_name);
            }
            found.step_specs.clone_from(&own.step_specs);
            found.sidecar_specs.clone_from(&own.sidecar_specs);
            found.metadata.clone_from(&own.metadata);
            found.compute_resources.clone_from(&own.compute_resources);
            found.timeout = own.timeout;
        }
        found
    }

    /// The time-out of the child. Limits of the run count only if they exceed the default: otherwise the run
    /// itself ends the child in time.
    fn timeout(&self, overrides: &PipelineTaskRunSpec) -> Option<Duration> {
        if overrides.timeout.is_some() {
            return overrides.timeout;
        }
        if self.task.task.timeout.is_some() {
            return self.task.task.timeout;
        }
        let limit = if self.task.is_final {
            self.timeouts.finally
        } else {
            self.timeouts.tasks
        }?;
        (limit.is_zero() || limit > self.config.defaults.timeout()).then_some(limit)
    }

    fn bind_to_assistant(&self, annotations: &mut BTreeMap<String, String>, claim_workspace: &str) {
        let value = affinity::annotation(
            self.config.features.coschedule,
            claim_workspace,
            self.draft.name(),
        );
        if !value.is_empty() {
            annotations.insert(labels::AFFINITY_ASSISTANT.to_owned(), value);
        }
    }

    /// Labels of the run, and those that tell its children apart.
    fn child_labels(&self) -> BTreeMap<String, String> {
        let mut all = self.draft.run.metadata.labels.clone().unwrap_or_default();
        all.insert(labels::PIPELINE_RUN.to_owned(), self.draft.name().to_owned());
        all.insert(labels::PIPELINE_RUN_UID.to_owned(), self.draft.uid().to_owned());
        if !self.task.name().is_empty() {
            all.insert(labels::PIPELINE_TASK.to_owned(), self.task.name().to_owned());
        }
        let section = if self.task.is_final {
            labels::MEMBER_OF_FINALLY
        } else {
            labels::MEMBER_OF_TASKS
        };
        all.insert(labels::MEMBER_OF.to_owned(), section.to_owned());
        all
    }

    fn propagated_annotations(&self) -> BTreeMap<String, String> {
        let all = self.draft.run.metadata.annotations.iter().flatten();
        all.filter(|(name, _)| !is_reserved(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    fn labels(&self, overrides: &PipelineTaskRunSpec) -> BTreeMap<String, String> {
        let own = overrides.metadata.clone().unwrap_or_default().labels;
        by_precedence([own, self.child_labels(), self.embedded_metadata().labels])
    }

    fn annotations(&self, overrides: &PipelineTaskRunSpec) -> BTreeMap<String, String> {
        let own = overrides.metadata.clone().unwrap_or_default().annotations;
        by_precedence([
            own,
            self.propagated_annotations(),
            self.embedded_metadata().annotations,
        ])
    }

    fn embedded_metadata(&self) -> PipelineTaskMetadata {
        self.task
            .task
            .task_spec
            .as_ref()
            .map(|embedded| embedded.metadata.clone())
            .unwrap_or_default()
    }
}

/// All entries; of several with the same key the first one.
fn by_precedence(sources: [BTreeMap<String, String>; 3]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in sources.into_iter().flatten() {
        all.entry(key).or_insert(value);
    }
    all
}
