//! Makes the node known to the API and binds pods to it: a scheduler with one node.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, NodeAddress, NodeCondition, NodeStatus, NodeSystemInfo, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;

use super::fields::NodeFacts;

/// All pods share the network of the machine.
const ADDRESS: &str = "127.0.0.1";

/// Facts of this machine, under the name given or its own.
pub(super) fn facts(name: &str) -> NodeFacts {
    let own = || {
        let host = nix::sys::utsname::uname()
            .ok()
            .map(|machine| machine.nodename().to_string_lossy().to_lowercase());
        let valid = |name: &String| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'))
        };
        host.filter(valid).unwrap_or_else(|| "local".to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = memory.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse::<i128>()
            .ok()
    });
    NodeFacts {
        name: if name.is_empty() { own() } else { name.to_owned() },
        address: ADDRESS.to_owned(),
        cpu_milli: i128::try_from(cores).unwrap_or(1) * 1000,
        memory: total.unwrap_or_default() * 1024,
    }
}

fn labels(facts: &NodeFacts) -> BTreeMap<String, String> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    [
        ("kubernetes.io/hostname", facts.name.as_str()),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", architecture),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .collect()
}

/// Creates the Node object, or renews the one there is.
pub(super) async fn register(client: &Client, facts: &NodeFacts) -> Result<(), kube::Error> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = Node {
        metadata: ObjectMeta {
            name: Some(facts.name.clone()),
            labels: Some(labels(facts)),
            ..ObjectMeta::default()
        },
        ..Node::default()
    };
    match nodes.create(&PostParams::default(), &node).await {
        Err(kube::Error::Api(error)) if error.code == 409 => {}
        result => drop(result?),
    }
    let patch = Patch::Merge(json!({ "status": node_status(facts) }));
    nodes
        .patch_status(&facts.name, &PatchParams::default(), &patch)
        .await?;
    Ok(())
}

fn node_status(facts: &NodeFacts) -> NodeStatus {
    let now = Time(jiff::Timestamp::now());
    let capacity: BTreeMap<String, Quantity> = [
        ("cpu", format!("{}m", facts.cpu_milli)),
        ("memory", facts.memory.to_string()),
        ("pods", "1000".to_owned()),
    ]
    .into_iter()
    .map(|(name, amount)| (name.to_owned(), Quantity(amount)))
    .collect();
    let kernel = nix::sys::utsname::uname().ok();
    NodeStatus {
        addresses: Some(vec![
            NodeAddress {
                type_: "InternalIP".to_owned(),
                address: facts.address.clone(),
            },
            NodeAddress {
                type_: "Hostname".to_owned(),
                address: facts.name.clone(),
            },
        ]),
        allocatable: Some(capacity.clone()),
        capacity: Some(capacity),
        conditions: Some(vec![NodeCondition {
            type_: "Ready".to_owned(),
            status: "True".to_owned(),
            reason: Some("KubeletReady".to_owned()),
            message: Some("pods run as processes of this machine".to_owned()),
            last_heartbeat_time: Some(now.clone()),
            last_transition_time: Some(now),
        }]),
        node_info: Some(NodeSystemInfo {
            architecture: labels(facts)
                .get("kubernetes.io/arch")
                .cloned()
                .unwrap_or_default(),
            operating_system: "linux".to_owned(),
            kernel_version: kernel
                .map(|kernel| kernel.release().to_string_lossy().into_owned())
                .unwrap_or_default(),
            kubelet_version: concat!("v", env!("CARGO_PKG_VERSION"), "-tekton-local").to_owned(),
            container_runtime_version: concat!("tekton-local://", env!("CARGO_PKG_VERSION")).to_owned(),
            ..NodeSystemInfo::default()
        }),
        ..NodeStatus::default()
    }
}

/// Binds a pod to the node, or says why it cannot run here.
pub(super) async fn bind(client: &Client, pod: &Pod, facts: &NodeFacts) {
    let (Some(name), Some(namespace)) = (pod.metadata.name.as_deref(), pod.metadata.namespace.as_deref())
    else {
        return;
    };
    if pod.metadata.deletion_timestamp.is_some()
        || pod
            .spec
            .as_ref()
            .is_some_and(|spec| spec.scheduling_gates.iter().flatten().next().is_some())
    {
        return;
    }
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let labels = labels(facts);
    let selector = pod
        .spec
        .iter()
        .flat_map(|spec| spec.node_selector.iter().flatten());
    let outcome = if selector
        .clone()
        .all(|(key, value)| labels.get(key) == Some(value))
    {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name, "namespace": namespace },
            "target": { "apiVersion": "v1", "kind": "Node", "name": facts.name },
        });
        let answer: Result<serde_json::Value, _> = pods
            .create_subresource("binding", name, &PostParams::default(), &binding)
            .await;
        answer.map(drop)
    } else {
        refuse(&pods, pod, name).await
    };
    match outcome {
        Ok(()) => {}
        Err(kube::Error::Api(error)) if error.code == 404 || error.code == 409 => {}
        Err(error) => tracing::warn!(pod = name, %error, "a pod could not be bound to the node"),
    }
}

async fn refuse(pods: &Api<Pod>, pod: &Pod, name: &str) -> Result<(), kube::Error> {
    let known = pod
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten())
        .any(|c| c.type_ == "PodScheduled");
    if known {
        return Ok(());
    }
    let condition = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
        "lastTransitionTime": Time(jiff::Timestamp::now()),
    });
    let patch = Patch::Merge(json!({ "status": { "phase": "Pending", "conditions": [condition] } }));
    pods.patch_status(name, &PatchParams::default(), &patch)
        .await
        .map(drop)
}
