//! Bodies in Kubernetes' protobuf form, as typed clients such as `kubectl create` send them.
//!
//! A table of the messages' fields turns one into the JSON object; kinds it does not name are
//! refused. Answers are always JSON, which such clients accept, too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::error::ApiError;

/// The bytes before the envelope.
const MAGIC: &[u8] = b"k8s\0";
/// Deepest nesting of messages.
const DEEPEST: usize = 16;

#[derive(Clone, Copy, Debug)]
enum Form {
    Text,
    Int,
    Bool,
    Time,
    Message(&'static str),
    TextMap,
    BytesMap,
    Texts,
    Messages(&'static str),
}

use Form::{Bool, BytesMap, Int, Message, Messages, Text, TextMap, Texts, Time};

/// Message, field number, JSON name, form.
const FIELDS: &[(&str, u64, &str, Form)] = &[
    ("ObjectMeta", 1, "name", Text),
    ("ObjectMeta", 2, "generateName", Text),
    ("ObjectMeta", 3, "namespace", Text),
    ("ObjectMeta", 5, "uid", Text),
    ("ObjectMeta", 6, "resourceVersion", Text),
    ("ObjectMeta", 7, "generation", Int),
    ("ObjectMeta", 8, "creationTimestamp", Time),
    ("ObjectMeta", 9, "deletionTimestamp", Time),
    ("ObjectMeta", 10, "deletionGracePeriodSeconds", Int),
    ("ObjectMeta", 11, "labels", TextMap),
    ("ObjectMeta", 12, "annotations", TextMap),
    ("ObjectMeta", 13, "ownerReferences", Messages("OwnerReference")),
    ("ObjectMeta", 14, "finalizers", Texts),
    ("OwnerReference", 1, "kind", Text),
    ("OwnerReference", 3, "name", Text),
    ("OwnerReference", 4, "uid", Text),
    ("OwnerReference", 5, "apiVersion", Text),
    ("OwnerReference", 6, "controller", Bool),
    ("OwnerReference", 7, "blockOwnerDeletion", Bool),
    ("ConfigMap", 1, "metadata", Message("ObjectMeta")),
    ("ConfigMap", 2, "data", TextMap),
    ("ConfigMap", 3, "binaryData", BytesMap),
    ("ConfigMap", 4, "immutable", Bool),
    ("Secret", 1, "metadata", Message("ObjectMeta")),
    ("Secret", 2, "data", BytesMap),
    ("Secret", 3, "type", Text),
    ("Secret", 4, "stringData", TextMap),
    ("Secret", 5, "immutable", Bool),
    ("ServiceAccount", 1, "metadata", Message("ObjectMeta")),
    ("ServiceAccount", 2, "secrets", Messages("ObjectReference")),
    (
        "ServiceAccount",
        3,
        "imagePullSecrets",
        Messages("LocalObjectReference"),
    ),
    ("ServiceAccount", 4, "automountServiceAccountToken", Bool),
    ("LocalObjectReference", 1, "name", Text),
    ("ObjectReference", 1, "kind", Text),
    ("ObjectReference", 2, "namespace", Text),
    ("ObjectReference", 3, "name", Text),
    ("ObjectReference", 4, "uid", Text),
    ("ObjectReference", 5, "apiVersion", Text),
    ("ObjectReference", 6, "resourceVersion", Text),
    ("ObjectReference", 7, "fieldPath", Text),
    ("Namespace", 1, "metadata", Message("ObjectMeta")),
    ("Namespace", 2, "spec", Message("NamespaceSpec")),
    ("NamespaceSpec", 1, "finalizers", Texts),
    ("DeleteOptions", 1, "gracePeriodSeconds", Int),
    ("DeleteOptions", 2, "preconditions", Message("Preconditions")),
    ("DeleteOptions", 3, "orphanDependents", Bool),
    ("DeleteOptions", 4, "propagationPolicy", Text),
    ("DeleteOptions", 5, "dryRun", Texts),
    ("Preconditions", 1, "uid", Text),
    ("Preconditions", 2, "resourceVersion", Text),
    ("SelfSubjectAccessReview", 1, "metadata", Message("ObjectMeta")),
    ("SelfSubjectAccessReview", 2, "spec", Message("AccessReviewSpec")),
    (
        "AccessReviewSpec",
        1,
        "resourceAttributes",
        Message("ResourceAttributes"),
    ),
    (
        "AccessReviewSpec",
        2,
        "nonResourceAttributes",
        Message("NonResourceAttributes"),
    ),
    ("ResourceAttributes", 1, "namespace", Text),
    ("ResourceAttributes", 2, "verb", Text),
    ("ResourceAttributes", 3, "group", Text),
    ("ResourceAttributes", 4, "version", Text),
    ("ResourceAttributes", 5, "resource", Text),
    ("ResourceAttributes", 6, "subresource", Text),
    ("ResourceAttributes", 7, "name", Text),
    ("NonResourceAttributes", 1, "path", Text),
    ("NonResourceAttributes", 2, "verb", Text),
    ("SelfSubjectRulesReview", 1, "metadata", Message("ObjectMeta")),
    ("SelfSubjectRulesReview", 2, "spec", Message("RulesReviewSpec")),
    ("RulesReviewSpec", 1, "namespace", Text),
    ("SelfSubjectReview", 1, "metadata", Message("ObjectMeta")),
    ("TokenRequest", 1, "metadata", Message("ObjectMeta")),
    ("TokenRequest", 2, "spec", Message("TokenRequestSpec")),
    ("TokenRequestSpec", 1, "audiences", Texts),
    (
        "TokenRequestSpec",
        3,
        "boundObjectRef",
        Message("BoundObjectReference"),
    ),
    ("TokenRequestSpec", 4, "expirationSeconds", Int),
    ("BoundObjectReference", 1, "kind", Text),
    ("BoundObjectReference", 2, "apiVersion", Text),
    ("BoundObjectReference", 3, "name", Text),
    ("BoundObjectReference", 4, "uid", Text),
    ("Eviction", 1, "metadata", Message("ObjectMeta")),
    ("Eviction", 2, "deleteOptions", Message("DeleteOptions")),
    ("Role", 1, "metadata", Message("ObjectMeta")),
    ("Role", 2, "rules", Messages("PolicyRule")),
    ("ClusterRole", 1, "metadata", Message("ObjectMeta")),
    ("ClusterRole", 2, "rules", Messages("PolicyRule")),
    ("PolicyRule", 1, "verbs", Texts),
    ("PolicyRule", 2, "apiGroups", Texts),
    ("PolicyRule", 3, "resources", Texts),
    ("PolicyRule", 4, "resourceNames", Texts),
    ("PolicyRule", 5, "nonResourceURLs", Texts),
    ("RoleBinding", 1, "metadata", Message("ObjectMeta")),
    ("RoleBinding", 2, "subjects", Messages("Subject")),
    ("RoleBinding", 3, "roleRef", Message("RoleRef")),
    ("ClusterRoleBinding", 1, "metadata", Message("ObjectMeta")),
    ("ClusterRoleBinding", 2, "subjects", Messages("Subject")),
    ("ClusterRoleBinding", 3, "roleRef", Message("RoleRef")),
    ("Subject", 1, "kind", Text),
    ("Subject", 2, "apiGroup", Text),
    ("Subject", 3, "name", Text),
    ("Subject", 4, "namespace", Text),
    ("RoleRef", 1, "apiGroup", Text),
    ("RoleRef", 2, "kind", Text),
    ("RoleRef", 3, "name", Text),
];

/// One field on the wire.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Reads the fields of a message one after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next field; the outer `None` is a broken message.
    #[expect(
        clippy::option_option,
        reason = "a broken message and the end of one are different things"
    )]
    fn field(&mut self) -> Option<Option<(u64, Wire<'a>)>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let key = self.varint()?;
        let wire = match key & 7 {
            0 => Wire::Number(self.varint()?),
            1 => Wire::Bytes(self.take(8)?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Wire::Bytes(self.take(length)?)
            }
            5 => Wire::Bytes(self.take(4)?),
            _ => return None,
        };
        Some(Some((key >> 3, wire)))
    }
}

