//! Puts StepActions in the place of the steps that refer to them, and notes where they came from.
//!
//! Upstream counterpart: `GetStepActionsData` in `pkg/reconciler/taskrun/resources/taskspec.go`.

use tekton_api::defaults::{Defaults as _, Operation};
use tekton_api::names::step_name;
use tekton_api::substitute::apply::{params, step_action};
use tekton_api::v1::{Provenance, Ref, RefSource, Step, StepState, TaskSpec};
use tekton_api::v1beta1::{StepAction, StepActionSpec};

use super::draft::Draft;
use crate::plan::{Answers, Ask, ObjectRef, PassInput, Waiting, decode};
use crate::refs::{self, RefError, Remote};

const TEKTON: &str = "tekton.dev/v1beta1";

/// The steps of a Task without references. All StepActions are asked for at once.
pub(super) fn resolve(
    draft: &mut Draft,
    spec: &TaskSpec,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Vec<Step>, RefError> {
    let mut resolved = Vec::with_capacity(spec.steps.len());
    let mut open = Vec::new();
    let mut failed = None;
    for (index, step) in spec.steps.iter().enumerate() {
        let Some(reference) = &step.ref_ else {
            resolved.push((step.clone(), None));
            continue;
        };
        match resolve_step(draft, spec, step, reference, input, answers) {
            Ok(found) => resolved.push(found),
            Err(RefError::Wait(Waiting(asks))) => open.extend(asks),
            Err(error) => {
                let context = format!(
                    "failed to resolve step ref for step \"{}\" (index {index})",
                    step.name
                );
                failed = failed.or(Some(error.map(|text| format!("{context}: {text}"))));
            }
        }
    }
    if !open.is_empty() {
        return Err(RefError::Wait(Waiting(open)));
    }
    if let Some(error) = failed {
        return Err(error);
    }
    note_sources(draft, &resolved);
    Ok(resolved.into_iter().map(|(step, _)| step).collect())
}

fn resolve_step(
    draft: &Draft,
    spec: &TaskSpec,
    step: &Step,
    reference: &Ref,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<(Step, Option<RefSource>), RefError> {
    let run = &draft.run;
    let namespace = run.metadata.namespace.clone().unwrap_or_default();
    let name = reference.name.clone().unwrap_or_default();
    let (mut action, source): (StepActionSpec, Option<RefSource>) =
        match reference.resolver.as_deref().unwrap_or_default() {
            "" => {
                let object = answers.ask(Ask::Get(ObjectRef::new(TEKTON, "StepAction", namespace, name)))?;
                let object = object
                    .as_ref()
                    .map_err(|failure| RefError::of_call(failure, str::to_owned))?;
                let action: StepAction =
                    decode(object).map_err(|failure| RefError::Failed(failure.message))?;
                (action.spec, None)
            }
            resolver => {
                let known = params::of_run(&run.spec.params, &spec.params);
                let mut given = reference.params.clone();
                for param in &mut given {
                    param.value = known.param_value(&param.value);
                }
                let remote = Remote {
                    resolver,
                    params: given,
                    url: name,
                    name: run.metadata.name.as_deref().unwrap_or_default(),
                    namespace: &namespace,
                    owner: draft.owner(),
                };
                let resolved = refs::fetch(&remote, answers)?;
                (
                    refs::step_action(&resolved, &namespace, input, answers)?,
                    resolved.source,
                )
            }
        };
    action.set_defaults(input.config, Operation::Other);
    let step = step_action::step_action(step, &action, &spec.params, &run.spec.params)
        .map_err(|error| RefError::Failed(error.to_string()))?;
    Ok((step, source))
}

/// Gives every step a state with the source of its StepAction, before the pod reports any.
fn note_sources(draft: &mut Draft, steps: &[(Step, Option<RefSource>)]) {
    let states = &mut draft.status_mut().steps;
    let known: Vec<String> = states
        .iter()
        .map(|state| state.name.clone().unwrap_or_default())
        .collect();
    for (index, (step, source)) in steps.iter().enumerate() {
        let place = known.iter().rposition(|name| *name == step.name);
        if let Some(state) = place.and_then(|place| states.get_mut(place)) {
            state
                .provenance
                .get_or_insert_with(Provenance::default)
                .ref_source
                .clone_from(source);
            continue;
        }
        let name = step_name(&step.name, index);
        states.push(StepState {
            name: Some(name.strip_prefix("step-").unwrap_or(&name).to_owned()),
            provenance: Some(Provenance {
                ref_source: source.clone(),
                ..Provenance::default()
            }),
            ..StepState::default()
        });
    }
}
