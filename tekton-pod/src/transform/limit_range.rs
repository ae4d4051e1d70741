//! Requests for steps that name none, from the LimitRanges of the namespace.
//!
//! Only one step runs at a time, so the default request of a container is divided among the steps; the
//! minimum is kept. Limits are left to the admission plug-in of the cluster.
//! Upstream counterpart: `pkg/internal/computeresources/{transformer.go,limitrange}`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LimitRange, LimitRangeItem, PodSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::quantity::Amount;

const NAMES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
type Quantities = BTreeMap<String, Quantity>;

/// Adds requests to the steps.
pub(crate) fn apply(pod: &mut PodSpec, limit_ranges: &[LimitRange]) {
    if limit_ranges.is_empty() {
        return;
    }
    let is_step = |name: &str| name.starts_with("step-");
    let steps = pod
        .containers
        .iter()
        .filter(|container| is_step(&container.name))
        .count();
    let defaults = default_requests(limit_ranges, steps);
    if defaults.is_empty() {
        return;
    }
    for container in pod
        .containers
        .iter_mut()
        .filter(|container| is_step(&container.name))
    {
        let requests = container
            .resources
            .get_or_insert_default()
            .requests
            .get_or_insert_default();
        for (name, amount) in &defaults {
            let missing = requests.get(name).is_none_or(|own| Amount::of(own).is_zero());
            if missing {
                requests.insert(name.clone(), amount.clone());
            }
        }
    }
}

fn default_requests(limit_ranges: &[LimitRange], steps: usize) -> Quantities {
    let mut requests = Quantities::new();
    for name in NAMES {
        let amount = match limit_ranges {
            [single] => items(single)
                .map(|item| {
                    at_least(
                        share(amount(item.default_request.as_ref(), name), name, steps),
                        item,
                        name,
                    )
                })
                .fold(Amount::default(), Amount::max),
            several => {
                let all = || several.iter().flat_map(items);
                let smallest = all()
                    .map(|item| amount(item.default_request.as_ref(), name))
                    .fold(Amount::default(), smaller_default);
                all().fold(share(smallest, name, steps), |so_far, item| {
                    at_least(so_far, item, name)
                })
            }
        };
        if !amount.is_zero() {
            requests.insert(name.to_owned(), amount.quantity());
        }
    }
    requests
}

/// Of two defaults the smaller one; but one that is not there counts as smaller than the first one, so
/// that a LimitRange without a default takes away that of its predecessors.
fn smaller_default(so_far: Amount, next: Amount) -> Amount {
    if so_far.is_zero() || so_far.exceeds(next) {
        next
    } else {
        so_far
    }
}

fn at_least(request: Amount, item: &LimitRangeItem, name: &str) -> Amount {
    request.max(amount(item.min.as_ref(), name))
}

fn share(amount: Amount, name: &str, steps: usize) -> Amount {
    if name == "cpu" {
        amount.milli_share(steps)
    } else {
        amount.whole_share(steps)
    }
}

fn amount(quantities: Option<&Quantities>, name: &str) -> Amount {
    quantities
        .and_then(|quantities| quantities.get(name))
        .map(Amount::of)
        .unwrap_or_default()
}

fn items(limit_range: &LimitRange) -> impl Iterator<Item = &LimitRangeItem> {
    limit_range
        .spec
        .iter()
        .flat_map(|spec| &spec.limits)
        .filter(|item| item.type_ == "Container")
}
