//! The order of a pass over a PipelineRun.
//!
//! Each step either ends the pass or leaves it to the next; what they decide is in the modules they come from.
//! Upstream counterpart: `ReconcileKind` and `reconcile` in `pkg/reconciler/pipelinerun/pipelinerun.go`.

use tekton_api::condition::ConditionStatus;
use tekton_api::defaults::{Defaults as _, Operation};
use tekton_api::labels;
use tekton_api::names;
use tekton_api::reasons::{PipelineRunReason, SkippingReason};
use tekton_api::substitute::Replacements;
use tekton_api::substitute::apply::{pipeline_spec, task_spec, workspaces};
use tekton_api::v1::{PipelineRun, PipelineRunSpecStatus, PipelineRunStatus};
use tekton_api::when;

use super::draft::{Draft, End, Halt, USER_ERROR};
use super::facts::Facts;
use super::state::TaskKind;
use super::timeouts::Timeouts;
use super::{
    affinity, artifacts, cancel, checks, children, conclude, create, pipeline_results, resolve, results,
};
use crate::plan::{Answers, Pass, PassInput, ReconcileError, RunEvent, Waiting};

/// One pass over a PipelineRun: what its status is to be, and what is asked of the cluster on the way.
///
/// # Errors
/// [`Waiting`] while questions are open; run the pass again with their answers.
pub fn reconcile(
    seen: &PipelineRun,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Pass<PipelineRunStatus>, Waiting> {
    let mut draft = Draft::new(seen, input);
    let end = advance(&mut draft, input, answers)?;
    Ok(draft.finish(end))
}

fn advance(draft: &mut Draft, input: &PassInput<'_>, answers: &Answers) -> Result<End, Waiting> {
    let mut before = draft.condition();
    let timeouts = Timeouts::of(&draft.run, input.config, input.now);
    if !draft.is_done() && timeouts.is_long_over() {
        if let Err(halt) = cancel::time_out(draft, &timeouts, answers) {
            return draft.halt(halt);
        }
        draft.announce(before.as_ref());
        let error = ReconcileError::Permanent("PipelineRun has timed out for a long time".to_owned());
        return Ok(End {
            requeue: None,
            error: Some(error),
        });
    }
    if draft.is_done() {
        let error = affinity::clean_up(draft, input.config.features.coschedule, answers)?;
        draft.announce(before.as_ref());
        return Ok(End { requeue: None, error });
    }
    if draft.status().start_time.is_none() && !draft.asks_for(&PipelineRunSpecStatus::Pending) {
        draft.start();
        before = draft.condition();
    }
    let outcome = work(draft, input, answers);
    let mut end = match outcome {
        Ok(()) => End::default(),
        Err(halt) => draft.halt(halt)?,
    };
    if draft.is_done()
        && let Some(error) = affinity::clean_up(draft, input.config.features.coschedule, answers)?
    {
        end.error.get_or_insert(error);
    }
    draft.announce(before.as_ref());
    // A run that was cancelled or is not resolved asks for no further look of its own.
    let cancelled = draft.asks_for(&PipelineRunSpecStatus::Cancelled);
    if end.error.is_none() && end.requeue.is_none() && !cancelled {
        end.requeue = Timeouts::of(&draft.run, input.config, input.now).requeue();
    }
    Ok(end)
}

fn work(draft: &mut Draft, input: &PassInput<'_>, answers: &Answers) -> Result<(), Halt> {
    name_pipeline(draft)?;
    if draft.asks_for(&PipelineRunSpecStatus::Cancelled) {
        return cancel::run(draft, answers);
    }
    children::recover(draft, answers)?;
    draft.run.set_defaults(input.config, Operation::Other);
    if draft.asks_for(&PipelineRunSpecStatus::Pending) {
        let message = format!("PipelineRun \"{}\" is pending", draft.name());
        draft.mark(
            ConditionStatus::Unknown,
            PipelineRunReason::Pending.as_str(),
            message,
        );
        return Ok(());
    }
    let run = resolve::pipeline(draft, input, answers)?;
    let timeouts = Timeouts::of(&draft.run, input.config, input.now);
    let mut facts = resolve::tasks::resolve(draft, &run, timeouts, input, answers)?;
    check_tasks(draft, &run, &facts, input)?;
    evaluate_cel(draft, &mut facts)?;
    if draft.asks_for(&PipelineRunSpecStatus::CancelledRunFinally) && !facts.running(false).is_empty() {
        cancel::gracefully(draft, answers)?;
    }
    if facts.is_before_first_child() {
        before_first_child(draft, &run, &facts, input, answers)?;
    }
    if draft.status().finally_start_time.is_none() {
        if facts.timeouts.tasks_over() {
            cancel::time_out_tasks(draft, &facts.running(false), answers)?;
        }
    } else if facts.timeouts.finally_over() {
        cancel::time_out_tasks(draft, &facts.running(true), answers)?;
    }
    start_next(draft, &mut facts, input, answers)?;
    facts.skipped.clear();
    if facts.timeouts.is_over() {
        let timeouts = facts.timeouts.clone();
        cancel::time_out(draft, &timeouts, answers)?;
    }
    conclude::condition(draft, &mut facts);
    conclude::record(draft, &mut facts);
    if draft.is_done() {
        results_of_run(draft, &run, &mut facts)?;
    }
    Ok(())
}

/// Gives the run the label with the name of its pipeline, as far as it is known before it is resolved.
fn name_pipeline(draft: &mut Draft) -> Result<(), Halt> {
    let run = &draft.run;
    if run
        .metadata
        .labels
        .as_ref()
        .is_some_and(|all| all.contains_key(labels::PIPELINE))
    {
        return Ok(());
    }
    let own = draft.name().to_owned();
    let reference = run.spec.pipeline_ref.as_ref();
    let filled = |text: Option<&String>| text.filter(|text| !text.is_empty()).cloned();
    let name = if let Some(name) = reference.and_then(|reference| filled(reference.name.as_ref())) {
        name
    } else if run.spec.pipeline_spec.is_some() {
        let generated = run.metadata.generate_name.as_deref().map(names::restrict_length);
        filled(generated.as_ref()).unwrap_or(own)
    } else if let Some(reference) =
        reference.filter(|reference| filled(reference.resolver.as_ref()).is_some())
    {
        let param = |name: &str| {
            let found = reference.params.iter().rev().find(|param| param.name == name);
            found
                .and_then(|param| param.value.as_str())
                .unwrap_or_default()
                .to_owned()
        };
        if param("kind") == "pipeline" {
            param("name")
        } else {
            own
        }
    } else {
        return Err(Halt::transient(format!(
            "pipelineRun {own} not providing PipelineRef or PipelineSpec"
        )));
    };
    draft
        .run
        .metadata
        .labels
        .get_or_insert_default()
        .insert(labels::PIPELINE.to_owned(), name);
    Ok(())
}

/// Params of all tasks against their Tasks.
fn check_tasks(
    draft: &Draft,
    run: &resolve::ResolvedRun,
    facts: &Facts,
    input: &PassInput<'_>,
) -> Result<(), Halt> {
    for (position, task) in facts
        .state
        .iter()
        .enumerate()
        .filter(|(_, task)| task.kind == TaskKind::Task)
    {
        checks::task_params(task).map_err(|error| {
            let prefix = format!("Validation failed for pipelinerun {} with error ", draft.name());
            Halt::user(PipelineRunReason::FailedValidation, &prefix, error)
        })?;
        if input.config.features.enable_param_enum {
            let original = run
                .original
                .get(position)
                .map(|task| task.params.as_slice())
                .unwrap_or_default();
            checks::enum_subset(original, &run.spec.params, task).map_err(|error| {
                Halt::user(
                    PipelineRunReason::FailedValidation,
                    "Validation failed for pipelinerun with error ",
                    error,
                )
            })?;
        }
    }
    Ok(())
}

/// CEL expressions are evaluated with what is known now, results of tasks that have not ended left out.
fn evaluate_cel(draft: &Draft, facts: &mut Facts) -> Result<(), Halt> {
    for task in &mut facts.state {
        task.evaluated_cel =
            when::evaluate_all(&task.task.when).map_err(|error| cel_failed(draft, &error.to_string()))?;
    }
    Ok(())
}

fn cel_failed(draft: &Draft, error: &str) -> Halt {
    let message = format!("{USER_ERROR}Error evaluating CEL {}: {error}", draft.name());
    Halt::fail(PipelineRunReason::CelEvaluationFailed, message, error)
}

/// What is checked and created once, before the first child.
fn before_first_child(
    draft: &mut Draft,
    run: &resolve::ResolvedRun,
    facts: &Facts,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<(), Halt> {
    checks::task_results(facts).map_err(|error| {
        Halt::fail(
            PipelineRunReason::InvalidTaskResultReference,
            error.clone(),
            error,
        )
    })?;
    checks::pipeline_results(&run.spec, facts).map_err(|error| {
        let message = format!(
            "Failed to resolve pipeline result reference for \"{}\" with error {error}",
            draft.name()
        );
        Halt::fail(PipelineRunReason::InvalidPipelineResultReference, message, error)
    })?;
    checks::optional_workspaces(&run.spec.workspaces, facts).map_err(|error| {
        let prefix = "Optional workspace not supported by task: ";
        Halt::user(PipelineRunReason::RequiredWorkspaceMarkedOptional, prefix, error)
    })?;
    affinity::create(draft, input, answers)
}

/// Creates the children of every task that may start now.
fn start_next(
    draft: &mut Draft,
    facts: &mut Facts,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<(), Halt> {
    let mut next = facts
        .queue()
        .map_err(|error| Halt::permanent(error.to_string()))?;
    let mut invalid = Vec::new();
    for position in &next {
        let Some(task) = facts.state.get(*position) else {
            continue;
        };
        if let Err(text) = results::missing(facts, task) {
            invalid.push((task.name().to_owned(), text));
        }
    }
    // One task that lacks a result keeps all others from starting.
    if !invalid.is_empty() {
        next.clear();
    }
    for (name, text) in invalid {
        let message = format!("Task \"{name}\" failed result validation: {text}");
        draft
            .events
            .push(RunEvent::warning("ResultValidationFailed", message));
        facts.invalid.insert(name, text);
    }
    next.extend(next_finally(draft, facts)?);
    if draft.status().finally_start_time.is_none() && facts.finally_started() {
        start_finally(draft, facts);
    }
    let mut bindings = std::mem::take(&mut draft.run.spec.workspaces);
    let strings = results::propagated(facts.state.iter()).strings;
    workspaces::bindings(
        &mut bindings,
        &Replacements {
            strings,
            ..Replacements::default()
        },
    );
    draft.run.spec.workspaces = bindings;
    for position in next {
        if facts.state.get(position).is_some_and(|task| task.is_final) {
            start_finally(draft, facts);
        }
        let skipped = facts.skip_reason(position) != SkippingReason::None
            || facts.finally_skip_reason(position) != SkippingReason::None;
        if skipped {
            continue;
        }
        propagate(facts, position);
        if facts
            .state
            .get(position)
            .is_some_and(|task| task.task.is_matrixed())
        {
            checks::matrix_types(facts).map_err(|error| {
                let message =
                    format!("{USER_ERROR}Failed to validate matrix \"{error}\" with error %!v(MISSING)");
                Halt::fail(PipelineRunReason::InvalidMatrixParameterTypes, message, error)
            })?;
        }
        let created = create::children(draft, facts, position, input, answers)?;
        if let Some(task) = facts.state.get_mut(position) {
            task.children = created;
        }
    }
    Ok(())
}

/// Finally tasks to start now, with the states and results of the others in place.
fn next_finally(draft: &Draft, facts: &mut Facts) -> Result<Vec<usize>, Halt> {
    let positions = facts.finally_queue();
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let states = Replacements {
        strings: facts.task_states(),
        ..Replacements::default()
    };
    let mut next = Vec::new();
    for position in &positions {
        if let Some(task) = facts.state.get_mut(*position) {
            pipeline_spec::task_states(&mut task.task, &states);
        }
    }
    for position in positions {
        let Some(task) = facts.state.get(position) else {
            continue;
        };
        // A finally task whose results are missing is skipped; that is told later.
        let Ok(resolved) = results::resolve(facts, &task.task) else {
            continue;
        };
        let sources: Vec<String> = resolved
            .iter()
            .map(|found| found.reference.pipeline_task.clone())
            .collect();
        facts.remember_matrix_results(&sources);
        let known = results::replacements(&resolved);
        if let Some(task) = facts.state.get_mut(position) {
            pipeline_spec::task_results(&mut task.task, &known);
            task.evaluated_cel =
                when::evaluate_all(&task.task.when).map_err(|error| cel_failed(draft, &error.to_string()))?;
        }
        next.push(position);
    }
    Ok(next)
}

fn start_finally(draft: &mut Draft, facts: &mut Facts) {
    let now = draft.now();
    let status = draft.status_mut();
    let start = status.finally_start_time.get_or_insert(now).0;
    facts.timeouts.finally_start.get_or_insert(start);
}

/// Puts results and artifacts of ended tasks into an embedded Task that uses them without declaring params.
fn propagate(facts: &mut Facts, position: usize) {
    let known = results::propagated(facts.state.iter());
    let artifacts = artifacts::propagated(facts.state.iter());
    if let Some(resolved) = facts
        .state
        .get_mut(position)
        .and_then(|task| task.resolved.as_mut())
    {
        task_spec::task_spec(&mut resolved.spec, &known);
        task_spec::task_spec(&mut resolved.spec, &artifacts);
    }
}

fn results_of_run(draft: &mut Draft, run: &resolve::ResolvedRun, facts: &mut Facts) -> Result<(), Halt> {
    match pipeline_results::of_pipeline(&run.spec.results, facts) {
        Ok(results) => {
            draft.status_mut().results = results;
            Ok(())
        }
        Err((results, error)) => {
            draft.status_mut().results = results;
            let message = format!(
                "Failed to get PipelineResult from TaskRun Results for PipelineRun {}: {error}",
                draft.name()
            );
            let reason = PipelineRunReason::CouldntGetPipelineResult.as_str().to_owned();
            Err(Halt::Fail {
                reason,
                message,
                error: ReconcileError::Transient(error),
            })
        }
    }
}
