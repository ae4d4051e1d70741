//! The environment of a container, from its `env` and `envFrom`, with `$(NAME)` expanded.
//!
//! ConfigMaps and Secrets were read before; what a required reference lacks is an error in the kubelet's words.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Container, EnvVarSource, Pod, Secret};

use super::fields::{self, NodeFacts};

/// ConfigMaps and Secrets of the pod's namespace that its containers refer to, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// Those ConfigMaps that exist.
    pub config_maps: BTreeMap<String, ConfigMap>,
    /// Those Secrets that exist.
    pub secrets: BTreeMap<String, Secret>,
}

/// Names that a pod's containers refer to in their environment: ConfigMaps, then Secrets.
pub(super) fn references<'a>(containers: impl Iterator<Item = &'a Container>) -> (Vec<String>, Vec<String>) {
    let (mut maps, mut secrets) = (Vec::new(), Vec::new());
    for container in containers {
        for from in container.env_from.iter().flatten() {
            maps.extend(from.config_map_ref.as_ref().map(|r| r.name.clone()));
            secrets.extend(from.secret_ref.as_ref().map(|r| r.name.clone()));
        }
        for source in container
            .env
            .iter()
            .flatten()
            .filter_map(|var| var.value_from.as_ref())
        {
            maps.extend(source.config_map_key_ref.as_ref().map(|r| r.name.clone()));
            secrets.extend(source.secret_key_ref.as_ref().map(|r| r.name.clone()));
        }
    }
    for names in [&mut maps, &mut secrets] {
        names.sort();
        names.dedup();
    }
    (maps, secrets)
}

/// Variables of a container on top of those of its image, in order of definition, each name once.
pub(super) fn environment(
    pod: &Pod,
    container: &Container,
    node: &NodeFacts,
    sources: &Sources,
    base: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, String> {
    let mut vars = Vars { list: base };
    for from in container.env_from.iter().flatten() {
        let prefix = from.prefix.as_deref().unwrap_or_default();
        if let Some(wanted) = &from.config_map_ref {
            match sources.config_maps.get(&wanted.name) {
                Some(map) => vars.extend(prefix, map.data.iter().flatten().map(|(k, v)| (k, v.clone()))),
                None if wanted.optional == Some(true) => {}
                None => return Err(format!("configmap \"{}\" not found", wanted.name)),
            }
        }
        if let Some(wanted) = &from.secret_ref {
            match sources.secrets.get(&wanted.name) {
                Some(secret) => {
                    vars.extend(
                        prefix,
                        secret
                            .data
                            .iter()
                            .flatten()
                            .map(|(k, v)| (k, String::from_utf8_lossy(&v.0).into_owned())),
                    );
                }
                None if wanted.optional == Some(true) => {}
                None => return Err(format!("secret \"{}\" not found", wanted.name)),
            }
        }
    }
    for var in container.env.iter().flatten() {
        let value = match &var.value_from {
            Some(source) => source_value(pod, container, node, sources, source)?,
            None => Some(expand(var.value.as_deref().unwrap_or_default(), &vars.list)),
        };
        if let Some(value) = value {
            vars.set(&var.name, value);
        }
    }
    Ok(vars.list)
}

fn source_value(
    pod: &Pod,
    container: &Container,
    node: &NodeFacts,
    sources: &Sources,
    from: &EnvVarSource,
) -> Result<Option<String>, String> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    if let Some(wanted) = &from.config_map_key_ref {
        let optional = wanted.optional == Some(true);
        let Some(map) = sources.config_maps.get(&wanted.name) else {
            return if optional {
                Ok(None)
            } else {
                Err(format!("configmap \"{}\" not found", wanted.name))
            };
        };
        let value = map.data.as_ref().and_then(|data| data.get(&wanted.key)).cloned();
        return match value {
            None if !optional => Err(format!(
                "couldn't find key {} in ConfigMap {namespace}/{}",
                wanted.key, wanted.name
            )),
            value => Ok(value),
        };
    }
    if let Some(wanted) = &from.secret_key_ref {
        let optional = wanted.optional == Some(true);
        let Some(secret) = sources.secrets.get(&wanted.name) else {
            return if optional {
                Ok(None)
            } else {
                Err(format!("secret \"{}\" not found", wanted.name))
            };
        };
        let value = secret.data.as_ref().and_then(|data| data.get(&wanted.key));
        return match value {
            None if !optional => Err(format!(
                "couldn't find key {} in Secret {namespace}/{}",
                wanted.key, wanted.name
            )),
            value => Ok(value.map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned())),
        };
    }
    if let Some(wanted) = &from.field_ref {
        return fields::field(pod, node, &wanted.field_path)
            .map(Some)
            .ok_or_else(|| format!("unsupported fieldPath: {}", wanted.field_path));
    }
    if let Some(wanted) = &from.resource_field_ref {
        return fields::resource(pod, Some(container), node, wanted)
            .map(Some)
            .ok_or_else(|| format!("unsupported container resource : {}", wanted.resource));
    }
    Ok(Some(String::new()))
}

