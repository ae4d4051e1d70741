//! Lays one container over another as a strategic merge patch would: the upper one wins, nested objects
//! are merged, keyed lists are merged by key and keep a defined order, other lists are replaced.
//!
//! Empty values of the upper container count as absent, because the Go types do not write them.
//! Upstream counterpart: `pkg/apis/pipeline/v1/merge.go` (with `k8s.io/…/strategicpatch`).

use std::collections::BTreeMap;

use k8s_openapi::DeepMerge;
use k8s_openapi::api::core::v1::{
    Container, EnvVar, ResourceRequirements, SecurityContext, VolumeDevice, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// `step` laid over `template`; only the fields that a step template has are looked at.
pub(crate) fn container(template: &Container, step: Container) -> Container {
    let own_env = template.env.as_ref().and(step.env.clone()).unwrap_or_default();
    let mut env = list(template.env.as_deref(), step.env, |item| &item.name, merge_env);
    amend_conflicts(env.as_deref_mut().unwrap_or_default(), &own_env);
    Container {
        name: step.name,
        image: text(template.image.as_ref(), step.image),
        command: replaced(template.command.as_ref(), step.command),
        args: replaced(template.args.as_ref(), step.args),
        working_dir: text(template.working_dir.as_ref(), step.working_dir),
        env_from: replaced(template.env_from.as_ref(), step.env_from),
        env,
        resources: Some(resources(template.resources.as_ref(), step.resources.as_ref())),
        volume_mounts: list(
            template.volume_mounts.as_deref(),
            step.volume_mounts,
            |item| &item.mount_path,
            merge_mount,
        ),
        volume_devices: list(
            template.volume_devices.as_deref(),
            step.volume_devices,
            |item| &item.device_path,
            merge_device,
        ),
        image_pull_policy: text(template.image_pull_policy.as_ref(), step.image_pull_policy),
        security_context: security_context(template.security_context.as_ref(), step.security_context),
        ..Container::default()
    }
}

/// Resource requirements `over` laid over `under`, name by name.
pub(crate) fn resources(
    under: Option<&ResourceRequirements>,
    over: Option<&ResourceRequirements>,
) -> ResourceRequirements {
    let (Some(under), Some(over)) = (under, over) else {
        return over.or(under).cloned().unwrap_or_default();
    };
    ResourceRequirements {
        claims: replaced(under.claims.as_ref(), over.claims.clone()),
        limits: quantities(under.limits.as_ref(), over.limits.as_ref()),
        requests: quantities(under.requests.as_ref(), over.requests.as_ref()),
    }
}

type Quantities = BTreeMap<String, Quantity>;

fn quantities(under: Option<&Quantities>, over: Option<&Quantities>) -> Option<Quantities> {
    let mut merged = under.cloned();
    if let Some(over) = over {
        merged
            .get_or_insert_default()
            .extend(over.iter().map(|(name, amount)| (name.clone(), amount.clone())));
    }
    merged
}

fn text(under: Option<&String>, over: Option<String>) -> Option<String> {
    over.filter(|text| !text.is_empty()).or_else(|| under.cloned())
}

fn replaced<T: Clone>(under: Option<&Vec<T>>, over: Option<Vec<T>>) -> Option<Vec<T>> {
    over.filter(|items| !items.is_empty()).or_else(|| under.cloned())
}

fn security_context(
    under: Option<&SecurityContext>,
    over: Option<SecurityContext>,
) -> Option<SecurityContext> {
    let mut merged = under.cloned();
    merged.merge_from(over);
    merged
}

/// Merges keyed lists. Items of both are merged into one; where only the order decides, items of `over`
/// keep theirs, and an item that only `under` has is put before the first one that follows it there.
fn list<T: Clone>(
    under: Option<&[T]>,
    over: Option<Vec<T>>,
    key: fn(&T) -> &String,
    merge: fn(&mut T, T),
) -> Option<Vec<T>> {
    let (under, over) = match (
        under.filter(|items| !items.is_empty()),
        over.filter(|items| !items.is_empty()),
    ) {
        (None, over) => return over,
        (Some(under), None) => return Some(under.to_vec()),
        (Some(under), Some(over)) => (under, over),
    };
    let position = |items: &[T], item: &T| items.iter().position(|other| key(other) == key(item));
    let order: Vec<String> = over.iter().map(|item| key(item).clone()).collect();
    let rank = |item: &T| order.iter().position(|name| name == key(item));
    let mut merged = under.to_vec();
    for item in over {
        match position(&merged, &item).and_then(|index| merged.get_mut(index)) {
            Some(present) => merge(present, item),
            None => merged.push(item),
        }
    }
    let (mut named, mut rest): (Vec<T>, Vec<T>) = merged.into_iter().partition(|item| rank(item).is_some());
    named.sort_by_key(rank);
    rest.reverse();
    let mut ordered = Vec::with_capacity(named.len() + rest.len());
    for item in named {
        let place = position(under, &item);
        while rest
            .last()
            .is_some_and(|other| place.is_some() && position(under, other) < place)
        {
            ordered.extend(rest.pop());
        }
        ordered.push(item);
    }
    ordered.extend(rest.into_iter().rev());
    Some(ordered)
}

fn merge_env(under: &mut EnvVar, over: EnvVar) {
    under.value = text(under.value.as_ref(), over.value);
    under.value_from.merge_from(over.value_from);
}

fn merge_mount(under: &mut VolumeMount, over: VolumeMount) {
    under.name = over.name;
    under.mount_propagation = over.mount_propagation.or_else(|| under.mount_propagation.take());
    under.read_only = over.read_only.filter(|read_only| *read_only).or(under.read_only);
    under.recursive_read_only = over
        .recursive_read_only
        .or_else(|| under.recursive_read_only.take());
    under.sub_path = text(under.sub_path.as_ref(), over.sub_path);
    under.sub_path_expr = text(under.sub_path_expr.as_ref(), over.sub_path_expr);
}

fn merge_device(under: &mut VolumeDevice, over: VolumeDevice) {
    under.name = over.name;
}

/// A variable must not have both a value and a source; where merging made one, the step's own is taken.
fn amend_conflicts(env: &mut [EnvVar], own: &[EnvVar]) {
    for variable in env {
        let has_value = variable.value.as_ref().is_some_and(|value| !value.is_empty());
        if variable.value_from.is_some()
            && has_value
            && let Some(own) = own.iter().rfind(|own| own.name == variable.name)
        {
            variable.clone_from(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::EnvVarSource;

    fn mounts(paths: &[&str]) -> Vec<VolumeMount> {
        let mount = |path: &&str| VolumeMount {
            name: "v".into(),
            mount_path: (*path).into(),
            ..Default::default()
        };
        paths.iter().map(mount).collect()
    }

    fn merged(under: &[&str], over: &[&str]) -> Vec<String> {
        let template = Container {
            volume_mounts: Some(mounts(under)),
            ..Default::default()
        };
        let step = Container {
            volume_mounts: Some(mounts(over)),
            ..Default::default()
        };
        let merged = container(&template, step).volume_mounts.unwrap_or_default();
        merged.into_iter().map(|mount| mount.mount_path).collect()
    }

    #[test]
    fn lists_keep_the_order_of_the_step() {
        assert_eq!(merged(&["/t", "/w"], &["/own", "/t"]), ["/own", "/t", "/w"]);
        assert_eq!(merged(&["/a", "/b"], &["/b"]), ["/a", "/b"]);
        assert_eq!(merged(&["/a", "/b"], &["/b", "/a"]), ["/b", "/a"]);
        assert_eq!(merged(&["/a"], &["/x", "/y"]), ["/x", "/y", "/a"]);
        assert_eq!(merged(&["/a"], &[]), ["/a"]);
        assert_eq!(merged(&["/a"], &["/x", "/x"]), ["/x", "/a"]);
        assert_eq!(merged(&[], &["/x", "/x"]), ["/x", "/x"]);
    }

    #[test]
    fn a_source_replaces_a_value() {
        let source = EnvVar {
            name: "A".into(),
            value_from: Some(EnvVarSource::default()),
            ..Default::default()
        };
        let plain = EnvVar {
            name: "A".into(),
            value: Some("x".into()),
            ..Default::default()
        };
        let over = |under: &EnvVar, over: &EnvVar| {
            let template = Container {
                env: Some(vec![under.clone()]),
                ..Default::default()
            };
            container(
                &template,
                Container {
                    env: Some(vec![over.clone()]),
                    ..Default::default()
                },
            )
            .env
        };
        assert_eq!(over(&plain, &source), Some(vec![source.clone()]));
        assert_eq!(over(&source, &plain), Some(vec![plain.clone()]));
        let empty = EnvVar {
            value: Some(String::new()),
            ..plain.clone()
        };
        assert_eq!(over(&plain, &empty), Some(vec![plain]));
    }
}
