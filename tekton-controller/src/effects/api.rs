//! Answers the questions of a pass with calls to a Kubernetes API.

use std::sync::Arc;

use futures::future::join_all;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, LogParams, Patch as KubePatch, PatchParams, PostParams,
};
use kube::core::gvk::GroupVersionKind;
use kube::discovery::ApiResource;
use kube::{Client, Error};
use serde_json::{Value, json};

use super::images::ImageLookup;
use crate::memory::resource_of;
use crate::plan::{Answer, Answers, ApiFailure, Ask, ObjectRef, Patch, Waiting};

/// Puts questions to an API server and an image registry.
#[derive(Clone)]
pub struct Executor {
    client: Client,
    images: Arc<dyn ImageLookup>,
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor").finish_non_exhaustive()
    }
}

impl Executor {
    /// An executor over a client.
    pub fn new(client: Client, images: Arc<dyn ImageLookup>) -> Self {
        Self { client, images }
    }

    /// The client below.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Runs a pass again and again until it waits for nothing more.
    pub async fn drive<T>(&self, mut pass: impl FnMut(&Answers) -> Result<T, Waiting>) -> T {
        let mut answers = Answers::new();
        loop {
            match pass(&answers) {
                Ok(done) => return done,
                Err(Waiting(asks)) => {
                    let found = join_all(asks.iter().map(|ask| self.answer(ask))).await;
                    for (ask, answer) in asks.iter().zip(found) {
                        if let Err(failure) = &answer {
                            tracing::debug!(ask = %ask.label(), %failure, "answered with a failure");
                        }
                        answers.insert(ask, answer);
                    }
                }
            }
        }
    }

    /// Answers one question.
    pub async fn answer(&self, ask: &Ask) -> Answer {
        match ask {
            Ask::Get(target) | Ask::Cached(target) => {
                let object = self.api(target).get(&target.name).await.map_err(failure)?;
                whole(target, object)
            }
            Ask::List {
                api_version,
                kind,
                namespace,
                labels,
            } => {
                let target = ObjectRef::new(api_version, kind, namespace, "");
                self.list(&target, labels).await
            }
            Ask::Create { object, dry_run } => {
                let target = ObjectRef::of(object);
                let params = PostParams {
                    dry_run: *dry_run,
                    ..PostParams::default()
                };
                let stored = self
                    .api(&target)
                    .create(&params, &parsed(object)?)
                    .await
                    .map_err(failure)?;
                whole(&target, stored)
            }
            Ask::Update { object } => {
                let target = ObjectRef::of(object);
                let (api, params) = (self.api(&target), PostParams::default());
                let stored = api
                    .replace(&target.name, &params, &parsed(object)?)
                    .await
                    .map_err(failure)?;
                whole(&target, stored)
            }
            Ask::Patch {
                target,
                patch,
                subresource,
            } => self.patch(target, patch, *subresource).await,
            Ask::Delete(target) => {
                self.api(target)
                    .delete(&target.name, &DeleteParams::default())
                    .await
                    .map_err(failure)?;
                Ok(Value::Null)
            }
            Ask::ImageConfig {
                image,
                namespace,
                service_account,
                pull_secrets,
            } => {
                let found = self
                    .images
                    .look_up(image, namespace, service_account, pull_secrets)
                    .await;
                found
                    .map_err(plain)
                    .and_then(|config| serde_json::to_value(config).map_err(|e| plain(e.to_string())))
            }
            Ask::PodLog {
                namespace,
                pod,
                container,
            } => {
                let params = LogParams {
                    container: Some(container.clone()),
                    ..LogParams::default()
                };
                let pods: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
                pods.logs(pod, &params).await.map(Value::String).map_err(failure)
            }
            Ask::Again { after, ask, .. } => {
                tokio::time::sleep(*after).await;
                Box::pin(self.answer(ask)).await
            }
            Ask::ServerVersion => {
                let version = self.client.apiserver_version().await.map_err(failure)?;
                Ok(json!({"major": version.major, "minor": version.minor}))
            }
        }
    }

    async fn patch(&self, target: &ObjectRef, patch: &Patch, subresource: Option<&str>) -> Answer {
        let (api, params) = (self.api(target), PatchParams::default());
        let patch: KubePatch<Value> = match patch {
            Patch::Json(operations) => {
                let operations =
                    serde_json::from_value(operations.clone()).map_err(|e| plain(e.to_string()))?;
                KubePatch::Json(operations)
            }
            Patch::Merge(body) => KubePatch::Merge(body.clone()),
        };
        let stored = match subresource {
            Some(_) => api.patch_status(&target.name, &params, &patch).await,
            None => api.patch(&target.name, &params, &patch).await,
        };
        whole(target, stored.map_err(failure)?)
    }

    async fn list(&self, target: &ObjectRef, labels: &str) -> Answer {
        let api = self.api(target);
        let mut params = ListParams::default().limit(500);
        if !labels.is_empty() {
            params = params.labels(labels);
        }
        let mut found = Vec::new();
        loop {
            let page = api.list(&params).await.map_err(failure)?;
            let token = page.metadata.continue_.clone().filter(|token| !token.is_empty());
            found.extend(page.items);
            match token {
                Some(token) => params = params.continue_token(&token),
                None => break,
            }
        }
        found.sort_by_key(|item| {
            (
                item.metadata.creation_timestamp.clone(),
                item.metadata.name.clone(),
            )
        });
        found
            .into_iter()
            .map(|item| whole(target, item))
            .collect::<Result<Vec<_>, _>>()
            .map(Value::Array)
    }

    fn api(&self, target: &ObjectRef) -> Api<DynamicObject> {
        let (group, version) = target
            .api_version
            .split_once('/')
            .unwrap_or(("", &target.api_version));
        let kind = GroupVersionKind::gvk(group, version, &target.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &resource_of(&target.kind));
        if target.namespace.is_empty() {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), &target.namespace, &resource)
        }
    }
}

/// What the API said, in the words of a pass.
pub fn failure(error: Error) -> ApiFailure {
    match error {
        Error::Api(status) => ApiFailure {
            code: status.code,
            reason: status.reason.clone(),
            message: status.message.clone(),
            details: status
                .details
                .as_ref()
                .and_then(|d| serde_json::to_value(d).ok())
                .unwrap_or_default(),
        },
        other => plain(other.to_string()),
    }
}

fn plain(message: String) -> ApiFailure {
    ApiFailure {
        code: 0,
        reason: String::new(),
        message,
        details: Value::Null,
    }
}

fn parsed(object: &Value) -> Result<DynamicObject, ApiFailure> {
    serde_json::from_value(object.clone()).map_err(|error| plain(error.to_string()))
}

/// The object with the kind and API version that a list leaves out.
fn whole(target: &ObjectRef, object: DynamicObject) -> Answer {
    let mut value = serde_json::to_value(object).map_err(|error| plain(error.to_string()))?;
    if let Some(members) = value.as_object_mut() {
        members
            .entry("apiVersion")
            .or_insert_with(|| json!(target.api_version));
        members.entry("kind").or_insert_with(|| json!(target.kind));
    }
    Ok(value)
}
