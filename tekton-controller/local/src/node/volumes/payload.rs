//! Files of volumes that show objects: configMap, secret, downwardAPI, projected.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret, Volume, VolumeProjection,
};

use super::super::env::Sources;
use super::super::fields::{self, NodeFacts};
use super::atomic::Payload;

/// What the content is made from.
#[derive(Debug)]
pub(in crate::node) struct Inputs<'a> {
    /// Facts of the node.
    pub node: &'a NodeFacts,
    /// Objects the pod refers to.
    pub sources: &'a Sources,
    /// Tokens of the service account, by audience.
    pub tokens: &'a BTreeMap<String, String>,
}

const DEFAULT_MODE: i32 = 0o644;

/// Names of ConfigMaps, then of Secrets, that the volumes of a pod show.
pub(in crate::node) fn references(pod: &Pod) -> (Vec<String>, Vec<String>) {
    let (mut maps, mut secrets) = (Vec::new(), Vec::new());
    for volume in pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten()) {
        maps.extend(volume.config_map.as_ref().map(|source| source.name.clone()));
        secrets.extend(
            volume
                .secret
                .as_ref()
                .and_then(|source| source.secret_name.clone()),
        );
        for part in projections(volume) {
            maps.extend(part.config_map.as_ref().map(|source| source.name.clone()));
            secrets.extend(part.secret.as_ref().map(|source| source.name.clone()));
        }
    }
    (maps, secrets)
}

/// Audiences and life times of the tokens that the volumes of a pod show.
pub(in crate::node) fn tokens(pod: &Pod) -> Vec<(String, Option<i64>)> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let wanted = volumes
        .flat_map(projections)
        .filter_map(|part| part.service_account_token.as_ref());
    wanted
        .map(|token| {
            (
                token.audience.clone().unwrap_or_default(),
                token.expiration_seconds,
            )
        })
        .collect()
}

fn projections(volume: &Volume) -> impl Iterator<Item = &VolumeProjection> {
    volume
        .projected
        .iter()
        .flat_map(|projected| projected.sources.iter().flatten())
}

/// The files of a volume; nothing if it is of a kind that shows no objects.
pub(in crate::node) fn payload(
    pod: &Pod,
    volume: &Volume,
    inputs: &Inputs<'_>,
) -> Result<Option<Payload>, String> {
    let mut files = Payload::new();
    if let Some(source) = &volume.config_map {
        let mode = source.default_mode.unwrap_or(DEFAULT_MODE);
        config_map(
            &mut files,
            pod,
            &source.name,
            source.items.as_deref(),
            source.optional,
            mode,
            inputs,
        )?;
    } else if let Some(source) = &volume.secret {
        let name = source.secret_name.as_deref().unwrap_or_default();
        secret(
            &mut files,
            pod,
            name,
            source.items.as_deref(),
            source.optional,
            source.default_mode.unwrap_or(DEFAULT_MODE),
            inputs,
        )?;
    } else if let Some(source) = &volume.downward_api {
        downward(
            &mut files,
            pod,
            source.items.as_deref(),
            source.default_mode.unwrap_or(DEFAULT_MODE),
            inputs,
        )?;
    } else if let Some(source) = &volume.projected {
        let mode = source.default_mode.unwrap_or(DEFAULT_MODE);
        for part in source.sources.iter().flatten() {
            project(&mut files, pod, part, mode, inputs)?;
        }
    } else {
        return Ok(None);
    }
    Ok(Some(files))
}

