//! The built-in controllers.

use std::future::Future;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, PersistentVolumeClaim, Pod, ServiceAccount};
use kube::api::{DeleteParams, PostParams, PropagationPolicy, WatchParams};
use kube::{Api, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tekton_local::builtin::run_all;
use tekton_local::cluster::{Cluster, ClusterOptions};

async fn with_controllers<T>(test: impl AsyncFnOnce(Cluster) -> T) -> T {
    let cluster = Cluster::new(ClusterOptions::default());
    tokio::select! {
        result = tokio::time::timeout(Duration::from_secs(30), test(cluster.clone())) => result.expect("in time"),
        () = run_all(cluster.clone()) => unreachable!("the controllers do not end"),
    }
}

async fn create<K>(api: &Api<K>, object: Value) -> K
where
    K: Resource + Clone + DeserializeOwned + serde::Serialize + std::fmt::Debug,
{
    api.create(&PostParams::default(), &serde_json::from_value(object).unwrap())
        .await
        .unwrap()
}

/// Waits until the named object fits, following its changes.
async fn until<K>(api: &Api<K>, name: &str, fits: impl Fn(Option<&K>) -> bool)
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    let parameters = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = api.watch(&parameters, "0").await.unwrap().boxed();
    while !fits(api.get_opt(name).await.unwrap().as_ref()) {
        events.try_next().await.unwrap();
    }
}

fn owned(name: &str, owner: &ConfigMap, block: bool) -> Value {
    json!({"metadata": {"name": name, "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": owner.name_any(),
        "uid": owner.uid().unwrap(), "blockOwnerDeletion": block}]}})
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
fn dependents_follow_their_owner() {
    run(with_controllers(async |cluster| {
        let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client("default"));
        let owner = create(&maps, json!({"metadata": {"name": "owner"}})).await;
        let child = create(&maps, owned("child", &owner, false)).await;
        create(&maps, owned("grandchild", &child, false)).await;
        maps.delete("owner", &DeleteParams::background()).await.unwrap();
        until(&maps, "grandchild", |found| found.is_none()).await;
        assert!(maps.get_opt("child").await.unwrap().is_none());
    }));
}

#[test]
fn a_foreground_delete_waits_for_dependents() {
    run(with_controllers(async |cluster| {
        let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client("default"));
        let owner = create(&maps, json!({"metadata": {"name": "owner"}})).await;
        create(&maps, owned("child", &owner, true)).await;
        maps.delete("owner", &DeleteParams::foreground()).await.unwrap();
        until(&maps, "owner", |found| found.is_none()).await;
        assert!(maps.get_opt("child").await.unwrap().is_none());
    }));
}

#[test]
fn orphans_stay_without_their_reference() {
    run(with_controllers(async |cluster| {
        let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client("default"));
        let owner = create(&maps, json!({"metadata": {"name": "owner"}})).await;
        create(&maps, owned("child", &owner, true)).await;
        let orphan = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Orphan),
            ..DeleteParams::default()
        };
        maps.delete("owner", &orphan).await.unwrap();
        until(&maps, "owner", |found| found.is_none()).await;
        assert!(maps.get("child").await.unwrap().owner_references().is_empty());
    }));
}

#[test]
fn a_dependent_of_a_missing_owner_goes() {
    run(with_controllers(async |cluster| {
        let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client("default"));
        let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "u"}]);
        create(
            &maps,
            json!({"metadata": {"name": "late", "ownerReferences": reference}}),
        )
        .await;
        until(&maps, "late", |found| found.is_none()).await;
    }));
}

#[test]
fn namespaces_are_furnished_and_emptied() {
    run(with_controllers(async |cluster| {
        let spaces: Api<Namespace> = Api::all(cluster.client("default"));
        create(&spaces, json!({"metadata": {"name": "n"}})).await;
        let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client("default"), "n");
        until(&accounts, "default", |found| found.is_some()).await;
        let maps: Api<ConfigMap> = Api::namespaced(cluster.client("default"), "n");
        until(&maps, "kube-root-ca.crt", |found| found.is_some()).await;
        spaces.delete("n", &DeleteParams::default()).await.unwrap();
        until(&spaces, "n", |found| found.is_none()).await;
        assert!(maps.get_opt("kube-root-ca.crt").await.unwrap().is_none());
    }));
}

#[test]
fn unused_claims_are_released() {
    run(with_controllers(async |cluster| {
        let claims: Api<PersistentVolumeClaim> = Api::default_namespaced(cluster.client("default"));
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let claim = create(&claims, json!({"metadata": {"name": "c"}, "spec": spec})).await;
        assert_eq!(claim.finalizers(), ["kubernetes.io/pvc-protection"]);
        claims.delete("c", &DeleteParams::default()).await.unwrap();
        until(&claims, "c", |found| found.is_none()).await;
    }));
}

#[test]
fn a_stateful_set_makes_its_claims_and_pods() {
    run(with_controllers(async |cluster| {
        let sets: Api<StatefulSet> = Api::default_namespaced(cluster.client("default"));
        let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}});
        let template = json!({"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        create(
            &sets,
            json!({"metadata": {"name": "s"}, "spec": {"selector": {"matchLabels": {"a": "1"}},
            "template": template, "volumeClaimTemplates": [claim]}}),
        )
        .await;
        let pods: Api<Pod> = Api::default_namespaced(cluster.client("default"));
        until(&pods, "s-0", |found| found.is_some()).await;
        let claims: Api<PersistentVolumeClaim> = Api::default_namespaced(cluster.client("default"));
        assert!(claims.get_opt("data-s-0").await.unwrap().is_some());
        until(&sets, "s", |found| {
            found
                .unwrap()
                .status
                .as_ref()
                .is_some_and(|status| status.replicas == 1)
        })
        .await;
        sets.delete("s", &DeleteParams::default()).await.unwrap();
        until(&pods, "s-0", |found| found.is_none()).await;
    }));
}
