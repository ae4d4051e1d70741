//! Kubernetes' own structs inside Tekton's: what Go makes of them by reading and writing them again.
//!
//! Go drops zero values of members that are no pointers, and always writes some members. The types of
//! `k8s_openapi` keep what they were given, so it is brought into Go's form when it is read.

use k8s_openapi::api::core::v1::{
    ContainerPort, EmptyDirVolumeSource, EnvFromSource, EnvVar, Lifecycle, LifecycleHandler,
    ObjectFieldSelector, PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Probe,
    ProjectedVolumeSource, ResourceFieldSelector, SecretVolumeSource, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;

use super::Zero;

/// A struct that Go would write differently from how it was given.
pub(crate) trait GoForm {
    /// Brings it into the form in which Go writes it.
    fn go_form(&mut self);
}

/// Reads a list; see [`super::list`].
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default + GoForm,
{
    let mut list: Vec<T> = super::list(deserializer)?;
    list.iter_mut().for_each(T::go_form);
    Ok(list)
}

/// Reads an optional struct.
pub(crate) fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + GoForm,
{
    let mut value = Option::<T>::deserialize(deserializer)?;
    if let Some(value) = &mut value {
        value.go_form();
    }
    Ok(value)
}

/// Writes the state of a container with the times that Go always writes.
#[expect(clippy::ref_option, reason = "serde hands out a reference to the member")]
pub(crate) fn state<T: Serialize, S: Serializer>(
    state: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(state).map_err(S::Error::custom)?;
    if let Some(members) = value.as_object_mut() {
        members.entry("startedAt").or_insert(Value::Null);
        if members.contains_key("exitCode") {
            members.entry("finishedAt").or_insert(Value::Null);
        }
    }
    value.serialize(serializer)
}

/// Writes the template of a claim, which needs no version and kind.
#[expect(clippy::ref_option, reason = "serde hands out a reference to the member")]
pub(crate) fn claim<S: Serializer>(
    claim: &Option<PersistentVolumeClaim>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(claim).map_err(S::Error::custom)?;
    if let Some(members) = value.as_object_mut() {
        members.remove("apiVersion");
        members.remove("kind");
    }
    value.serialize(serializer)
}

/// Drops zero values.
fn drop_zero<T: Zero>(value: &mut Option<T>) {
    if value.as_ref().is_some_and(Zero::is_zero) {
        *value = None;
    }
}

impl GoForm for EnvVar {
    fn go_form(&mut self) {
        drop_zero(&mut self.value);
        if let Some(source) = &mut self.value_from {
            go_form(&mut source.field_ref);
            go_form(&mut source.resource_field_ref);
        }
    }
}

fn go_form<T: GoForm>(value: &mut Option<T>) {
    value.iter_mut().for_each(T::go_form);
}

impl GoForm for ObjectFieldSelector {
    fn go_form(&mut self) {
        drop_zero(&mut self.api_version);
    }
}

impl GoForm for ResourceFieldSelector {
    fn go_form(&mut self) {
        drop_zero(&mut self.container_name);
        self.divisor.get_or_insert_with(|| Quantity("0".to_owned()));
    }
}

impl GoForm for EnvFromSource {
    fn go_form(&mut self) {
        drop_zero(&mut self.prefix);
    }
}

impl GoForm for VolumeMount {
    fn go_form(&mut self) {
        drop_zero(&mut self.read_only);
        drop_zero(&mut self.sub_path);
        drop_zero(&mut self.sub_path_expr);
    }
}

impl GoForm for ContainerPort {
    fn go_form(&mut self) {
        drop_zero(&mut self.host_ip);
        drop_zero(&mut self.host_port);
        drop_zero(&mut self.name);
        drop_zero(&mut self.protocol);
    }
}

impl GoForm for Probe {
    fn go_form(&mut self) {
        drop_zero(&mut self.initial_delay_seconds);
        drop_zero(&mut self.timeout_seconds);
        drop_zero(&mut self.period_seconds);
        drop_zero(&mut self.success_threshold);
        drop_zero(&mut self.failure_threshold);
        if let Some(get) = &mut self.http_get {
            drop_zero(&mut get.path);
            drop_zero(&mut get.host);
            drop_zero(&mut get.scheme);
        }
        if let Some(socket) = &mut self.tcp_socket {
            drop_zero(&mut socket.host);
        }
    }
}

impl GoForm for LifecycleHandler {
    fn go_form(&mut self) {
        if let Some(get) = &mut self.http_get {
            drop_zero(&mut get.path);
            drop_zero(&mut get.host);
            drop_zero(&mut get.scheme);
        }
        if let Some(socket) = &mut self.tcp_socket {
            drop_zero(&mut socket.host);
        }
    }
}

impl GoForm for Lifecycle {
    fn go_form(&mut self) {
        go_form(&mut self.post_start);
        go_form(&mut self.pre_stop);
    }
}

impl GoForm for EmptyDirVolumeSource {
    fn go_form(&mut self) {
        drop_zero(&mut self.medium);
    }
}

impl GoForm for SecretVolumeSource {
    fn go_form(&mut self) {
        drop_zero(&mut self.secret_name);
    }
}

impl GoForm for PersistentVolumeClaimVolumeSource {
    fn go_form(&mut self) {
        drop_zero(&mut self.read_only);
    }
}

impl GoForm for ProjectedVolumeSource {
    fn go_form(&mut self) {
        for source in self.sources.iter_mut().flatten() {
            if let Some(token) = &mut source.service_account_token {
                drop_zero(&mut token.audience);
            }
            for item in source
                .downward_api
                .iter_mut()
                .flat_map(|api| &mut api.items)
                .flatten()
            {
                go_form(&mut item.field_ref);
                go_form(&mut item.resource_field_ref);
            }
        }
    }
}

impl GoForm for PersistentVolumeClaim {
    fn go_form(&mut self) {
        self.spec
            .get_or_insert_default()
            .resources
            .get_or_insert_default();
        self.status.get_or_insert_default();
    }
}

impl GoForm for Volume {
    fn go_form(&mut self) {
        go_form(&mut self.empty_dir);
        go_form(&mut self.secret);
        go_form(&mut self.persistent_volume_claim);
        go_form(&mut self.projected);
        for item in self
            .downward_api
            .iter_mut()
            .flat_map(|api| &mut api.items)
            .flatten()
        {
            go_form(&mut item.field_ref);
            go_form(&mut item.resource_field_ref);
        }
        if let Some(template) = self
            .ephemeral
            .as_mut()
            .and_then(|source| source.volume_claim_template.as_mut())
        {
            template.metadata.get_or_insert_default();
            template.spec.resources.get_or_insert_default();
        }
    }
}
