//! Reads YAML files with Kubernetes objects into JSON values, with bounded memory.
//!
//! Several documents, comments, anchors and merge keys are understood; duplicate keys, unbounded aliases
//! and deep nesting are refused, with line and column. Scalars are taken as `kubectl` takes them.

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

/// Deepest nesting of a document.
const DEEPEST: usize = 64;
/// Most nodes of a file, aliases expanded.
const MOST_NODES: usize = 250_000;

/// What is wrong with a YAML file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum YamlError {
    /// Wrong at a place.
    #[error("line {line}, column {column}: {message}")]
    At {
        /// Line, from 1.
        line: u64,
        /// Column, from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
    /// Wrong as a whole.
    #[error("{0}")]
    Whole(String),
}

/// The documents of a file as JSON values. Empty documents are left out.
///
/// ```
/// let found = tekton_api::yaml::documents("a: 1\n---\nb: [x, \"2\"]\n").unwrap();
/// assert_eq!(found, [serde_json::json!({"a": 1}), serde_json::json!({"b": ["x", "2"]})]);
/// assert!(tekton_api::yaml::documents("a: 1\na: 2\n").unwrap_err().to_string().starts_with("line 2"));
/// ```
///
/// # Errors
/// The first place that is no YAML, holds a duplicate key, or exceeds the bounds.
pub fn documents(text: &str) -> Result<Vec<Value>, YamlError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_nodes: MOST_NODES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MOST_NODES,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        legacy_octal_numbers: true,
    };
    let nodes: Vec<Node> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|error| readable(&error))?;
    Ok(nodes
        .into_iter()
        .map(|node| node.0)
        .filter(|value| !value.is_null())
        .collect())
}

fn readable(error: &serde_saphyr::Error) -> YamlError {
    let bare = error.without_snippet();
    let message = bare.to_string();
    let message = message.lines().next().unwrap_or_default().to_owned();
    match error.location() {
        Some(place) => YamlError::At {
            line: place.line(),
            column: place.column(),
            message,
        },
        None => YamlError::Whole(message),
    }
}

struct Node(Value);

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars() {
        let text = "a: yes\nb: \"yes\"\nc: 0644\nd: 1e3\ne: 012\nf: ~\ng: 2026-01-01\nh: on\ni: 0x10\nj: 1.5\nk: 1.2.3\nl: 1.10\nm: 12345678901234567890\n";
        let found = documents(text).unwrap();
        let expected = json!({"a": true, "b": "yes", "c": 420, "d": 1000.0, "e": 10, "f": null, "g": "2026-01-01",
            "h": true, "i": 16, "j": 1.5, "k": "1.2.3", "l": 1.1, "m": 12_345_678_901_234_567_890_u64});
        assert_eq!(found[0], expected);
    }

    #[test]
    fn bombs_are_refused_quickly() {
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (previous, next) in ('a'..'i').zip('b'..='i') {
            let list = vec![format!("*{previous}"); 9].join(",");
            bomb.push_str(&format!("{next}: &{next} [{list}]\n"));
        }
        assert!(documents(&bomb).is_err());
        assert!(documents(&"[".repeat(100_000)).is_err());
        assert!(documents(&format!("{}1", "a: {".repeat(500))).is_err());
        assert!(documents("a: [1\nb: 2\n").is_err());
    }

    #[test]
    fn anchors_and_merge_keys_work() {
        let found = documents("x: &x {a: 1}\ny: {<<: *x, b: 2}\nz: *x\n").unwrap();
        assert_eq!(found[0]["y"], json!({"a": 1, "b": 2}));
        assert_eq!(found[0]["z"], json!({"a": 1}));
    }
}
