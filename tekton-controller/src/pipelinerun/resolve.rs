//! From a PipelineRun to its pipeline: fetched, checked, substituted; its tasks follow in `tasks`.
//!
//! Upstream counterparts: `reconcile` in `pkg/reconciler/pipelinerun/pipelinerun.go`, `resources/pipelineref.go`.

use std::collections::BTreeMap;
use std::time::Duration;

use tekton_api::config::Config;
use tekton_api::defaults::{Defaults as _, Operation};
use tekton_api::reasons::PipelineRunReason;
use tekton_api::substitute::apply::pipeline_spec;
use tekton_api::v1::{Pipeline, PipelineRef, PipelineSpec, PipelineTask, Provenance, RefSource};
use tekton_api::validate::{Context, Validate as _};
use tekton_api::{labels, result_ref};
use tekton_dag::Graph;

use super::checks::{self, Names};
use super::contexts;
use super::draft::{Draft, Halt};
use crate::plan::{Answers, Ask, ObjectRef, PassInput, decode};
use crate::refs::{self, RefError, Remote};
use crate::taskrun::resolve::{feature_flags, is_url_like};

pub(super) mod tasks;

const TEKTON: &str = "tekton.dev/v1";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How long to wait for a resolver before looking again, should its answer be missed.
const RESOLUTION_PAUSE: Duration = Duration::from_secs(1);

/// A pipeline as it was found.
struct Found {
    name: String,
    has_generated_name: bool,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    spec: PipelineSpec,
    source: Option<RefSource>,
}

/// A pipeline that fits its run, variables replaced.
pub(super) struct ResolvedRun {
    /// Name of the pipeline.
    pub(super) name: String,
    /// Its spec.
    pub(super) spec: PipelineSpec,
    /// Its tasks before variables were replaced, for the check of enums.
    pub(super) original: Vec<PipelineTask>,
    /// Graph of its tasks.
    pub(super) graph: Graph,
}