/// The JSON object in an envelope.
pub(crate) fn read(body: &[u8]) -> Result<Value, ApiError> {
    let broken = || ApiError::bad_request("the body is no Kubernetes protobuf message");
    let mut envelope = Reader(body.strip_prefix(MAGIC).ok_or_else(broken)?);
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &b""[..]);
    while let Some((number, wire)) = envelope.field().ok_or_else(broken)? {
        match (number, wire) {
            (1, Wire::Bytes(types)) => {
                let mut types = Reader(types);
                while let Some((number, wire)) = types.field().ok_or_else(broken)? {
                    if let (1 | 2, Wire::Bytes(text)) = (number, wire) {
                        let text = std::str::from_utf8(text).map_err(|_| broken())?.to_owned();
                        *(if number == 1 { &mut api_version } else { &mut kind }) = text;
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let known = FIELDS
        .iter()
        .find(|(message, ..)| *message == kind)
        .map(|(message, ..)| *message);
    let known = known.ok_or_else(|| {
        ApiError::unsupported_media_type(format!("{kind} is not read as protobuf; use application/json"))
    })?;
    let mut object = message(known, raw, DEEPEST).ok_or_else(broken)?;
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), kind.into());
    Ok(Value::Object(object))
}

fn message(name: &str, raw: &[u8], depth: usize) -> Option<Map<String, Value>> {
    let depth = depth.checked_sub(1)?;
    let mut object = Map::new();
    let mut reader = Reader(raw);
    while let Some((number, wire)) = reader.field()? {
        let known = FIELDS
            .iter()
            .find(|(message, known, ..)| *message == name && *known == number);
        let Some((_, _, field, form)) = known else {
            continue;
        };
        match (form, wire) {
            (Int, Wire::Number(value)) => {
                object.insert((*field).into(), value.cast_signed().into());
            }
            (Bool, Wire::Number(value)) => {
                object.insert((*field).into(), (value != 0).into());
            }
            (Text, Wire::Bytes(bytes)) if !bytes.is_empty() => {
                object.insert((*field).into(), std::str::from_utf8(bytes).ok()?.into());
            }
            (Time, Wire::Bytes(bytes)) => {
                if let Some(time) = time(bytes)? {
                    object.insert((*field).into(), time.into());
                }
            }
            (Message(below), Wire::Bytes(bytes)) => {
                object.insert((*field).into(), Value::Object(message(below, bytes, depth)?));
            }
            (Texts, Wire::Bytes(bytes)) => push(&mut object, field, std::str::from_utf8(bytes).ok()?.into()),
            (Messages(below), Wire::Bytes(bytes)) => {
                push(&mut object, field, Value::Object(message(below, bytes, depth)?));
            }
            (TextMap | BytesMap, Wire::Bytes(bytes)) => {
                let (key, value) = entry(bytes)?;
                let value = match form {
                    BytesMap => STANDARD.encode(value),
                    _ => std::str::from_utf8(value).ok()?.to_owned(),
                };
                let map = object.entry(*field).or_insert_with(|| Value::Object(Map::new()));
                map.as_object_mut()?.insert(key.to_owned(), value.into());
            }
            _ => {}
        }
    }
    Some(object)
}

fn push(object: &mut Map<String, Value>, field: &str, value: Value) {
    let list = object.entry(field).or_insert_with(|| Value::Array(Vec::new()));
    if let Some(items) = list.as_array_mut() {
        items.push(value);
    }
}

fn entry(raw: &[u8]) -> Option<(&str, &[u8])> {
    let (mut key, mut value) = ("", &b""[..]);
    let mut reader = Reader(raw);
    while let Some((number, wire)) = reader.field()? {
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => key = std::str::from_utf8(bytes).ok()?,
            (2, Wire::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Some((key, value))
}

/// A moment; the empty message is none.
#[expect(
    clippy::option_option,
    reason = "a broken message and an empty one are different things"
)]
fn time(raw: &[u8]) -> Option<Option<String>> {
    let mut reader = Reader(raw);
    let mut seconds = None;
    while let Some((number, wire)) = reader.field()? {
        if let (1, Wire::Number(value)) = (number, wire) {
            seconds = Some(value.cast_signed());
        }
    }
    match seconds {
        None => Some(None),
        Some(seconds) => Some(Some(super::write::timestamp(
            jiff::Timestamp::from_second(seconds).ok()?,
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn a_config_map_is_read() {
        let body = b"k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\x18\n\x0e\n\x0cfrom-kubectl\x12\x06\n\x01k\x12\x01v\x1a\0\"\0";
        let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "from-kubectl"}, "data": {"k": "v"}});
        assert_eq!(read(body).unwrap(), expected);
    }

    #[test]
    fn nonsense_is_refused() {
        let long = [&b"k8s\0"[..], &[0xff; 64]].concat();
        for body in [&b""[..], b"k8s", b"k8s\0\n\xff", b"k8s\0\n\x05\n\x02v1", &long] {
            assert!(read(body).is_err());
        }
    }
}
