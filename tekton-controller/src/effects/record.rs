//! Writes the events of a pass as Kubernetes events.

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, PostParams};
use kube::{Client, Resource, ResourceExt};

use crate::plan::{EventType, RunEvent};

/// Records events about one object, in order. A failure is logged, never returned: events are best effort.
pub async fn record<K>(client: &Client, component: &str, object: &K, events: &[RunEvent])
where
    K: Resource<DynamicType = ()>,
{
    let Some(namespace) = object.namespace() else {
        return;
    };
    let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
    for (index, event) in events.iter().enumerate() {
        let body = body(component, object, &namespace, event, index);
        if let Err(error) = api.create(&PostParams::default(), &body).await {
            tracing::warn!(namespace, name = object.name_any(), %error, "an event could not be recorded");
        }
    }
}

fn body<K>(component: &str, object: &K, namespace: &str, event: &RunEvent, index: usize) -> Event
where
    K: Resource<DynamicType = ()>,
{
    let now = Timestamp::now();
    let name = object.name_any();
    let nanos = now.as_nanosecond() + i128::try_from(index).unwrap_or_default();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{nanos:x}")),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some(K::api_version(&()).into_owned()),
            kind: Some(K::kind(&()).into_owned()),
            name: Some(name),
            namespace: Some(namespace.to_owned()),
            uid: object.uid(),
            resource_version: object.resource_version(),
            field_path: None,
        },
        type_: Some(
            match event.event_type {
                EventType::Normal => "Normal",
                EventType::Warning => "Warning",
            }
            .to_owned(),
        ),
        reason: Some(event.reason.clone()),
        message: Some(event.message.clone()),
        source: Some(EventSource {
            component: Some(component.to_owned()),
            host: None,
        }),
        reporting_component: Some(component.to_owned()),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        count: Some(1),
        ..Event::default()
    }
}
