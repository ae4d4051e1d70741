//! Says what a pending pod waits for.
//!
//! Upstream counterpart: `pkg/pod/status.go` (`updateIncompleteTaskRunStatus`, `getWaitingMessage`).

use k8s_openapi::api::core::v1::{ContainerStateWaiting, ContainerStatus, Pod};

use super::completion::exceeds_node_resources;
use super::containers::{init_container_statuses, waiting};
use tekton_api::quote::quote;

const CONFIG_ERROR: &str = "CreateContainerConfigError";
/// The kubelet tries this one again by itself.
const SUB_PATH_ERROR: &str = "failed to create subPath directory";
const IMAGE_ERRORS: [&str; 6] = [
    "ImagePullBackOff",
    "ImageInspectError",
    "ErrImagePull",
    "ErrImageNeverPull",
    "RegistryUnavailable",
    "InvalidImageName",
];

/// What holds a pending pod up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// No node has room for it.
    NodeResources,
    /// A directory below a volume could not be made yet.
    SubPath,
    /// A container's configuration is wrong; it will not get better.
    ConfigError,
    /// An image cannot be pulled; the text says which.
    Image(String),
    /// Anything else.
    Other(String),
}

/// Classifies a pod in phase `Pending`.
pub fn classify(pod: &Pod, statuses: &[ContainerStatus]) -> Pending {
    let any = |matches: fn(&ContainerStateWaiting) -> bool| {
        init_container_statuses(pod)
            .iter()
            .chain(statuses)
            .filter_map(waiting)
            .any(matches)
    };
    if exceeds_node_resources(pod) {
        Pending::NodeResources
    } else if statuses
        .iter()
        .filter_map(waiting)
        .any(|state| is_config_error(state) && is_sub_path_error(state))
    {
        Pending::SubPath
    } else if any(|state| is_config_error(state) && !is_sub_path_error(state)) {
        Pending::ConfigError
    } else if any(|state| IMAGE_ERRORS.contains(&state.reason.as_deref().unwrap_or_default())) {
        Pending::Image(message(pod, statuses))
    } else {
        Pending::Other(message(pod, statuses))
    }
}

fn is_config_error(state: &ContainerStateWaiting) -> bool {
    state.reason.as_deref() == Some(CONFIG_ERROR)
}

fn is_sub_path_error(state: &ContainerStateWaiting) -> bool {
    state
        .message
        .as_deref()
        .is_some_and(|message| message.contains(SUB_PATH_ERROR))
}

/// The most telling text: of a waiting container, else of an unmet pod condition, else of the pod.
fn message(pod: &Pod, statuses: &[ContainerStatus]) -> String {
    let container = statuses.iter().find_map(|status| {
        let message = waiting(status)?
            .message
            .as_deref()
            .filter(|message| !message.is_empty())?;
        Some(format!(
            "build step {} is pending with reason {}",
            quote(&status.name),
            quote(message)
        ))
    });
    let condition = || {
        let conditions = pod.status.as_ref()?.conditions.as_deref()?;
        let unmet = conditions.iter().find(|condition| condition.status != "True")?;
        Some(format!(
            "pod status {}:{}; message: {}",
            quote(&unmet.type_),
            quote(&unmet.status),
            quote(unmet.message.as_deref().unwrap_or_default())
        ))
    };
    let own = || {
        pod.status
            .as_ref()?
            .message
            .clone()
            .filter(|message| !message.is_empty())
    };
    container
        .or_else(condition)
        .or_else(own)
        .unwrap_or_else(|| "Pending".to_owned())
}
