//! The changes that are made to a pod after its creation, as values.
//!
//! Each function returns the body of an RFC 6902 patch, or `None` where there is nothing to change; the
//! caller sends it. Upstream counterpart: `pkg/pod/entrypoint.go`.

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use tekton_api::labels;

use crate::status::containers::{container_statuses, is_step, phase, running};

/// Value of the annotation that starts the first step.
pub const READY: &str = "READY";
/// Value of the annotation that cancels the steps.
pub const CANCEL: &str = "CANCEL";

/// Lets the first step start; the kubelet projects the annotation into its file.
pub fn ready(pod: &Pod) -> Option<Value> {
    let annotations = pod.metadata.annotations.as_ref();
    let is_ready = annotations
        .and_then(|all| all.get(labels::READY))
        .is_some_and(|value| value == READY);
    (!is_ready).then(|| annotate(labels::READY, READY))
}

/// Tells the entrypoints of all steps to stop.
pub fn cancel() -> Value {
    annotate(labels::CANCEL, CANCEL)
}

/// Stops whatever still runs besides the steps by giving it the `nop` image, which exits at once.
///
/// `spared` is a container that ends by itself: the one that prints results.
pub fn stop_sidecars(pod: &Pod, nop_image: &str, spared: Option<&str>) -> Option<Value> {
    if phase(pod) != "Running" {
        return None;
    }
    let containers = pod
        .spec
        .as_ref()
        .map(|spec| spec.containers.as_slice())
        .unwrap_or_default();
    let operations: Vec<Value> = container_statuses(pod)
        .iter()
        .filter(|status| Some(status.name.as_str()) != spared)
        .filter(|status| !is_step(&status.name) && running(status).is_some())
        .filter_map(|status| {
            let index = containers.iter().position(|container| {
                container.name == status.name && container.image.as_deref() != Some(nop_image)
            })?;
            Some(json!({"op": "replace", "path": format!("/spec/containers/{index}/image"), "value": nop_image}))
        })
        .collect();
    (!operations.is_empty()).then_some(Value::Array(operations))
}

fn annotate(key: &str, value: &str) -> Value {
    let pointer = key.replace('~', "~0").replace('/', "~1");
    json!([{"op": "replace", "path": format!("/metadata/annotations/{pointer}"), "value": value}])
}
