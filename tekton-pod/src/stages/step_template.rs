//! Steps and sidecars as containers: the step template below each step, the run's requirements above.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/merge.go`, `container_types.go`.

use k8s_openapi::api::core::v1::{Container, ResourceRequirements};
use tekton_api::v1::{Sidecar, Step, StepTemplate, TaskRunSidecarSpec, TaskRunStepSpec};

use super::merge;
use crate::draft::{SidecarDraft, StepDraft};

/// The steps laid over the template.
pub(crate) fn steps<'a>(steps: &'a [Step], template: Option<&StepTemplate>) -> Vec<StepDraft<'a>> {
    let template = template.map(StepTemplate::to_container);
    let draft = |step: &'a Step| {
        let own = step.to_container();
        let container = match &template {
            Some(template) => merge::container(template, own),
            None => own,
        };
        StepDraft { step, container }
    };
    steps.iter().map(draft).collect()
}

/// The sidecars.
pub(crate) fn sidecars<'a>(sidecars: &'a [Sidecar]) -> Vec<SidecarDraft<'a>> {
    let draft = |sidecar: &'a Sidecar| SidecarDraft {
        script: sidecar.script.as_deref().unwrap_or_default(),
        container: sidecar.to_container(),
    };
    sidecars.iter().map(draft).collect()
}

/// Lays the run's requirements for single steps over theirs; of several entries the last one counts.
pub(crate) fn override_steps(steps: &mut [StepDraft<'_>], specs: &[TaskRunStepSpec]) {
    for step in steps {
        let wanted = specs.iter().rfind(|spec| spec.name == step.container.name);
        override_resources(&mut step.container, wanted.map(|spec| &spec.compute_resources));
    }
}

/// The same for sidecars.
pub(crate) fn override_sidecars(sidecars: &mut [SidecarDraft<'_>], specs: &[TaskRunSidecarSpec]) {
    for sidecar in sidecars {
        let wanted = specs.iter().rfind(|spec| spec.name == sidecar.container.name);
        override_resources(&mut sidecar.container, wanted.map(|spec| &spec.compute_resources));
    }
}

fn override_resources(container: &mut Container, wanted: Option<&ResourceRequirements>) {
    if let Some(wanted) = wanted {
        container.resources = Some(merge::resources(container.resources.as_ref(), Some(wanted)));
    }
}
