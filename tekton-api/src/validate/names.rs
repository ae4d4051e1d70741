//! Names as Kubernetes wants them.
//!
//! Upstream counterparts: `k8s.io/apimachinery/pkg/util/validation` and `pkg/apis/validate`.

use kube::core::ObjectMeta;

use crate::field_errors::FieldErrors;
use crate::quote::quote;

const LONGEST_LABEL: usize = 63;
const LONGEST_SUBDOMAIN: usize = 253;

const LABEL_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
     or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation \
     is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED_NAME_MESSAGE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
     with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const QUALIFIED_NAME_FORM: &str = "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must \
     start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
     validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
     'example.com/MyName')";

/// Whether a text is a DNS label: lower-case letters, digits and inner dashes.
pub(crate) fn is_dns_label(text: &str) -> bool {
    text.len() <= LONGEST_LABEL && is_label_of_any_length(text)
}

fn is_label_of_any_length(text: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(first), Some(last))
        if is_alphanumeric(*first) && is_alphanumeric(*last))
        && bytes.iter().all(|byte| is_alphanumeric(*byte) || *byte == b'-')
}

fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= LONGEST_SUBDOMAIN && text.split('.').all(is_label_of_any_length)
}

/// What is wrong with a text as a name with an optional prefix such as `example.com/name`; empty if nothing.
pub(crate) fn qualified_name_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                if prefix.len() > LONGEST_SUBDOMAIN {
                    problems.push(format!(
                        "prefix part must be no more than {LONGEST_SUBDOMAIN} characters"
                    ));
                }
                if !prefix.split('.').all(is_label_of_any_length) {
                    problems.push(format!("prefix part {LABEL_MESSAGE}"));
                }
            }
            *name
        }
        _ => return vec![QUALIFIED_NAME_FORM.to_owned()],
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > LONGEST_LABEL {
        problems.push(format!(
            "name part must be no more than {LONGEST_LABEL} characters"
        ));
    }
    if !is_qualified_part(name) {
        problems.push(format!("name part {QUALIFIED_NAME_MESSAGE}"));
    }
    problems
}

fn is_qualified_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(first), Some(last))
        if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Checks the name of an object.
pub(crate) fn object_metadata(metadata: &ObjectMeta) -> FieldErrors {
    let name = metadata.name.as_deref().unwrap_or_default();
    let errors = if !is_dns_subdomain(name) {
        let message = format!("invalid resource name {}: must be a valid DNS label", quote(name));
        FieldErrors::new(message, &["name"])
    } else if name.len() > LONGEST_LABEL {
        FieldErrors::new(
            "Invalid resource name: length must be no more than 63 characters",
            &["name"],
        )
    } else {
        FieldErrors::none()
    };
    errors.via_field("metadata")
}

/// Whether a name holds only letters, digits, `-`, `_` and dots, and starts with a letter or `_`.
pub(crate) fn is_variable_name(name: &str) -> bool {
    starts_well(name) && name.bytes().all(|byte| is_variable_byte(byte) || byte == b'.')
}

/// The same without dots, for objects and their keys.
pub(crate) fn is_object_name(name: &str) -> bool {
    starts_well(name) && name.bytes().all(is_variable_byte)
}

fn starts_well(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn is_variable_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The form of result names, as messages cite it.
pub(crate) const RESULT_NAME_FORMAT: &str = "^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";

/// Whether a name has the form of result names.
pub(crate) fn is_result_name(name: &str) -> bool {
    is_qualified_part(name)
}

/// A path without doubled slashes, `.` and `..`, as Go's `filepath.Clean` makes it.
pub(crate) fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        assert!(is_dns_label("a-1") && is_dns_label("1"));
        assert!(!is_dns_label("") && !is_dns_label("-a") && !is_dns_label("A") && !is_dns_label("a.b"));
        assert!(!is_dns_label(&"a".repeat(64)));
    }

    #[test]
    fn qualified_names() {
        assert!(qualified_name_problems("a.b/C_1").is_empty());
        assert_eq!(qualified_name_problems("a/b/c"), [QUALIFIED_NAME_FORM]);
        assert_eq!(qualified_name_problems("").len(), 2);
        assert_eq!(qualified_name_problems("/").len(), 3);
    }

    #[test]
    fn paths() {
        for (path, clean) in [
            ("", "."),
            ("/a/../b//c/.", "/b/c"),
            ("../a/..", ".."),
            ("/..", "/"),
            ("a/./b", "a/b"),
        ] {
            assert_eq!(clean_path(path), clean);
        }
    }
}
