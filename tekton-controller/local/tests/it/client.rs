//! The client over the in-process service: CRUD, versions, watches, patches.

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tekton_api::v1::TaskRun;
use tekton_local::cluster::{AdmissionInput, Cluster, ClusterOptions, Refusal};

fn cluster() -> Cluster {
    Cluster::new(ClusterOptions::default())
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"k": value}})).unwrap()
}

#[tokio::test]
async fn objects_are_created_read_replaced_and_deleted() {
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster().client("default"));
    let created = maps
        .create(&PostParams::default(), &config_map("a", "1"))
        .await
        .unwrap();
    let mut changed = created.clone();
    changed.data = Some([("k".to_owned(), "2".to_owned())].into());
    let replaced = maps.replace("a", &PostParams::default(), &changed).await.unwrap();
    assert_ne!(created.resource_version(), replaced.resource_version());
    let stale = maps
        .replace("a", &PostParams::default(), &created)
        .await
        .unwrap_err();
    assert!(matches!(stale, kube::Error::Api(status) if status.code == 409 && status.reason == "Conflict"));
    assert_eq!(maps.list(&ListParams::default()).await.unwrap().items.len(), 1);
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(maps.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn a_watch_sees_changes_in_order() {
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster().client("default"));
    let start = maps
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version
        .unwrap();
    let mut events = maps.watch(&WatchParams::default(), &start).await.unwrap().boxed();
    maps.create(&PostParams::default(), &config_map("a", "1"))
        .await
        .unwrap();
    let patch = json!({"data": {"k": "2"}});
    maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(match events.try_next().await.unwrap().unwrap() {
            WatchEvent::Added(map) => format!("added {}", map.data.unwrap()["k"]),
            WatchEvent::Modified(map) => format!("modified {}", map.data.unwrap()["k"]),
            WatchEvent::Deleted(map) => format!("deleted {}", map.data.unwrap()["k"]),
            other => format!("{other:?}"),
        });
    }
    assert_eq!(seen, ["added 1", "modified 2", "deleted 2"]);
}

#[tokio::test]
async fn a_watch_from_the_distant_past_is_gone() {
    let pods: Api<Pod> = Api::default_namespaced(cluster().client("default"));
    let mut events = pods.watch(&WatchParams::default(), "1").await.unwrap().boxed();
    let event = events.try_next().await.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Error(status) if status.code == 410));
    assert!(events.try_next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_watch_that_was_overrun_is_gone() {
    let cluster = Cluster::new(ClusterOptions {
        history: 50,
        ..ClusterOptions::default()
    });
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client("default"));
    let start = maps
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version
        .unwrap();
    maps.create(&PostParams::default(), &config_map("a", "0"))
        .await
        .unwrap();
    for round in 1..=60 {
        let patch = json!({"data": {"k": round.to_string()}});
        maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
            .await
            .unwrap();
    }
    let mut events = maps.watch(&WatchParams::default(), &start).await.unwrap().boxed();
    assert!(
        matches!(events.try_next().await.unwrap(), Some(WatchEvent::Error(status)) if status.code == 410)
    );
}

