//! The table of built-in kinds: what Tekton, its tools and kubectl ask of a cluster.

use super::Resource;

/// How a built-in kind behaves, as flags of the table.
const NAMESPACED: u8 = 1;
const STATUS: u8 = 2;
const GENERATION: u8 = 4;
const CREATE_ON_UPDATE: u8 = 8;
const RETURNS_DELETED: u8 = 16;
const QUESTION: u8 = 32;

type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
    u8,
);

/// Group, version, kind, plural, short names, flags.
const TABLE: &[Row] = &[
    ("", "v1", "Namespace", "namespaces", &["ns"], STATUS),
    (
        "",
        "v1",
        "Pod",
        "pods",
        &["po"],
        NAMESPACED | STATUS | GENERATION | RETURNS_DELETED,
    ),
    ("", "v1", "ConfigMap", "configmaps", &["cm"], NAMESPACED),
    ("", "v1", "Secret", "secrets", &[], NAMESPACED),
    (
        "",
        "v1",
        "ServiceAccount",
        "serviceaccounts",
        &["sa"],
        NAMESPACED | RETURNS_DELETED,
    ),
    (
        "",
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        &["pvc"],
        NAMESPACED | STATUS | RETURNS_DELETED,
    ),
    (
        "",
        "v1",
        "PersistentVolume",
        "persistentvolumes",
        &["pv"],
        STATUS | RETURNS_DELETED,
    ),
    (
        "",
        "v1",
        "Event",
        "events",
        &["ev"],
        NAMESPACED | CREATE_ON_UPDATE,
    ),
    ("", "v1", "LimitRange", "limitranges", &["limits"], NAMESPACED),
    (
        "",
        "v1",
        "ResourceQuota",
        "resourcequotas",
        &["quota"],
        NAMESPACED | STATUS | RETURNS_DELETED,
    ),
    ("", "v1", "Service", "services", &["svc"], NAMESPACED | STATUS),
    ("", "v1", "Endpoints", "endpoints", &["ep"], NAMESPACED),
    ("", "v1", "Node", "nodes", &["no"], STATUS),
    (
        "apps",
        "v1",
        "StatefulSet",
        "statefulsets",
        &["sts"],
        NAMESPACED | STATUS | GENERATION,
    ),
    (
        "apps",
        "v1",
        "Deployment",
        "deployments",
        &["deploy"],
        NAMESPACED | STATUS | GENERATION,
    ),
    (
        "apps",
        "v1",
        "ReplicaSet",
        "replicasets",
        &["rs"],
        NAMESPACED | STATUS | GENERATION,
    ),
    (
        "apps",
        "v1",
        "DaemonSet",
        "daemonsets",
        &["ds"],
        NAMESPACED | STATUS | GENERATION,
    ),
    (
        "batch",
        "v1",
        "Job",
        "jobs",
        &[],
        NAMESPACED | STATUS | GENERATION,
    ),
    (
        "coordination.k8s.io",
        "v1",
        "Lease",
        "leases",
        &[],
        NAMESPACED | CREATE_ON_UPDATE,
    ),
    (
        "events.k8s.io",
        "v1",
        "Event",
        "events",
        &["ev"],
        NAMESPACED | CREATE_ON_UPDATE,
    ),
    (
        "policy",
        "v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        &["pdb"],
        NAMESPACED | STATUS | GENERATION,
    ),
    (
        "rbac.authorization.k8s.io",
        "v1",
        "Role",
        "roles",
        &[],
        NAMESPACED,
    ),
    (
        "rbac.authorization.k8s.io",
        "v1",
        "RoleBinding",
        "rolebindings",
        &[],
        NAMESPACED,
    ),
    (
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRole",
        "clusterroles",
        &[],
        0,
    ),
    (
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRoleBinding",
        "clusterrolebindings",
        &[],
        0,
    ),
    (
        "storage.k8s.io",
        "v1",
        "StorageClass",
        "storageclasses",
        &["sc"],
        0,
    ),
    (
        "scheduling.k8s.io",
        "v1",
        "PriorityClass",
        "priorityclasses",
        &["pc"],
        0,
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        &["crd", "crds"],
        STATUS | GENERATION,
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        &[],
        GENERATION,
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        &[],
        GENERATION,
    ),
    (
        "authorization.k8s.io",
        "v1",
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        &[],
        QUESTION,
    ),
    (
        "authorization.k8s.io",
        "v1",
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        &[],
        QUESTION,
    ),
    (
        "authorization.k8s.io",
        "v1",
        "SubjectAccessReview",
        "subjectaccessreviews",
        &[],
        QUESTION,
    ),
    (
        "authorization.k8s.io",
        "v1",
        "LocalSubjectAccessReview",
        "localsubjectaccessreviews",
        &[],
        QUESTION | NAMESPACED,
    ),
    (
        "authentication.k8s.io",
        "v1",
        "TokenReview",
        "tokenreviews",
        &[],
        QUESTION,
    ),
    (
        "authentication.k8s.io",
        "v1",
        "SelfSubjectReview",
        "selfsubjectreviews",
        &[],
        QUESTION,
    ),
];

const CATEGORY_ALL: &[&str] = &[
    "Pod",
    "Service",
    "StatefulSet",
    "Deployment",
    "ReplicaSet",
    "DaemonSet",
    "Job",
];

/// The built-in resources.
pub(super) fn resources() -> Vec<Resource> {
    TABLE.iter().map(resource).collect()
}

fn resource(&(group, version, kind, plural, short_names, flags): &Row) -> Resource {
    let has = |flag: u8| flags & flag != 0;
    // Both Event groups show the same objects.
    let bucket = match (group, plural) {
        ("" | "events.k8s.io", _) => plural.to_owned(),
        _ => format!("{plural}.{group}"),
    };
    Resource {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        list_kind: format!("{kind}List"),
        plural: plural.into(),
        singular: kind.to_lowercase(),
        short_names: short_names.iter().map(|&name| name.to_owned()).collect(),
        categories: if CATEGORY_ALL.contains(&kind) {
            vec!["all".into()]
        } else {
            Vec::new()
        },
        namespaced: has(NAMESPACED),
        bucket,
        custom: false,
        status: has(STATUS),
        generation: has(GENERATION),
        create_on_update: has(CREATE_ON_UPDATE),
        returns_deleted: has(RETURNS_DELETED),
        stored: !has(QUESTION),
        subresources: subresources(group, kind),
        columns: Vec::new(),
        schema: None,
        storage_version: version.into(),
    }
}

fn subresources(group: &str, kind: &str) -> Vec<(String, String, Vec<String>)> {
    let one = |name: &str, kind: &str, verb: &str| (name.to_owned(), kind.to_owned(), vec![verb.to_owned()]);
    match (group, kind) {
        ("", "Pod") => vec![
            one("binding", "Binding", "create"),
            one("eviction", "Eviction", "create"),
            one("log", "Pod", "get"),
        ],
        ("", "ServiceAccount") => vec![one("token", "TokenRequest", "create")],
        ("", "Namespace") => vec![one("finalize", "Namespace", "update")],
        _ => Vec::new(),
    }
}
