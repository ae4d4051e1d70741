//! Creates the objects of the files through the API, whose admission says what is wrong with them.

use std::path::Path;

use anyhow::Context;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::gvk::GroupVersionKind;
use kube::discovery::Scope;
use kube::{Client, ResourceExt};
use serde_json::json;

use super::documents::{self, Document};
use super::{ApplyArgs, CliError, Outcome, report};
use crate::effects::api::failure;

/// A run that was created.
#[derive(Clone, Debug)]
pub(super) struct Started {
    /// TaskRun or PipelineRun.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name, generated if the file gave only a prefix.
    pub name: String,
}

/// Runs `tekton apply`.
pub(super) async fn command(args: ApplyArgs) -> Result<Outcome, CliError> {
    let found = documents::read(&args.files)?;
    let client = connect()
        .await
        .context("no cluster: neither a kubeconfig nor a pod's service account")?;
    let namespace = args
        .namespace
        .unwrap_or_else(|| client.default_namespace().to_owned());
    for document in &found {
        let stored = create(&client, document, &namespace).await?;
        report::print(&format!("{} {} applied", document.kind(), stored.name_any()));
    }
    Ok(Outcome::Succeeded)
}

/// A client of the cluster that the environment names.
///
/// Without namespaces a local pod's files do not lie where the client library looks for them.
async fn connect() -> anyhow::Result<Client> {
    let Some(files) = std::env::var_os("TEKTON_SERVICE_ACCOUNT_DIR") else {
        return Ok(Client::try_default().await?);
    };
    let files = Path::new(&files);
    if !files.join("token").exists() {
        return Ok(Client::try_default().await?);
    }
    let file = |name: &str| files.join(name).to_string_lossy().into_owned();
    let host = std::env::var("KUBERNETES_SERVICE_HOST")?;
    let port = std::env::var("KUBERNETES_SERVICE_PORT")?;
    let kubeconfig: Kubeconfig = serde_json::from_value(json!({
        "clusters": [{"name": "pod", "cluster": {"server": format!("https://{host}:{port}"),
                                                 "certificate-authority": file("ca.crt")}}],
        "users": [{"name": "pod", "user": {"tokenFile": file("token")}}],
        "contexts": [{"name": "pod", "context": {"cluster": "pod", "user": "pod",
                                                 "namespace": std::fs::read_to_string(file("namespace"))?}}],
        "current-context": "pod",
    }))?;
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// Creates everything: first what is no run, in order of the files, then the runs.
pub(super) async fn apply(
    client: &Client,
    documents: &[Document],
    namespace: &str,
) -> Result<Vec<Started>, CliError> {
    let mut started = Vec::new();
    let (runs, others): (Vec<&Document>, Vec<&Document>) = documents.iter().partition(|d| d.is_run());
    for document in others.into_iter().chain(runs) {
        let stored = create(client, document, namespace).await?;
        if document.is_run() {
            started.push(Started {
                kind: document.kind().to_owned(),
                namespace: stored.metadata.namespace.unwrap_or_default(),
                name: stored.metadata.name.unwrap_or_default(),
            });
        }
    }
    Ok(started)
}

async fn create(client: &Client, document: &Document, default: &str) -> Result<DynamicObject, CliError> {
    let refused = |text: String| CliError::BadInput(format!("{}: {text}", document.describe()));
    let mut object: DynamicObject =
        serde_json::from_value(document.object.clone()).map_err(|error| refused(error.to_string()))?;
    let types = object.types.clone().unwrap_or_default();
    let gvk = GroupVersionKind::try_from(&types).map_err(|error| refused(error.to_string()))?;
    let (resource, capabilities) = kube::discovery::pinned_kind(client, &gvk).await.map_err(|_| {
        refused(format!(
            "unknown kind \"{}\" in \"{}\"",
            types.kind, types.api_version
        ))
    })?;
    let namespaced = matches!(capabilities.scope, Scope::Namespaced);
    let api: Api<DynamicObject> = if namespaced {
        let namespace = object
            .metadata
            .namespace
            .get_or_insert_with(|| default.to_owned())
            .clone();
        if namespace != client.default_namespace() {
            ensure_namespace(client, &namespace).await.map_err(refused)?;
        }
        Api::namespaced_with(client.clone(), &namespace, &resource)
    } else {
        Api::all_with(client.clone(), &resource)
    };
    let Some(name) = object.metadata.name.clone() else {
        return api
            .create(&PostParams::default(), &object)
            .await
            .map_err(|error| refused(failure(error).message));
    };
    match api.create(&PostParams::default(), &object).await {
        Ok(stored) => Ok(stored),
        // What a cluster has from the start (a service account, a namespace) is changed, not refused.
        Err(error) => {
            let answer = failure(error);
            if !answer.is_already_exists() || document.is_run() {
                return Err(refused(answer.message));
            }
            let patch = Patch::Merge(&document.object);
            api.patch(&name, &PatchParams::default(), &patch)
                .await
                .map_err(|error| refused(failure(error).message))
        }
    }
}

async fn ensure_namespace(client: &Client, name: &str) -> Result<(), String> {
    use k8s_openapi::api::core::v1::Namespace;
    let api: Api<Namespace> = Api::all(client.clone());
    let found = api.get_opt(name).await.map_err(|error| failure(error).message)?;
    if found.is_some() {
        return Ok(());
    }
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": name}})).map_err(|e| e.to_string())?;
    match api.create(&PostParams::default(), &namespace).await {
        Ok(_) => Ok(()),
        Err(error) => {
            let answer = failure(error);
            if answer.is_already_exists() {
                Ok(())
            } else {
                Err(answer.message)
            }
        }
    }
}