struct Vars {
    list: Vec<(String, String)>,
}

impl Vars {
    fn set(&mut self, name: &str, value: String) {
        match self.list.iter_mut().find(|(known, _)| known == name) {
            Some(entry) => entry.1 = value,
            None => self.list.push((name.to_owned(), value)),
        }
    }

    fn extend<'a>(&mut self, prefix: &str, entries: impl Iterator<Item = (&'a String, String)>) {
        for (key, value) in entries {
            self.set(&format!("{prefix}{key}"), value);
        }
    }
}

/// Replaces `$(NAME)` by the variable's value; what is unknown stays, and `$$` stands for `$`.
pub(super) fn expand(text: &str, vars: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(tail) = after.strip_prefix('$') {
            out.push('$');
            rest = tail;
        } else if let Some((name, tail)) = after.strip_prefix('(').and_then(|open| open.split_once(')')) {
            match vars.iter().find(|(known, _)| known == name) {
                Some((_, value)) => out.push_str(value),
                None => out.push_str(&format!("$({name})")),
            }
            rest = tail;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node() -> NodeFacts {
        NodeFacts {
            name: "local".into(),
            address: "127.0.0.1".into(),
            cpu_milli: 2000,
            memory: 1 << 30,
        }
    }

    fn of(container: serde_json::Value, sources: &Sources) -> Result<Vec<(String, String)>, String> {
        let container: Container = serde_json::from_value(container).unwrap();
        let mut pod = Pod::default();
        pod.metadata.name = Some("p".into());
        pod.metadata.namespace = Some("ns".into());
        environment(
            &pod,
            &container,
            &node(),
            sources,
            vec![("PATH".into(), "/bin".into())],
        )
    }

    #[test]
    fn expands_as_the_kubelet_does() {
        let vars = [
            ("A".to_owned(), "1".to_owned()),
            ("B".to_owned(), "$(A)".to_owned()),
        ];
        for (text, want) in [
            ("$(A)", "1"),
            ("$$(A)", "$(A)"),
            ("x$(B)y", "x$(A)y"),
            ("$(C)", "$(C)"),
            ("$A $", "$A $"),
            ("$(A", "$(A"),
            ("$$$(A)", "$1"),
        ] {
            assert_eq!(expand(text, &vars), want, "{text}");
        }
    }

    #[test]
    fn later_definitions_win_and_see_earlier_ones() {
        let mut sources = Sources::default();
        sources.config_maps.insert(
            "m".into(),
            serde_json::from_value(json!({"data": {"K": "v", "PATH": "/m"}})).unwrap(),
        );
        let env = of(
            json!({"name": "c", "envFrom": [{"prefix": "P_", "configMapRef": {"name": "m"}}], "env": [
                {"name": "X", "value": "$(P_K)-$(PATH)"}, {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "X2", "value": "$(X)$(Y)"}, {"name": "PATH", "value": "/usr/bin:$(PATH)"}]}),
            &sources,
        )
        .unwrap();
        let get = |name: &str| env.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str());
        assert_eq!(get("X"), Some("v-/bin"));
        assert_eq!(get("X2"), Some("v-/bin$(Y)"));
        assert_eq!(get("POD"), Some("p"));
        assert_eq!(get("PATH"), Some("/usr/bin:/bin"));
        assert_eq!(get("P_PATH"), Some("/m"));
    }

    #[test]
    fn missing_references() {
        let mut sources = Sources::default();
        sources.secrets.insert("s".into(), Secret::default());
        for (source, message) in [
            (
                json!({"configMapKeyRef": {"name": "m", "key": "k"}}),
                "configmap \"m\" not found",
            ),
            (
                json!({"secretKeyRef": {"name": "x", "key": "k"}}),
                "secret \"x\" not found",
            ),
            (
                json!({"secretKeyRef": {"name": "s", "key": "k"}}),
                "couldn't find key k in Secret ns/s",
            ),
        ] {
            let container = json!({"name": "c", "env": [{"name": "V", "valueFrom": source}]});
            assert_eq!(of(container, &sources).unwrap_err(), message);
        }
        let optional = json!({"name": "c", "env": [{"name": "V", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}}]});
        assert!(
            !of(optional, &sources)
                .unwrap()
                .iter()
                .any(|(name, _)| name == "V")
        );
    }
}
