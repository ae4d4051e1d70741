//! What all pods of a node share.

use std::path::PathBuf;

use kube::Client;
use tokio::sync::watch;

use super::fields::NodeFacts;
use super::images::BuiltinImages;
use super::isolation::Isolation;
use super::logs::Logs;
use super::process::ShimProgram;

/// Where containers reach the API.
#[derive(Clone, Debug)]
pub struct ApiAddress {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

#[derive(Debug)]
pub(super) struct Settings {
    pub facts: NodeFacts,
    pub images: BuiltinImages,
    pub isolation: Isolation,
    pub shim: ShimProgram,
    /// Private directory of the node.
    pub dir: PathBuf,
    /// Directories of claims.
    pub claims: PathBuf,
    /// Where containers reach the API, if they can.
    pub api: Option<ApiAddress>,
    /// Search path of containers.
    pub search_path: String,
    /// Home directory of containers that set none.
    pub home: String,
}

/// The surroundings of a pod.
#[derive(Clone)]
pub(super) struct Context {
    pub client: Client,
    pub settings: std::sync::Arc<Settings>,
    pub logs: Logs,
    /// Counts changes of ConfigMaps, Secrets and claims.
    pub changes: watch::Receiver<u64>,
    /// Becomes true when the node ends.
    pub stop: watch::Receiver<bool>,
}

impl Settings {
    /// Directory of a pod.
    pub(super) fn pod_dir(&self, uid: &str) -> PathBuf {
        self.dir.join("pods").join(uid)
    }

    /// Directory of a pod's logs, which stay until the pod is deleted.
    pub(super) fn log_dir(&self, uid: &str) -> PathBuf {
        self.dir.join("logs").join(uid)
    }

    /// Variables that every container gets.
    pub(super) fn base_env(&self, hostname: &str) -> Vec<(String, String)> {
        let mut env = vec![
            ("PATH".to_owned(), self.search_path.clone()),
            ("HOSTNAME".to_owned(), hostname.to_owned()),
            ("HOME".to_owned(), self.home.clone()),
        ];
        if let Some(api) = &self.api {
            let (host, port) = (&api.host, api.port);
            let url = format!("tcp://{host}:{port}");
            env.push(("KUBERNETES_SERVICE_HOST".to_owned(), host.clone()));
            env.push(("KUBERNETES_SERVICE_PORT".to_owned(), port.to_string()));
            env.push(("KUBERNETES_SERVICE_PORT_HTTPS".to_owned(), port.to_string()));
            env.push(("KUBERNETES_PORT".to_owned(), url));
        }
        env
    }
}

/// Returns when the node ends.
pub(super) async fn ended(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}
