//! Brings up the single-machine cluster: API, node, built-in controllers, and Tekton's controllers.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use kube::Client;
use serde_json::{Value, json};
use tekton_api::admission::{self, Operation};
use tekton_api::config::Config;
use tekton_api::convert::{self, ConvertError};
use tekton_local::builtin;
use tekton_local::cluster::{self, AdmissionInput, Admit, Cluster, ClusterOptions, Refusal, Server, Tls};
use tekton_local::node::{ApiAddress, BuiltinImage, BuiltinImages, Isolation, Node, NodeError, NodeOptions};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{CliError, IsolationChoice};
use crate::config_watch;
use crate::effects::Executor;
use crate::effects::controllers::{self, Settings};
use crate::effects::images::HostImages;
use crate::images::Images;

/// Namespace of the ConfigMaps, as upstream's release has it.
const SYSTEM_NAMESPACE: &str = "tekton-pipelines";
/// Passes of the controllers that may be under way at once, a kind.
const CONCURRENCY: u16 = 32;

/// What to bring up.
#[derive(Clone, Debug)]
pub(super) struct MachineOptions {
    /// How containers are kept apart.
    pub isolation: IsolationChoice,
    /// Where the API listens; loopback with a free port if absent.
    pub listen: Option<SocketAddr>,
    /// Only the API.
    pub api_only: bool,
    /// Entries of ConfigMaps: map, key, value.
    pub settings: Vec<(String, String, String)>,
}

/// A running single-machine cluster.
pub(super) struct Machine {
    client: Client,
    node: Option<Node>,
    server: Server,
    authority: String,
    token: String,
    background: Vec<JoinHandle<()>>,
    stop: watch::Sender<bool>,
    controllers: Option<JoinHandle<()>>,
}

impl Machine {
    /// Brings everything up.
    pub(super) async fn start(options: MachineOptions) -> Result<Self, CliError> {
        let token = random_token();
        let (config_sender, config) = config_watch::channel();
        let admitted = config.clone();
        let admit: Admit = Arc::new(move |input: AdmissionInput| admit(&input, &admitted.borrow()));
        let converted = config.clone();
        let convert = move |object: Value, to: &str| in_version(object, to, &converted.borrow());
        let cluster = Cluster::new(ClusterOptions {
            // Without the controllers there is no webhook either, as in a cluster.
            admission: (!options.api_only).then_some(admit),
            convert: Some(Arc::new(convert)),
            token: Some(token.clone()),
            ..ClusterOptions::default()
        });
        let listen = options
            .listen
            .unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let listener = TcpListener::bind(listen)
            .await
            .with_context(|| format!("cannot listen on {listen}"))?;
        let names = [
            "localhost",
            "127.0.0.1",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
        ];
        let mut names: Vec<String> = names.map(str::to_owned).into();
        names.push(listen.ip().to_string());
        let tls = Tls::generate(&names).context("no certificate could be made")?;
        let authority = tls.authority.clone();
        cluster.set_authority(authority.clone());
        let server = cluster
            .serve(listener, Some(tls))
            .context("the API cannot be served")?;
        let client = cluster.client("default");
        let (stop, stopped) = watch::channel(false);
        let mut machine = Self {
            client,
            node: None,
            server,
            authority,
            token,
            background: Vec::new(),
            stop,
            controllers: None,
        };
        if options.api_only {
            return Ok(machine);
        }
        machine
            .background
            .push(tokio::spawn(builtin::run_all(cluster.clone())));
        write_settings(&machine.client, &options.settings).await?;
        config_watch::follow(machine.client.clone(), SYSTEM_NAMESPACE, config_sender)
            .await
            .context("the configuration could not be read")?;
        let node = machine.start_node(&cluster, options.isolation).await?;
        machine.node = Some(node);
        let executor = Executor::new(machine.client.clone(), Arc::new(HostImages));
        let settings = Settings {
            images: Images::local(),
            config,
            namespace: None,
            concurrency: CONCURRENCY,
        };
        machine.controllers = Some(tokio::spawn(controllers::run(executor, settings, until(stopped))));
        Ok(machine)
    }

    async fn start_node(&self, cluster: &Cluster, choice: IsolationChoice) -> Result<Node, CliError> {
        let address = self.server.address;
        let options = NodeOptions {
            images: images().context("this program's own file cannot be found")?,
            isolation: match choice {
                IsolationChoice::Auto => None,
                IsolationChoice::Namespaces => Some(Isolation::Namespaces),
                IsolationChoice::UserNamespaces => Some(Isolation::Userns),
                IsolationChoice::None => Some(Isolation::None),
            },
            api: Some(ApiAddress {
                host: address.ip().to_string(),
                port: address.port(),
            }),
            ..NodeOptions::default()
        };
        let node = Node::start(self.client.clone(), options)
            .await
            .map_err(|error| match error {
                NodeError::Isolation { .. } => CliError::BadInput(format!("--isolation: {error}")),
                other => CliError::Internal(anyhow::Error::new(other).context("the pod runner cannot start")),
            })?;
        cluster.set_log_source(Arc::new(node.logs().clone()));
        Ok(node)
    }