#[tokio::test]
async fn writers_of_one_object_do_not_lose_each_others_changes() {
    let cluster = cluster();
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client("default"));
    maps.create(&PostParams::default(), &config_map("a", "0"))
        .await
        .unwrap();
    let writers = (0..20).map(|number| {
        let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client("default"));
        tokio::spawn(async move {
            let patch = json!({"data": {format!("w{number}"): "x"}});
            maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
                .await
                .unwrap();
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(maps.get("a").await.unwrap().data.unwrap().len(), 21);
}

#[tokio::test]
async fn apply_owns_what_it_states() {
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster().client("default"));
    let apply = |manager: &str, data: serde_json::Value| {
        let maps = maps.clone();
        let config =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
        let parameters = PatchParams::apply(manager);
        async move { maps.patch("a", &parameters, &Patch::Apply(&config)).await }
    };
    apply("one", json!({"a": "1", "b": "1"})).await.unwrap();
    apply("two", json!({"c": "1"})).await.unwrap();
    let conflict = apply("two", json!({"a": "2"})).await.unwrap_err();
    assert!(matches!(conflict, kube::Error::Api(status) if status.code == 409));
    let left = apply("one", json!({"a": "1"})).await.unwrap().data.unwrap();
    assert_eq!(left.keys().collect::<Vec<_>>(), ["a", "c"]);
}

#[tokio::test]
async fn custom_kinds_are_checked_and_keep_their_status_apart() {
    let runs: Api<TaskRun> = Api::default_namespaced(cluster().client("default"));
    let run: TaskRun = serde_json::from_value(
        json!({"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"generateName": "r-"},
            "spec": {"taskRef": {"name": "t"}}}),
    )
    .unwrap();
    let created = runs.create(&PostParams::default(), &run).await.unwrap();
    let name = created.name_any();
    assert!(name.starts_with("r-") && name.len() == 7);
    let status =
        json!({"status": {"podName": "p", "conditions": [{"type": "Succeeded", "status": "Unknown"}]}});
    let changed = runs
        .patch_status(&name, &PatchParams::default(), &Patch::Merge(&status))
        .await
        .unwrap();
    assert_eq!(changed.metadata.generation, Some(1));
    let wrong = json!({"spec": {"params": "none"}});
    let refused = runs
        .patch(&name, &PatchParams::default(), &Patch::Merge(&wrong))
        .await
        .unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 422));
}

#[tokio::test]
async fn admission_changes_and_refuses() {
    let admission = |input: AdmissionInput| {
        let mut object = input.object;
        if object.pointer("/data/k") == Some(&json!("bad")) {
            return Err(Refusal {
                code: 400,
                message: "admission webhook \"x\" denied the request: bad".to_owned(),
            });
        }
        object["metadata"]["labels"] = json!({"admitted": input.kind});
        Ok(object)
    };
    let options = ClusterOptions {
        admission: Some(std::sync::Arc::new(admission)),
        ..ClusterOptions::default()
    };
    let maps: Api<ConfigMap> = Api::default_namespaced(Cluster::new(options).client("default"));
    let good = maps
        .create(&PostParams::default(), &config_map("a", "good"))
        .await
        .unwrap();
    assert_eq!(good.labels()["admitted"], "ConfigMap");
    let refused = maps
        .create(&PostParams::default(), &config_map("b", "bad"))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, kube::Error::Api(status) if status.code == 400 && status.message.ends_with("bad"))
    );
}

#[tokio::test]
async fn a_fresh_cluster_has_its_namespaces() {
    let spaces: Api<Namespace> = Api::all(cluster().client("default"));
    let names: Vec<String> = spaces
        .list(&ListParams::default())
        .await
        .unwrap()
        .iter()
        .map(ResourceExt::name_any)
        .collect();
    assert_eq!(
        names,
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
}

#[tokio::test]
async fn answers_come_as_yaml_when_asked() {
    let client = cluster().client("default");
    let request = http::Request::get("/api/v1/namespaces/default").header("accept", "application/yaml");
    let text = client
        .request_text(request.body(Vec::new()).unwrap())
        .await
        .unwrap();
    let found = tekton_api::yaml::documents(&text).unwrap();
    assert_eq!(found[0]["metadata"]["name"], "default");
}

#[tokio::test]
async fn a_definition_is_served_at_once() {
    let cluster = cluster();
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client("default"));
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer", "default": 3}}}}});
    let definition = json!({"metadata": {"name": "waits.example.test"}, "spec": {"group": "example.test", "scope": "Namespaced",
        "names": {"plural": "waits", "kind": "Wait"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    definitions
        .create(
            &PostParams::default(),
            &serde_json::from_value(definition).unwrap(),
        )
        .await
        .unwrap();
    let kind = kube::discovery::ApiResource::from_gvk(&kube::api::GroupVersionKind::gvk(
        "example.test",
        "v1",
        "Wait",
    ));
    let waits: Api<kube::api::DynamicObject> = Api::default_namespaced_with(cluster.client("default"), &kind);
    let wait = kube::api::DynamicObject::new("w", &kind).data(json!({"spec": {}}));
    let created = waits.create(&PostParams::default(), &wait).await.unwrap();
    assert_eq!(created.data["spec"]["size"], 3);
    definitions
        .delete("waits.example.test", &DeleteParams::default())
        .await
        .unwrap();
    assert!(waits.get("w").await.is_err());
}
