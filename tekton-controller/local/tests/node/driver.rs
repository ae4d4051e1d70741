//! A cluster with a node, and ways to wait for what happens in it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, ContainerStateTerminated, ContainerStatus, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tekton_local::cluster::{Cluster, ClusterOptions};
use tekton_local::node::{BuiltinImage, Isolation, LogQuery, Node, NodeOptions};

/// No wait of a test takes longer.
const LIMIT: Duration = Duration::from_secs(30);

/// A test.
pub(crate) type Case = fn(World) -> Pin<Box<dyn Future<Output = ()>>>;

/// A cluster with a running node.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) node: Node,
    pub(crate) isolation: Isolation,
    pub(crate) base: PathBuf,
}

pub(crate) fn options(isolation: Option<Isolation>, base: &Path) -> NodeOptions {
    let nop = BuiltinImage {
        files: [("/ko-app/nop".into(), find("true"))].into(),
        entrypoint: vec!["/ko-app/nop".into()],
        cmd: vec![],
    };
    NodeOptions {
        name: "local".into(),
        isolation,
        state: Some(base.to_owned()),
        images: [("tekton.local/nop".to_owned(), nop)].into(),
        ..NodeOptions::default()
    }
}

fn find(program: &str) -> std::path::PathBuf {
    std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|dir| dir.join(program))
        .find(|path| path.exists())
        .unwrap()
}

/// The isolations that work here.
pub(crate) fn available() -> Vec<Isolation> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut available = Vec::new();
        for isolation in Isolation::ALL {
            let base = tempfile::tempdir().unwrap();
            let client = Cluster::new(ClusterOptions::default()).client("default");
            match Node::start(client, options(Some(isolation), base.path())).await {
                Ok(node) => {
                    node.shutdown().await;
                    available.push(isolation);
                }
                Err(error) => eprintln!("{error}"),
            }
        }
        available
    })
}

/// Runs a test in a directory of its own.
pub(crate) fn run(isolation: Isolation, case: Case) {
    let base = tempfile::tempdir().unwrap();
    run_in(isolation, base.path(), case);
}

/// Runs a test in a directory.
pub(crate) fn run_in(isolation: Isolation, base: &Path, case: Case) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let base = base.to_owned();
    runtime.block_on(async move {
        let cluster = Cluster::new(ClusterOptions::default());
        let client = cluster.client("default");
        let node = Node::start(client.clone(), options(Some(isolation), &base))
            .await
            .unwrap();
        cluster.set_log_source(Arc::new(node.logs().clone()));
        case(World {
            client,
            node,
            isolation,
            base,
        })
        .await;
    });
}

impl World {
    pub(crate) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Ends the node and checks that it left no file and no process.
    pub(crate) async fn finish(self) {
        let directory = self.node.directory().to_owned();
        self.node.shutdown().await;
        assert_eq!(
            std::fs::read_dir(&self.base).unwrap().count(),
            0,
            "files are left"
        );
        assert_eq!(marked(&directory), Vec::<String>::new(), "processes are left");
    }

