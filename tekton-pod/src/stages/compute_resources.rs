//! Requirements of the run as a whole, divided among its steps.
//!
//! Requests are divided, since they add up over the containers of a pod; limits are given to each step.
//! Upstream counterpart: `pkg/internal/computeresources/tasklevel`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::draft::StepDraft;
use crate::quantity::Amount;

/// Replaces the steps' requirements by their share of the run's.
pub(crate) fn divide(steps: &mut [StepDraft<'_>], whole: &ResourceRequirements) {
    if whole.requests.is_none() && whole.limits.is_none() {
        return;
    }
    let count = steps.len();
    let requests = shares(whole.requests.as_ref(), count);
    let limits = shares(whole.limits.as_ref(), count);
    for step in steps {
        let own = step.container.resources.get_or_insert_default();
        // Without any request Kubernetes would take the limit for one, in full for each step.
        let unrequested = own.requests.is_none() && whole.requests.is_none();
        own.requests
            .clone_from(if unrequested { &limits } else { &requests });
        own.limits.clone_from(&whole.limits);
    }
}

fn shares(whole: Option<&BTreeMap<String, Quantity>>, steps: usize) -> Option<BTreeMap<String, Quantity>> {
    let whole = whole.filter(|whole| !whole.is_empty() && steps > 0)?;
    let share = |name: &str, amount: Amount| match name {
        "memory" | "ephemeral-storage" => amount.whole_share(steps),
        _ => amount.milli_share(steps),
    };
    Some(
        whole
            .iter()
            .map(|(name, amount)| (name.clone(), share(name, Amount::of(amount)).quantity()))
            .collect(),
    )
}