fn project(
    files: &mut Payload,
    pod: &Pod,
    part: &VolumeProjection,
    mode: i32,
    inputs: &Inputs<'_>,
) -> Result<(), String> {
    if let Some(source) = &part.config_map {
        config_map(
            files,
            pod,
            &source.name,
            source.items.as_deref(),
            source.optional,
            mode,
            inputs,
        )?;
    }
    if let Some(source) = &part.secret {
        secret(
            files,
            pod,
            &source.name,
            source.items.as_deref(),
            source.optional,
            mode,
            inputs,
        )?;
    }
    if let Some(source) = &part.downward_api {
        downward(files, pod, source.items.as_deref(), mode, inputs)?;
    }
    if let Some(source) = &part.service_account_token {
        let audience = source.audience.as_deref().unwrap_or_default();
        let token = inputs
            .tokens
            .get(audience)
            .ok_or_else(|| "failed to fetch token".to_owned())?;
        add(files, &source.path, token.as_bytes().to_vec(), mode)?;
    }
    if part.cluster_trust_bundle.is_some() {
        return Err("clusterTrustBundle projections are not supported on this node".to_owned());
    }
    Ok(())
}

fn config_map(
    files: &mut Payload,
    pod: &Pod,
    name: &str,
    items: Option<&[KeyToPath]>,
    optional: Option<bool>,
    mode: i32,
    inputs: &Inputs<'_>,
) -> Result<(), String> {
    let content = inputs.sources.config_maps.get(name).map(config_map_content);
    let missing = || format!("configmap \"{name}\" not found");
    choose(
        files,
        content,
        items,
        optional == Some(true),
        mode,
        &missing,
        pod,
        "config",
    )
}

fn secret(
    files: &mut Payload,
    pod: &Pod,
    name: &str,
    items: Option<&[KeyToPath]>,
    optional: Option<bool>,
    mode: i32,
    inputs: &Inputs<'_>,
) -> Result<(), String> {
    let content = inputs.sources.secrets.get(name).map(secret_content);
    let missing = || format!("secret \"{name}\" not found");
    choose(
        files,
        content,
        items,
        optional == Some(true),
        mode,
        &missing,
        pod,
        "secret",
    )
}

fn config_map_content(map: &ConfigMap) -> BTreeMap<String, Vec<u8>> {
    let text = map
        .data
        .iter()
        .flatten()
        .map(|(key, value)| (key.clone(), value.clone().into_bytes()));
    let binary = map
        .binary_data
        .iter()
        .flatten()
        .map(|(key, value)| (key.clone(), value.0.clone()));
    text.chain(binary).collect()
}

fn secret_content(secret: &Secret) -> BTreeMap<String, Vec<u8>> {
    secret
        .data
        .iter()
        .flatten()
        .map(|(key, value)| (key.clone(), value.0.clone()))
        .collect()
}

#[expect(
    clippy::too_many_arguments,
    reason = "the parts of a source that ConfigMaps and Secrets have in common but no type"
)]
fn choose(
    files: &mut Payload,
    content: Option<BTreeMap<String, Vec<u8>>>,
    items: Option<&[KeyToPath]>,
    optional: bool,
    mode: i32,
    missing: &dyn Fn() -> String,
    pod: &Pod,
    kind: &str,
) -> Result<(), String> {
    let Some(content) = content else {
        return if optional { Ok(()) } else { Err(missing()) };
    };
    let Some(items) = items.filter(|items| !items.is_empty()) else {
        return content
            .into_iter()
            .try_for_each(|(key, value)| add(files, &key, value, mode));
    };
    for item in items {
        match content.get(&item.key) {
            Some(value) => add(files, &item.path, value.clone(), item.mode.unwrap_or(mode))?,
            None if optional => {}
            None => {
                let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
                return Err(format!(
                    "references non-existent {kind} key: {} in namespace {namespace}",
                    item.key
                ));
            }
        }
    }
    Ok(())
}

fn downward(
    files: &mut Payload,
    pod: &Pod,
    items: Option<&[DownwardAPIVolumeFile]>,
    mode: i32,
    inputs: &Inputs<'_>,
) -> Result<(), String> {
    for item in items.unwrap_or_default() {
        let value = match (&item.field_ref, &item.resource_field_ref) {
            (Some(wanted), _) => fields::field(pod, inputs.node, &wanted.field_path)
                .ok_or_else(|| format!("unsupported fieldPath: {}", wanted.field_path))?,
            (None, Some(wanted)) => fields::resource(pod, None, inputs.node, wanted)
                .ok_or_else(|| format!("unsupported container resource : {}", wanted.resource))?,
            (None, None) => String::new(),
        };
        add(files, &item.path, value.into_bytes(), item.mode.unwrap_or(mode))?;
    }
    Ok(())
}

