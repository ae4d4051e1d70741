//! Which members of Kubernetes' structs Go leaves out when it writes them.
//!
//! Go drops empty lists and maps, and zero values of members that are no pointers. The generated types keep
//! whatever they are given, so that such members are dropped when they are read.
//! Upstream counterpart: the `omitempty` tags in `k8s.io/api` and `k8s.io/apimachinery`.

use serde_json::Value;

/// Members that are maps; an empty object elsewhere is a struct that is given.
const MAPS: &[&str] = &[
    "annotations",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "options",
    "requests",
    "volumeAttributes",
];

/// Members with plain values by struct.
const PLAIN: &[(&str, &[&str])] = &[
    ("AzureDiskVolumeSource", &[]),
    (
        "AWSElasticBlockStoreVolumeSource",
        &["fsType", "partition", "readOnly"],
    ),
    ("CephFSVolumeSource", &["path", "user", "secretFile", "readOnly"]),
    ("CinderVolumeSource", &["fsType", "readOnly"]),
    ("ContainerPort", &["name", "hostPort", "protocol", "hostIP"]),
    ("EmptyDirVolumeSource", &["medium"]),
    ("EnvFromSource", &["prefix"]),
    ("EnvVar", &["value"]),
    ("FCVolumeSource", &["fsType", "readOnly"]),
    ("FlexVolumeSource", &["fsType", "readOnly"]),
    (
        "GCEPersistentDiskVolumeSource",
        &["fsType", "partition", "readOnly"],
    ),
    ("GitRepoVolumeSource", &["revision", "directory"]),
    ("GlusterfsVolumeSource", &["readOnly"]),
    ("HTTPGetAction", &["path", "host", "scheme"]),
    ("ISCSIVolumeSource", &["iscsiInterface", "fsType", "readOnly"]),
    ("ImageVolumeSource", &["reference", "pullPolicy"]),
    ("NFSVolumeSource", &["readOnly"]),
    (
        "ObjectMeta",
        &[
            "name",
            "generateName",
            "namespace",
            "selfLink",
            "uid",
            "resourceVersion",
            "generation",
        ],
    ),
    ("ObjectFieldSelector", &["apiVersion"]),
    ("PersistentVolumeClaimSpec", &["volumeName"]),
    ("PersistentVolumeClaimStatus", &["phase"]),
    ("PersistentVolumeClaimVolumeSource", &["readOnly"]),
    ("PhotonPersistentDiskVolumeSource", &["fsType"]),
    ("PortworxVolumeSource", &["fsType", "readOnly"]),
    (
        "Probe",
        &[
            "initialDelaySeconds",
            "timeoutSeconds",
            "periodSeconds",
            "successThreshold",
            "failureThreshold",
        ],
    ),
    ("QuobyteVolumeSource", &["readOnly", "user", "group", "tenant"]),
    (
        "RBDVolumeSource",
        &["fsType", "pool", "user", "keyring", "readOnly"],
    ),
    ("ResourceClaim", &["request"]),
    ("ResourceFieldSelector", &["containerName"]),
    ("SELinuxOptions", &["user", "role", "type", "level"]),
    ("SecretReference", &["name", "namespace"]),
    ("SecretVolumeSource", &["secretName"]),
    ("ServiceAccountTokenProjection", &["audience"]),
    ("TCPSocketAction", &["host"]),
    ("Toleration", &["key", "operator", "value", "effect"]),
    ("VolumeMount", &["readOnly", "subPath", "subPathExpr"]),
    (
        "ScaleIOVolumeSource",
        &[
            "sslEnabled",
            "protectionDomain",
            "storagePool",
            "storageMode",
            "volumeName",
            "fsType",
            "readOnly",
        ],
    ),
    (
        "StorageOSVolumeSource",
        &["volumeName", "volumeNamespace", "fsType", "readOnly"],
    ),
    (
        "VsphereVirtualDiskVolumeSource",
        &["fsType", "storagePolicyName", "storagePolicyID"],
    ),
];

/// Whether Go would not write this member.
pub(super) fn is_left_out(name: &str, field: &str, value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty() && MAPS.contains(&field),
        Value::String(text) => text.is_empty() && is_plain(name, field),
        Value::Bool(flag) => !flag && is_plain(name, field),
        Value::Number(number) => number.as_i64() == Some(0) && is_plain(name, field),
        Value::Null => true,
    }
}

fn is_plain(name: &str, field: &str) -> bool {
    PLAIN
        .iter()
        .any(|(known, fields)| *known == name && fields.contains(&field))
}
