//! Reads the objects a pod refers to, and reports what is wrong with it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futures::future::{join_all, try_join_all};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    ConfigMap, Event, ObjectReference, PersistentVolumeClaim, Pod, Secret, ServiceAccount,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::json;

use super::super::context::Context;
use super::super::env::{self, Sources};
use super::super::fields::service_account;
use super::super::volumes::{self, Places, payload};
use crate::builtin::claims;

/// Where a pod finds what it needs to talk to the API.
pub(super) const API_ACCESS: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const API_ACCESS_VOLUME: &str = "kube-api-access";

/// Objects of a pod.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub sources: Sources,
    tokens: BTreeMap<String, String>,
    claims: BTreeMap<String, PathBuf>,
}

impl Objects {
    /// Makes the pod's volumes, or brings them up to date.
    pub(super) fn provide(&self, context: &Context, pod: &Pod, uid: &str) -> Result<Places, String> {
        let inputs = payload::Inputs {
            node: &context.settings.facts,
            sources: &self.sources,
            tokens: &self.tokens,
        };
        volumes::provide(
            pod,
            &context.settings.pod_dir(uid).join("volumes"),
            &inputs,
            &self.claims,
        )
    }
}

/// Reads everything that volumes and environment of a pod refer to; what does not exist is left out.
pub(super) async fn fetch(context: &Context, pod: &Pod) -> Result<Objects, kube::Error> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let client = &context.client;
    let spec = pod.spec.as_ref();
    let containers = spec.iter().flat_map(|spec| {
        spec.containers
            .iter()
            .chain(spec.init_containers.iter().flatten())
    });
    let (mut maps, mut secrets) = env::references(containers);
    let (more_maps, more_secrets) = payload::references(pod);
    maps.extend(more_maps);
    secrets.extend(more_secrets);
    let wanted = spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let claims = wanted
        .filter_map(|volume| Some(volume.persistent_volume_claim.as_ref()?.claim_name.clone()))
        .collect();
    let (config_maps, secrets, claims) = futures::try_join!(
        read::<ConfigMap>(client, namespace, maps),
        read::<Secret>(client, namespace, secrets),
        read::<PersistentVolumeClaim>(client, namespace, claims),
    )?;
    let mut places = BTreeMap::new();
    for (name, claim) in claims {
        places.insert(
            name,
            claims::place(client, &context.settings.claims, &claim).await?,
        );
    }
    Ok(Objects {
        sources: Sources { config_maps, secrets },
        tokens: tokens(client, pod).await,
        claims: places,
    })
}

async fn read<K>(
    client: &Client,
    namespace: &str,
    mut names: Vec<String>,
) -> Result<BTreeMap<String, K>, kube::Error>
where
    K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
    <K as kube::Resource>::DynamicType: Default,
{
    names.sort();
    names.dedup();
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let api = &api;
    let found = try_join_all(
        names
            .into_iter()
            .map(|name| async move { Ok::<_, kube::Error>((api.get_opt(&name).await?, name)) }),
    )
    .await?;
    Ok(found
        .into_iter()
        .filter_map(|(object, name)| Some((name, object?)))
        .collect())
}

/// Tokens for the pod's service account; those that the API refuses to give are left out.
async fn tokens(client: &Client, pod: &Pod) -> BTreeMap<String, String> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let account = service_account(pod);
    let (accounts, account) = (&accounts, account.as_str());
    let requests = payload::tokens(pod).into_iter().map(|(audience, seconds)| async move {
        let audiences: Vec<&str> = Some(audience.as_str()).into_iter().filter(|audience| !audience.is_empty()).collect();
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "audiences": audiences,
                "expirationSeconds": seconds.unwrap_or(3600),
                "boundObjectRef": { "apiVersion": "v1", "kind": "Pod", "name": pod.metadata.name, "uid": pod.metadata.uid },
            },
        });
        let answer: Result<serde_json::Value, _> = accounts.create_subresource("token", account, &PostParams::default(), &request).await;
        match answer {
            Ok(answer) => Some((audience, answer.pointer("/status/token")?.as_str()?.to_owned())),
            Err(error) => {
                tracing::warn!(service_account = %account, %error, "no token for a service account");
                None
            }
        }
    });
    join_all(requests).await.into_iter().flatten().collect()
}

/// The pod with the volume by which its containers talk to the API, unless it forbids that or has its own.
pub(super) fn with_api_access(pod: &Pod, api: bool) -> Pod {
    let mut pod = pod.clone();
    let Some(spec) = pod.spec.as_mut().filter(|_| api) else {
        return pod;
    };
    if spec.automount_service_account_token == Some(false)
        || spec
            .volumes
            .iter()
            .flatten()
            .any(|v| v.name.starts_with(API_ACCESS_VOLUME))
    {
        return pod;
    }
    let volume = json!({ "name": API_ACCESS_VOLUME, "projected": { "defaultMode": 0o644, "sources": [
        { "serviceAccountToken": { "path": "token", "expirationSeconds": 3607 } },
        { "configMap": { "name": "kube-root-ca.crt", "optional": true, "items": [{ "key": "ca.crt", "path": "ca.crt" }] } },
        { "downwardAPI": { "items": [{ "path": "namespace", "fieldRef": { "fieldPath": "metadata.namespace" } }] } },
    ] } });
    let mount = json!({ "name": API_ACCESS_VOLUME, "mountPath": API_ACCESS, "readOnly": true });
    let (Ok(volume), Ok(mount)) = (serde_json::from_value(volume), serde_json::from_value(mount)) else {
        return pod;
    };
    let mount: k8s_openapi::api::core::v1::VolumeMount = mount;
    spec.volumes.get_or_insert_default().push(volume);
    for container in spec
        .containers
        .iter_mut()
        .chain(spec.init_containers.iter_mut().flatten())
    {
        let mounts = container.volume_mounts.get_or_insert_default();
        if !mounts
            .iter()
            .any(|known| known.mount_path.trim_end_matches('/') == API_ACCESS)
        {
            mounts.push(mount.clone());
        }
    }
    pod
}

/// Reports trouble as an event of the pod.
pub(super) async fn warn(client: &Client, pod: &Pod, reason: &str, message: &str) {
    let namespace = pod.metadata.namespace.clone().unwrap_or_default();
    let name = pod.metadata.name.clone().unwrap_or_default();
    let now = Time(Timestamp::now());
    let event = Event {
        metadata: ObjectMeta {
            generate_name: Some(format!("{name}.")),
            namespace: Some(namespace.clone()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            name: Some(name),
            namespace: Some(namespace.clone()),
            uid: pod.metadata.uid.clone(),
            ..ObjectReference::default()
        },
        type_: Some("Warning".to_owned()),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        first_timestamp: Some(now.clone()),
        last_timestamp: Some(now),
        count: Some(1),
        source: Some(k8s_openapi::api::core::v1::EventSource {
            component: Some("kubelet".to_owned()),
            host: None,
        }),
        ..Event::default()
    };
    let events: Api<Event> = Api::namespaced(client.clone(), &namespace);
    if let Err(error) = events.create(&PostParams::default(), &event).await {
        tracing::debug!(%error, "an event could not be written");
    }
}