    /// Creates a pod with this specification.
    pub(crate) async fn create(&self, name: &str, spec: Value) -> Pod {
        let mut spec = spec;
        if spec.get("restartPolicy").is_none() {
            spec["restartPolicy"] = json!("Never");
        }
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec});
        self.pods()
            .create(&PostParams::default(), &serde_json::from_value(pod).unwrap())
            .await
            .unwrap()
    }

    /// Waits until a pod is as wanted.
    pub(crate) async fn until(&self, name: &str, wanted: impl Fn(&Pod) -> bool) -> Pod {
        let mut last = None;
        let found = tokio::time::timeout(LIMIT, async {
            let params = WatchParams::default().fields(&format!("metadata.name={name}"));
            let mut events = Box::pin(self.pods().watch(&params, "0").await.unwrap());
            while let Some(event) = events.try_next().await.unwrap() {
                if let WatchEvent::Added(pod) | WatchEvent::Modified(pod) = event {
                    last = Some(pod.clone());
                    if wanted(&pod) {
                        return pod;
                    }
                }
            }
            panic!("the watch ended")
        });
        let found = found.await;
        found.unwrap_or_else(|_| panic!("{name} never was as wanted: {:#?}", last.map(|pod| pod.status)))
    }

    /// Waits until a pod is gone.
    pub(crate) async fn until_gone(&self, name: &str) {
        let gone = tokio::time::timeout(LIMIT, async {
            let params = WatchParams::default().fields(&format!("metadata.name={name}"));
            let list = self.pods().list(&kube::api::ListParams::default()).await.unwrap();
            if list.items.iter().all(|pod| pod.name_any() != name) {
                return;
            }
            let mut events = Box::pin(
                self.pods()
                    .watch(&params, &list.metadata.resource_version.unwrap())
                    .await
                    .unwrap(),
            );
            while let Some(event) = events.try_next().await.unwrap() {
                if matches!(event, WatchEvent::Deleted(_)) {
                    return;
                }
            }
            panic!("the watch ended")
        });
        gone.await.unwrap_or_else(|_| panic!("{name} never went away"));
    }

    /// Creates a pod and waits for its end.
    pub(crate) async fn complete(&self, name: &str, spec: Value) -> Pod {
        self.create(name, spec).await;
        self.until(name, |pod| matches!(phase(pod), "Succeeded" | "Failed"))
            .await
    }

    /// Runs a shell script in a pod of one container and returns its output.
    pub(crate) async fn shell(&self, name: &str, script: &str, more: Value) -> (i32, String) {
        let mut spec = more;
        spec["containers"] = json!([merged(
            json!({"name": "main", "image": "busybox", "command": ["sh", "-c", script]}),
            spec.get("container")
        )]);
        spec.as_object_mut().unwrap().remove("container");
        let pod = self.complete(name, spec).await;
        (end(&pod, "main").exit_code, self.log(name, "main").await)
    }

    /// What a container wrote, up to its end.
    pub(crate) async fn log(&self, pod: &str, container: &str) -> String {
        let query = LogQuery {
            follow: true,
            ..LogQuery::default()
        };
        let parts: Vec<bytes::Bytes> = self
            .node
            .logs()
            .read("default", pod, container, query)
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        String::from_utf8(parts.concat()).unwrap()
    }

    pub(crate) async fn config_map(&self, name: &str, data: Value) {
        let map: ConfigMap =
            serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).unwrap();
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), "default");
        maps.create(&PostParams::default(), &map).await.unwrap();
    }

    pub(crate) async fn patch(&self, name: &str, patch: Value) {
        self.pods()
            .patch(name, &PatchParams::default(), &Patch::Strategic(patch))
            .await
            .unwrap();
    }

    pub(crate) async fn delete(&self, name: &str, grace: u32) {
        self.pods()
            .delete(name, &DeleteParams::default().grace_period(grace))
            .await
            .unwrap();
    }
}

fn merged(mut base: Value, more: Option<&Value>) -> Value {
    for (key, value) in more.and_then(Value::as_object).into_iter().flatten() {
        base[key] = value.clone();
    }
    base
}

pub(crate) fn phase(pod: &Pod) -> &str {
    pod.status
        .as_ref()
        .and_then(|status| status.phase.as_deref())
        .unwrap_or_default()
}

/// Status of a container, init or not.
pub(crate) fn status<'a>(pod: &'a Pod, container: &str) -> Option<&'a ContainerStatus> {
    let status = pod.status.as_ref()?;
    status
        .container_statuses
        .iter()
        .chain(&status.init_container_statuses)
        .flatten()
        .find(|c| c.name == container)
}

/// How a container ended.
pub(crate) fn end(pod: &Pod, container: &str) -> ContainerStateTerminated {
    let state = status(pod, container).and_then(|status| status.state.clone());
    state
        .and_then(|state| state.terminated)
        .unwrap_or_else(|| panic!("{container} has not ended: {:#?}", pod.status))
}

pub(crate) fn is_running(pod: &Pod, container: &str) -> bool {
    status(pod, container)
        .and_then(|status| status.state.as_ref())
        .is_some_and(|state| state.running.is_some())
}

pub(crate) fn waiting(pod: &Pod, container: &str) -> Option<(String, String)> {
    let waiting = status(pod, container)?.state.as_ref()?.waiting.clone()?;
    Some((
        waiting.reason.unwrap_or_default(),
        waiting.message.unwrap_or_default(),
    ))
}

/// How many processes have this text in their arguments, other than this one and the victim.
pub(crate) fn mentions(tag: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| {
            std::fs::read_to_string(entry.path().join("cmdline")).is_ok_and(|words| words.contains(tag))
        })
        .count()
}

/// Processes that belong to the node with this directory.
pub(crate) fn marked(directory: &Path) -> Vec<String> {
    let instance = directory.file_name().unwrap().to_string_lossy().into_owned();
    let marks = [
        format!("TEKTON_LOCAL_SHIM={instance}"),
        format!("TEKTON_LOCAL_INSTANCE={instance}"),
    ];
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else {
            continue;
        };
        if environment
            .split(|byte| *byte == 0)
            .any(|var| marks.iter().any(|mark| mark.as_bytes() == var))
        {
            found.push(entry.path().display().to_string());
        }
    }
    found
}
