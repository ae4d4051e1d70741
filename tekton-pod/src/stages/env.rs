//! Variables that the pod template and the execution mode add to every step.
//!
//! Later ones win, so the order is: the step's own, the pod template's, the hermetic mark.
//! Upstream counterpart: the environment part of `Builder.Build` in `pkg/pod/pod.go`.

use k8s_openapi::api::core::v1::EnvVar;

use crate::draft::StepDraft;

/// Set to 1 in steps that are to run hermetically.
const HERMETIC: &str = "TEKTON_HERMETIC";

/// Adds the variables of the pod template, but for those that the configuration forbids.
pub(crate) fn add(steps: &mut [StepDraft<'_>], template: &[EnvVar], forbidden: &[String], hermetic: bool) {
    let hermetic = hermetic.then(|| EnvVar {
        name: HERMETIC.to_owned(),
        value: Some("1".to_owned()),
        ..EnvVar::default()
    });
    let added: Vec<EnvVar> = template
        .iter()
        .filter(|variable| !forbidden.contains(&variable.name))
        .cloned()
        .chain(hermetic)
        .collect();
    if added.is_empty() {
        return;
    }
    for step in steps {
        step.container
            .env
            .get_or_insert_default()
            .extend(added.iter().cloned());
    }
}
