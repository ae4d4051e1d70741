//! Facts of a pod that it may see itself: `fieldRef` and `resourceFieldRef` of environment and downward volumes.

use k8s_openapi::api::core::v1::{Container, Pod, ResourceFieldSelector};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// What a field may say about the node.
#[derive(Clone, Debug)]
pub(super) struct NodeFacts {
    /// Name of the node.
    pub name: String,
    /// Address of the node, and of all its pods.
    pub address: String,
    /// Milli-CPUs and bytes that stand for absent limits.
    pub cpu_milli: i128,
    /// Bytes of memory.
    pub memory: i128,
}

/// The value of a field of the pod; nothing if there is no such field.
pub(super) fn field(pod: &Pod, node: &NodeFacts, path: &str) -> Option<String> {
    let meta = &pod.metadata;
    if let Some((map, key)) = keyed(path) {
        let values = if map == "metadata.annotations" {
            meta.annotations.as_ref()
        } else {
            meta.labels.as_ref()
        };
        return Some(
            values
                .and_then(|values| values.get(key))
                .cloned()
                .unwrap_or_default(),
        );
    }
    Some(match path {
        "metadata.name" => meta.name.clone().unwrap_or_default(),
        "metadata.namespace" => meta.namespace.clone().unwrap_or_default(),
        "metadata.uid" => meta.uid.clone().unwrap_or_default(),
        "metadata.labels" => listing(meta.labels.iter().flatten()),
        "metadata.annotations" => listing(meta.annotations.iter().flatten()),
        "spec.nodeName" => node.name.clone(),
        "spec.serviceAccountName" => service_account(pod),
        "status.hostIP" | "status.hostIPs" | "status.podIP" | "status.podIPs" => node.address.clone(),
        _ => return None,
    })
}

/// The service account a pod runs as.
pub(super) fn service_account(pod: &Pod) -> String {
    let name = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.service_account_name.clone());
    name.filter(|name| !name.is_empty())
        .unwrap_or_else(|| "default".to_owned())
}

/// `metadata.labels['key']` in its two parts.
fn keyed(path: &str) -> Option<(&str, &str)> {
    let (map, rest) = path.split_once('[')?;
    let key = rest.strip_suffix(']')?;
    let key = key
        .strip_prefix('\'')
        .and_then(|key| key.strip_suffix('\''))
        .or_else(|| key.strip_prefix('"')?.strip_suffix('"'))?;
    matches!(map, "metadata.labels" | "metadata.annotations").then_some((map, key))
}

/// One `key="value"` per line, in the order of the keys, without a final newline.
fn listing<'a>(entries: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let lines: Vec<String> = entries
        .map(|(key, value)| format!("{key}={}", quoted(value)))
        .collect();
    lines.join("\n")
}

/// A text in double quotes, with the escapes of Go's `%q`.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The value of a request or limit, in units of the divisor, rounded up.
pub(super) fn resource(
    pod: &Pod,
    own: Option<&Container>,
    node: &NodeFacts,
    wanted: &ResourceFieldSelector,
) -> Option<String> {
    let spec = pod.spec.as_ref()?;
    let container = match &wanted.container_name {
        Some(name) if !name.is_empty() => spec
            .containers
            .iter()
            .chain(spec.init_containers.iter().flatten())
            .find(|c| &c.name == name),
        _ => own,
    }?;
    let (list, name) = wanted.resource.split_once('.')?;
    let resources = container.resources.as_ref();
    let limit = resources
        .and_then(|r| r.limits.as_ref())
        .and_then(|limits| limits.get(name));
    let quantity = match list {
        "limits" => limit,
        "requests" => resources
            .and_then(|r| r.requests.as_ref())
            .and_then(|requests| requests.get(name))
            .or(limit),
        _ => return None,
    };
    let absent = match (list, name) {
        ("limits", "cpu") => node.cpu_milli,
        ("limits", "memory") => node.memory.checked_mul(1000)?,
        _ => 0,
    };
    let value = quantity.map_or(Some(absent), thousandths)?;
    let divisor = wanted
        .divisor
        .as_ref()
        .and_then(thousandths)
        .filter(|divisor| *divisor > 0)
        .unwrap_or(1000);
    Some(value.checked_add(divisor - 1)?.div_euclid(divisor).to_string())
}