/// Adds a file; its path must stay in the volume.
fn add(files: &mut Payload, path: &str, content: Vec<u8>, mode: i32) -> Result<(), String> {
    if path.is_empty()
        || path.starts_with('/')
        || path
            .split('/')
            .any(|part| part.is_empty() || part == ".." || part == ".")
        || path.starts_with("..")
    {
        return Err(format!("invalid path: {path}"));
    }
    files.insert(
        path.to_owned(),
        (content, u32::try_from(mode).unwrap_or(0o644) & 0o777),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(volume: serde_json::Value) -> Result<Option<Payload>, String> {
        let volume: Volume = serde_json::from_value(volume).unwrap();
        let mut sources = Sources::default();
        sources.config_maps.insert(
            "m".into(),
            serde_json::from_value(json!({"data": {"k": "v"}, "binaryData": {"b": "AAE="}})).unwrap(),
        );
        sources.secrets.insert(
            "s".into(),
            serde_json::from_value(json!({"data": {"p": "cHc="}})).unwrap(),
        );
        let node = NodeFacts {
            name: "n".into(),
            address: "127.0.0.1".into(),
            cpu_milli: 1000,
            memory: 1,
        };
        let tokens = BTreeMap::from([("aud".to_owned(), "tok".to_owned())]);
        let mut pod = Pod::default();
        pod.metadata.namespace = Some("ns".into());
        pod.metadata.annotations = Some(BTreeMap::from([("ready".into(), "READY".into())]));
        payload(
            &pod,
            &volume,
            &Inputs {
                node: &node,
                sources: &sources,
                tokens: &tokens,
            },
        )
    }

    fn files(volume: serde_json::Value) -> Vec<(String, String, u32)> {
        of(volume)
            .unwrap()
            .unwrap()
            .into_iter()
            .map(|(path, (content, mode))| (path, String::from_utf8(content).unwrap(), mode))
            .collect()
    }

    #[test]
    fn shows_objects() {
        assert_eq!(
            files(
                json!({"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "d/f", "mode": 0o400}]}})
            ),
            [("d/f".to_owned(), "v".to_owned(), 0o400)]
        );
        assert_eq!(
            of(json!({"name": "v", "configMap": {"name": "m"}}))
                .unwrap()
                .unwrap()
                .len(),
            2
        );
        assert_eq!(
            files(
                json!({"name": "v", "projected": {"defaultMode": 0o600, "sources": [
                {"secret": {"name": "s"}}, {"serviceAccountToken": {"path": "token", "audience": "aud"}},
                {"downwardAPI": {"items": [{"path": "r", "fieldRef": {"fieldPath": "metadata.annotations['ready']"}}]}}]}})
            ),
            [
                ("p".to_owned(), "pw".to_owned(), 0o600),
                ("r".to_owned(), "READY".to_owned(), 0o600),
                ("token".to_owned(), "tok".to_owned(), 0o600)
            ]
        );
        assert_eq!(of(json!({"name": "v", "emptyDir": {}})), Ok(None));
    }

    #[test]
    fn refusals() {
        for (volume, message) in [
            (
                json!({"name": "v", "configMap": {"name": "x"}}),
                "configmap \"x\" not found",
            ),
            (
                json!({"name": "v", "secret": {"secretName": "x"}}),
                "secret \"x\" not found",
            ),
            (
                json!({"name": "v", "secret": {"secretName": "s", "items": [{"key": "z", "path": "z"}]}}),
                "references non-existent secret key: z in namespace ns",
            ),
            (
                json!({"name": "v", "secret": {"secretName": "s", "items": [{"key": "p", "path": "../z"}]}}),
                "invalid path: ../z",
            ),
        ] {
            assert_eq!(of(volume).unwrap_err(), message);
        }
        assert_eq!(
            files(json!({"name": "v", "secret": {"secretName": "x", "optional": true}})),
            []
        );
    }
}
