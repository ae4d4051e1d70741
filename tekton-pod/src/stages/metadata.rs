//! Name, labels, annotations and owner of the pod, and how long it may live.
//!
//! Upstream counterpart: `makeLabels` and the object part of `Builder.Build` in `pkg/pod/pod.go`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use tekton_api::duration::Duration;
use tekton_api::v1::TaskRun;
use tekton_api::{labels, names};

/// Longest life of a pod, in seconds: that of runs without a timeout.
const MAX_DEADLINE: i64 = i32::MAX as i64;
/// Value of the annotation that lets the first step start.
const READY: &str = "READY";

/// Metadata of the pod of a run. With `ready` the first step need not wait for sidecars.
pub(crate) fn object(run: &TaskRun, managed_by: &str, release: &str, ready: bool) -> ObjectMeta {
    let retries = run
        .status
        .as_ref()
        .map_or(0, |status| status.retries_status.len());
    let suffix = if retries > 0 {
        format!("-pod-retry{retries}")
    } else {
        "-pod".to_owned()
    };
    let name = run.metadata.name.as_deref().unwrap_or_default();
    ObjectMeta {
        name: Some(names::child_name(name, &suffix)),
        namespace: run.metadata.namespace.clone(),
        labels: Some(pod_labels(run, name, managed_by)),
        annotations: Some(pod_annotations(run, release, ready)),
        owner_references: Some(vec![owner(run, name)]),
        ..ObjectMeta::default()
    }
}

/// Seconds after which the kubelet ends the pod, should the controller not do it: half as long again as
/// the timeout of the run.
pub(crate) fn active_deadline(timeout: Duration) -> i64 {
    if timeout == Duration::ZERO {
        return MAX_DEADLINE;
    }
    let half_as_long_again = i128::from(timeout.as_nanos()) * 3 / 2;
    i64::try_from(half_as_long_again / 1_000_000_000).unwrap_or(MAX_DEADLINE)
}

fn pod_labels(run: &TaskRun, name: &str, managed_by: &str) -> BTreeMap<String, String> {
    let mut all = run.metadata.labels.clone().unwrap_or_default();
    all.insert(labels::TASK_RUN.to_owned(), name.to_owned());
    all.insert(
        labels::TASK_RUN_UID.to_owned(),
        run.metadata.uid.clone().unwrap_or_default(),
    );
    all.insert(labels::APP_MANAGED_BY.to_owned(), managed_by.to_owned());
    all
}

fn pod_annotations(run: &TaskRun, release: &str, ready: bool) -> BTreeMap<String, String> {
    let mut all = run.metadata.annotations.clone().unwrap_or_default();
    all.remove(labels::APP_MANAGED_BY);
    all.insert(labels::RELEASE.to_owned(), release.to_owned());
    if ready {
        all.insert(labels::READY.to_owned(), READY.to_owned());
    }
    all
}

fn owner(run: &TaskRun, name: &str) -> OwnerReference {
    OwnerReference {
        api_version: "tekton.dev/v1".to_owned(),
        kind: "TaskRun".to_owned(),
        name: name.to_owned(),
        uid: run.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}