    /// A client of the API, in this process.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Where the API listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// How containers are kept apart.
    pub(super) fn isolation(&self) -> &'static str {
        self.node
            .as_ref()
            .map_or("no pods are run", |node| node.isolation().as_str())
    }

    /// A kubeconfig for the administrator of the cluster.
    pub(super) fn kubeconfig(&self) -> Value {
        use base64::Engine as _;
        let authority = base64::engine::general_purpose::STANDARD.encode(&self.authority);
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "tekton",
            "clusters": [{"name": "tekton", "cluster": {
                "server": format!("https://{}", self.server.address), "certificate-authority-data": authority}}],
            "users": [{"name": "admin", "user": {"token": self.token}}],
            "contexts": [{"name": "tekton", "context": {"cluster": "tekton", "user": "admin", "namespace": "default"}}],
        })
    }

    /// Stops everything and removes what was made for pods.
    pub(super) async fn stop(self) {
        let _ = self.stop.send(true);
        if let Some(controllers) = self.controllers {
            controllers.abort();
            let _ = controllers.await;
        }
        if let Some(node) = self.node {
            node.shutdown().await;
        }
        for task in self.background {
            task.abort();
        }
    }
}

async fn until(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Resolves when the user or the system asks this program to end.
pub(super) async fn interrupted() {
    crate::shutdown::requested().await;
}

/// Thirty-two random bytes in hexadecimal.
fn random_token() -> String {
    let halves: [u128; 2] = rand::random();
    format!("{:032x}{:032x}", halves[0], halves[1])
}

/// The images that are files of this program. It acts as each of the step programs by the name it is started
/// with; the small programs themselves are used where they lie beside it.
fn images() -> std::io::Result<BuiltinImages> {
    let own = std::env::current_exe()?;
    let program = |name: &str| -> PathBuf {
        let beside = own.with_file_name(name);
        if beside.is_file() { beside } else { own.clone() }
    };
    let local = Images::local();
    let mut found = BuiltinImages::new();
    let mut add = |image: String, name: &str, host: PathBuf| {
        let inside = PathBuf::from(format!("/ko-app/{name}"));
        let entrypoint = vec![inside.display().to_string()];
        let files: BTreeMap<PathBuf, PathBuf> = [(inside, host)].into();
        found.insert(
            image,
            BuiltinImage {
                files,
                entrypoint,
                cmd: Vec::new(),
            },
        );
    };
    add(local.entrypoint, "entrypoint", program("entrypoint"));
    add(local.nop, "nop", program("nop"));
    add(
        local.sidecar_log_results,
        "sidecarlogresults",
        program("sidecarlogresults"),
    );
    add(
        local.working_dir_init,
        "workingdirinit",
        program("workingdirinit"),
    );
    add("tekton.local/tekton:builtin".to_owned(), "tekton", own.clone());
    Ok(found)
}

/// An object in another version; kinds without a conversion only change their name.
fn in_version(mut object: Value, to: &str, config: &Config) -> Result<Value, String> {
    match convert::convert_with_defaults(&object, to, config) {
        Err(ConvertError::Unsupported { .. }) => {
            if let Some(members) = object.as_object_mut() {
                members.insert("apiVersion".to_owned(), json!(to));
            }
            Ok(object)
        }
        other => other.map_err(|error| error.to_string()),
    }
}

/// Admission of Tekton's kinds: defaults, then validation, in the words of upstream's webhook.
fn admit(input: &AdmissionInput, config: &Config) -> Result<Value, Refusal> {
    let is_tekton = input.group == "tekton.dev" || input.group == "resolution.tekton.dev";
    let operation = match input.operation {
        cluster::Operation::Create => Operation::Create,
        cluster::Operation::Update => Operation::Update,
    };
    if !is_tekton {
        return Ok(input.object.clone());
    }
    let refusal = |webhook: &str, what: &str, error: &admission::AdmissionError| Refusal {
        code: 400,
        message: format!("admission webhook \"{webhook}\" denied the request: {what} failed: {error}"),
    };
    let request = admission::Request {
        operation,
        kind: None,
        object: &input.object,
        old: input.old_object.as_ref(),
    };
    let object = match admission::default_object(&request, config) {
        Ok(object) => object,
        Err(admission::AdmissionError::UnknownKind { .. }) => return Ok(input.object.clone()),
        Err(error) => return Err(refusal("webhook.pipeline.tekton.dev", "mutation", &error)),
    };
    let request = admission::Request {
        operation,
        kind: None,
        object: &object,
        old: input.old_object.as_ref(),
    };
    admission::validate_object(&request, config)
        .map_err(|error| refusal("validation.webhook.pipeline.tekton.dev", "validation", &error))?;
    Ok(object)
}

/// Creates the ConfigMaps that the command line asks for.
async fn write_settings(client: &Client, settings: &[(String, String, String)]) -> Result<(), CliError> {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    use kube::api::{Api, PostParams};
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": SYSTEM_NAMESPACE}})).context("a namespace")?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .context("the namespace of the configuration")?;
    let mut maps: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for (map, key, value) in settings {
        maps.entry(map).or_default().insert(key.clone(), value.clone());
    }
    let data: BTreeMap<String, BTreeMap<String, String>> = maps
        .iter()
        .map(|(name, data)| ((*name).to_owned(), data.clone()))
        .collect();
    Config::from_config_maps(&data).map_err(|error| CliError::BadInput(format!("--set: {error}")))?;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), SYSTEM_NAMESPACE);
    for (name, data) in maps {
        let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": name}, "data": data}))
            .context("a ConfigMap")?;
        api.create(&PostParams::default(), &map)
            .await
            .context("the configuration cannot be stored")?;
    }
    Ok(())
}