/// A quantity in thousandths.
fn thousandths(quantity: &Quantity) -> Option<i128> {
    let text = quantity.0.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-')))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (numerator, denominator): (i128, i128) = match suffix {
        "n" => (1, 1_000_000),
        "u" => (1, 1000),
        "m" => (1, 1),
        "" => (1000, 1),
        "k" => (1_000_000, 1),
        "M" => (1_000_000_000, 1),
        "G" => (1_000_000_000_000, 1),
        "T" => (1_000_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000_000, 1),
        "Ki" => (1000 << 10, 1),
        "Mi" => (1000 << 20, 1),
        "Gi" => (1000 << 30, 1),
        "Ti" => (1000 << 40, 1),
        "Pi" => (1000 << 50, 1),
        exponent => (
            1000_i128.checked_mul(10_i128.checked_pow(exponent.strip_prefix(['e', 'E'])?.parse().ok()?)?)?,
            1,
        ),
    };
    let fraction: String = fraction.chars().take(9).collect();
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(
        digits
            .checked_mul(numerator)?
            .div_euclid(scale.checked_mul(denominator)?),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn node() -> NodeFacts {
        NodeFacts {
            name: "local".into(),
            address: "127.0.0.1".into(),
            cpu_milli: 2000,
            memory: 1 << 30,
        }
    }

    #[test]
    fn fields() {
        let mut pod = Pod::default();
        pod.metadata.name = Some("p".into());
        pod.metadata.annotations = Some(BTreeMap::from([
            ("b".into(), "x\"y\n".into()),
            ("a/k".into(), "READY".into()),
        ]));
        let get = |path: &str| field(&pod, &node(), path);
        assert_eq!(get("metadata.name").as_deref(), Some("p"));
        assert_eq!(
            get("metadata.annotations").as_deref(),
            Some("a/k=\"READY\"\nb=\"x\\\"y\\n\"")
        );
        assert_eq!(get("metadata.annotations['a/k']").as_deref(), Some("READY"));
        assert_eq!(get("metadata.annotations['none']").as_deref(), Some(""));
        assert_eq!(get("spec.serviceAccountName").as_deref(), Some("default"));
        assert_eq!(get("status.podIP").as_deref(), Some("127.0.0.1"));
        assert_eq!(get("spec.containers"), None);
    }

    #[test]
    fn quantities() {
        for (text, want) in [
            ("1", 1000),
            ("500m", 500),
            ("1.5", 1500),
            ("1Ki", 1_024_000),
            ("2e3", 2_000_000),
            ("1.5Gi", 1_610_612_736_000),
        ] {
            assert_eq!(thousandths(&Quantity(text.into())), Some(want), "{text}");
        }
        assert_eq!(thousandths(&Quantity("x".into())), None);
    }

    #[test]
    fn resources_round_up_to_the_divisor() {
        let container = Container {
            name: "c".into(),
            resources: Some(k8s_openapi::api::core::v1::ResourceRequirements {
                limits: Some(BTreeMap::from([
                    ("cpu".into(), Quantity("1500m".into())),
                    ("memory".into(), Quantity("1Mi".into())),
                ])),
                ..Default::default()
            }),
            ..Default::default()
        };
        let pod = Pod {
            spec: Some(k8s_openapi::api::core::v1::PodSpec {
                containers: vec![container.clone()],
                ..Default::default()
            }),
            ..Default::default()
        };
        let get = |resource: &str, divisor: Option<&str>| {
            let wanted = ResourceFieldSelector {
                resource: resource.into(),
                divisor: divisor.map(|d| Quantity(d.into())),
                container_name: None,
            };
            super::resource(&pod, Some(&container), &node(), &wanted)
        };
        assert_eq!(get("limits.cpu", None).as_deref(), Some("2"));
        assert_eq!(get("limits.cpu", Some("1m")).as_deref(), Some("1500"));
        assert_eq!(get("requests.memory", Some("1Ki")).as_deref(), Some("1024"));
        assert_eq!(get("limits.ephemeral-storage", None).as_deref(), Some("0"));
    }
}