/// Fetches the pipeline, records it in the status, checks that the run fits it, and replaces variables.
pub(super) fn pipeline(
    draft: &mut Draft,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<ResolvedRun, Halt> {
    let mut found = find(draft, input, answers).map_err(|error| not_found(draft, error))?;
    found.spec.set_defaults(input.config, Operation::Other);
    record(draft, &found, input.config);
    let (key, namespace) = (draft.key(), draft.namespace().to_owned());
    let invalid = |what: &str, error: String| {
        Halt::user(
            PipelineRunReason::InvalidGraph,
            &format!("PipelineRun {key}'s Pipeline DAG is invalid{what}: "),
            error,
        )
    };
    let graph = Graph::build(
        found
            .spec
            .tasks
            .iter()
            .map(|task| (task.name(), result_ref::dependencies(task))),
    )
    .map_err(|error| invalid("", error.to_string()))?;
    Graph::build(
        found
            .spec
            .finally
            .iter()
            .map(|task| (task.name(), Vec::<String>::new())),
    )
    .map_err(|error| invalid(" for finally clause", error.to_string()))?;
    // What an embedded pipeline is called is the run's name; messages name its namespace too.
    let embedded = draft
        .run
        .spec
        .pipeline_ref
        .as_ref()
        .is_none_or(|reference| reference.name.is_none() && reference.resolver.is_none());
    let of = if embedded || !found.name.is_empty() {
        namespace.clone()
    } else {
        String::new()
    };
    let invalid_spec = |error: String| {
        let prefix = format!(
            "Pipeline {of}/{} can't be Run; it has an invalid spec: ",
            found.name
        );
        Halt::user(PipelineRunReason::FailedValidation, &prefix, error)
    };
    let errors = found.spec.validate(&Context::new(input.config), None);
    if !errors.is_empty() {
        return Err(invalid_spec(errors.to_string()));
    }
    let names = Names {
        run: &key,
        namespace: &namespace,
        pipeline: &found.name,
    };
    checks::run_fits_pipeline(
        &found.spec,
        &draft.run.spec,
        input.config.features.enable_param_enum,
        &names,
    )?;
    let given = contexts::of_run(&draft.run.spec.params);
    tekton_api::substitute::apply::workspaces::bindings(&mut draft.run.spec.workspaces, &given);
    let original = found
        .spec
        .tasks
        .iter()
        .chain(&found.spec.finally)
        .cloned()
        .collect();
    contexts::apply(&mut found.spec, &draft.run, &found.name).map_err(|error| {
        let prefix = format!(
            "Failed to apply parameters to Pipeline {namespace}/{}: ",
            found.name
        );
        Halt::user(PipelineRunReason::FailedValidation, &prefix, error)
    })?;
    draft.status_mut().pipeline_spec = Some(found.spec.clone());
    checks::on_error(&found.spec).map_err(invalid_spec)?;
    Ok(ResolvedRun {
        name: found.name,
        spec: found.spec,
        original,
        graph,
    })
}

fn not_found(draft: &Draft, error: RefError) -> Halt {
    let key = draft.key();
    match error {
        RefError::Wait(waiting) => Halt::Wait(waiting),
        RefError::InProgress => Halt::Ongoing {
            reason: PipelineRunReason::ResolvingPipelineRef.as_str().to_owned(),
            message: format!("PipelineRun {key} awaiting remote resource"),
            requeue: RESOLUTION_PAUSE,
        },
        RefError::Transient(text) => Halt::transient(text),
        RefError::Invalid(text, _) => {
            let prefix = format!("Failed dryRunValidation for PipelineRun {}: ", draft.name());
            Halt::user(PipelineRunReason::FailedValidation, &prefix, text)
        }
        RefError::Failed(text) => {
            let message = format!("Error retrieving pipeline for pipelinerun {key}: {text}");
            Halt::fail(PipelineRunReason::CouldntGetPipeline, message, text)
        }
    }
}

fn find(draft: &Draft, input: &PassInput<'_>, answers: &Answers) -> Result<Found, RefError> {
    let run = &draft.run;
    let reference = run.spec.pipeline_ref.as_ref();
    let name = reference
        .and_then(|reference| reference.name.as_deref())
        .unwrap_or_default();
    let resolver = reference
        .and_then(|reference| reference.resolver.as_deref())
        .unwrap_or_default();
    match (reference, &run.spec.pipeline_spec) {
        (Some(reference), _) if !name.is_empty() => referenced(draft, reference, name, input, answers)
            .map_err(|error| {
                error.map(|text| {
                    format!(
                        "error when getting Pipeline for PipelineRun {}: {text}",
                        draft.name()
                    )
                })
            }),
        (_, Some(spec)) => Ok(Found {
            name: draft.name().to_owned(),
            has_generated_name: run
                .metadata
                .generate_name
                .as_deref()
                .is_some_and(|prefix| !prefix.is_empty()),
            labels: run.metadata.labels.clone().unwrap_or_default(),
            annotations: run.metadata.annotations.clone().unwrap_or_default(),
            // Once stored, the spec in the status is not read back for embedded pipelines.
            spec: spec.clone(),
            source: None,
        }),
        (Some(reference), None) if !resolver.is_empty() => referenced(draft, reference, "", input, answers),
        _ => Err(RefError::Failed(format!(
            "pipelineRun {} not providing PipelineRef or PipelineSpec",
            draft.name()
        ))),
    }
}

/// The stored copy if there is one, otherwise the Pipeline from a resolver or the namespace.
fn referenced(
    draft: &Draft,
    reference: &PipelineRef,
    name: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Found, RefError> {
    let status = draft.status();
    if let Some(spec) = &status.pipeline_spec {
        return Ok(Found {
            name: name.to_owned(),
            has_generated_name: false,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            spec: spec.clone(),
            source: status
                .provenance
                .as_ref()
                .and_then(|provenance| provenance.ref_source.clone()),
        });
    }
    let (pipeline, source) = fetch(draft, reference, name, input, answers)?;
    Ok(Found {
        name: pipeline.metadata.name.unwrap_or_default(),
        has_generated_name: pipeline
            .metadata
            .generate_name
            .is_some_and(|prefix| !prefix.is_empty()),
        labels: pipeline.metadata.labels.unwrap_or_default(),
        annotations: pipeline.metadata.annotations.unwrap_or_default(),
        spec: pipeline.spec,
        source,
    })
}

/// A Pipeline from a resolver or the namespace.
fn fetch(
    draft: &Draft,
    reference: &PipelineRef,
    name: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<(Pipeline, Option<RefSource>), RefError> {
    let namespace = draft.namespace();
    let resolver = reference.resolver.as_deref().unwrap_or_default();
    if resolver.is_empty() {
        let target = ObjectRef::new(TEKTON, "Pipeline", namespace, name);
        let object = answers.ask(Ask::Get(target))?.as_ref().map_err(|failure| {
            RefError::of_call(failure, |text| {
                format!("tekton client cannot get pipeline {name} from local cluster: {text}")
            })
        })?;
        return Ok((
            decode(object).map_err(|failure| RefError::Failed(failure.message))?,
            None,
        ));
    }
    let mut known = contexts::of_run(&draft.run.spec.params);
    known.merge(contexts::of_names(&draft.run, ""));
    let mut params = reference.params.clone();
    pipeline_spec::values(&mut params, &known);
    let url = reference
        .name
        .as_deref()
        .filter(|name| is_url_like(name))
        .map(|name| known.string(name));
    let remote = Remote {
        resolver,
        params,
        url: url.unwrap_or_default(),
        name: draft.name(),
        namespace,
        owner: draft.owner(),
    };
    let resolved = refs::fetch(&remote, answers)
        .map_err(|error| error.map(|text| format!("resolver failed to get Pipeline {name}: {text}")))?;
    let pipeline = refs::pipeline(&resolved, namespace, input, answers)
        .map_err(|error| error.map(|text| format!("failed to read runtime object as Pipeline: {text}")))?;
    Ok((pipeline, resolved.source))
}

/// Stores the spec and takes over labels and annotations, once; notes the source.
fn record(draft: &mut Draft, found: &Found, config: &Config) {
    if draft.status().pipeline_spec.is_none() {
        draft.status_mut().pipeline_spec = Some(found.spec.clone());
        let own_labels = draft.run.metadata.labels.take().unwrap_or_default();
        let mut all = found.labels.clone();
        all.extend(own_labels);
        let unnamed = all.get(labels::PIPELINE).is_none_or(String::is_empty);
        if !found.name.is_empty() && (unnamed || !found.has_generated_name) {
            all.insert(labels::PIPELINE.to_owned(), found.name.clone());
        }
        draft.run.metadata.labels = Some(all);
        let own_annotations = draft.run.metadata.annotations.take().unwrap_or_default();
        let mut all = found.annotations.clone();
        all.remove(LAST_APPLIED);
        all.extend(own_annotations);
        draft.run.metadata.annotations = Some(all);
    }
    if config.features.enable_provenance_in_status {
        let flags = feature_flags(config);
        let provenance = draft
            .status_mut()
            .provenance
            .get_or_insert_with(Provenance::default);
        provenance.feature_flags = flags;
        if provenance.ref_source.is_none() {
            provenance.ref_source.clone_from(&found.source);
        }
    }
}
