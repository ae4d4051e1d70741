//! Names that are computed rather than chosen: of children, containers and volumes.
//!
//! Every function is total and deterministic; where upstream adds random text, the caller passes it.
//! Upstream counterparts: `pkg/names/generate.go` and knative's `kmeta.ChildName`.

use std::collections::{BTreeMap, BTreeSet};

use md5::{Digest, Md5};
use sha2::Sha256;

use crate::v1::{ChildStatusReference, Param, ParamValue};

/// Longest name of a Kubernetes label value, and so of everything that ends up in one.
const LONGEST: usize = 63;
/// Length of an MD5 sum in hexadecimal.
const MD5_LENGTH: usize = 32;
/// What remains of a parent's name in front of a hash, the suffix included.
const HEAD: usize = LONGEST - MD5_LENGTH;
/// Length of random suffixes, and of hashed ones unless told otherwise.
pub const SUFFIX_LENGTH: usize = 5;

/// Name of a child object: `parent` + `suffix` if that fits into 63 characters, otherwise a shortened
/// parent, the MD5 sum of what was cut, and the suffix.
///
/// ```
/// assert_eq!(tekton_api::names::child_name("run", "-pod"), "run-pod");
/// assert_eq!(tekton_api::names::child_name(&"x".repeat(70), "-pod").len(), 63);
/// ```
pub fn child_name(parent: &str, suffix: &str) -> String {
    if parent.len() + suffix.len() <= LONGEST {
        return without_trailing_punctuation(format!("{parent}{suffix}"));
    }
    if suffix.len() >= HEAD {
        let sum = md5_hex(&[parent, suffix]);
        let mut name = format!("{}{sum}", prefix(parent, HEAD));
        let room = LONGEST.saturating_sub(name.len());
        name.push_str(prefix(suffix, room));
        return without_trailing_punctuation(name);
    }
    format!(
        "{}{}{suffix}",
        prefix(parent, HEAD - suffix.len()),
        md5_hex(&[parent])
    )
}

/// `name` cut to 63 characters, then freed from trailing characters that are not letters or digits.
///
/// ```
/// assert_eq!(tekton_api::names::restrict_length("step-a-"), "step-a");
/// ```
pub fn restrict_length(name: &str) -> String {
    without_trailing_punctuation(prefix(name, LONGEST).to_owned())
}

/// `base`, shortened so that a dash and the given random `suffix` still fit into 63 characters.
pub fn with_suffix(base: &str, suffix: &str) -> String {
    let room = LONGEST.saturating_sub(suffix.len() + 1);
    format!("{}-{suffix}", prefix(base, room))
}

/// `prefix` and a hash of `name` in `length` hexadecimal digits (0 means five).
///
/// ```
/// assert_eq!(tekton_api::names::hashed_name("ws", "cache", 5), "ws-265da");
/// ```
pub fn hashed_name(prefix_text: &str, name: &str, length: usize) -> String {
    let length = if length == 0 { SUFFIX_LENGTH } else { length };
    let mut hash = format!("{:x}", fnv1a_32(name.as_bytes()));
    while hash.len() < length {
        hash.push('0');
    }
    format!("{prefix_text}-{}", prefix(&hash, length))
}

/// Names of the volumes of bound workspaces, in order. Each workspace is given by its name and, if a
/// claim is bound to it, the claim's name; workspaces of one claim share a volume.
///
/// ```
/// let names = tekton_api::names::workspace_volumes([("a", Some("claim")), ("b", Some("claim"))]);
/// assert_eq!(names, ["ws-e40c2", "ws-e40c2"]);
/// ```
pub fn workspace_volumes<'a>(bound: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut claims: BTreeMap<&str, String> = BTreeMap::new();
    let mut names = Vec::new();
    for (workspace, claim) in bound {
        let mut name = hashed_name("ws", workspace, SUFFIX_LENGTH);
        while !used.insert(name.clone()) {
            name = hashed_name("ws", &format!("{name}$"), SUFFIX_LENGTH);
        }
        names.push(match claim {
            Some(claim) => claims.entry(claim).or_insert(name).clone(),
            None => name,
        });
    }
    names
}

/// Name of a step's container before it is cut to length: `step-NAME`, or `step-unnamed-INDEX`.
pub fn step_name(name: &str, index: usize) -> String {
    if name.is_empty() {
        format!("step-unnamed-{index}")
    } else {
        format!("step-{name}")
    }
}

/// Name of a step's container in the pod.
pub fn step_container(name: &str, index: usize) -> String {
    restrict_length(&step_name(name, index))
}

/// Name of a sidecar's container in the pod.
pub fn sidecar_container(name: &str) -> String {
    restrict_length(&format!("sidecar-{name}"))
}

/// Name of the claim made from a template: the template's name (or `pvc`) and a hash of the workspace and the
/// uid of the run.
pub fn volume_claim(template: &str, workspace: &str, owner_uid: &str) -> String {
    let hash = short_sha256(&[workspace, owner_uid]);
    format!("{}-{hash}", if template.is_empty() { "pvc" } else { template })
}

/// Name of the affinity assistant for a workspace, or for a whole run if `workspace` is empty.
pub fn affinity_assistant(workspace: &str, pipeline_run: &str) -> String {
    format!("affinity-assistant-{}", short_sha256(&[workspace, pipeline_run]))
}

/// Names of the `count` runs of a pipeline task: those already started of this kind, else new ones, which end
/// in a number unless there is exactly one.
///
/// ```
/// use tekton_api::names::child_runs;
/// assert_eq!(child_runs(&[], "TaskRun", "build", "nightly", 1), ["nightly-build"]);
/// assert_eq!(child_runs(&[], "TaskRun", "build", "nightly", 2), ["nightly-build-0", "nightly-build-1"]);
/// ```
pub fn child_runs(
    started: &[ChildStatusReference],
    kind: &str,
    pipeline_task: &str,
    pipeline_run: &str,
    count: usize,
) -> Vec<String> {
    let known: Vec<String> = started
        .iter()
        .filter(|child| child.kind.as_deref() == Some(kind))
        .filter(|child| child.pipeline_task_name.as_deref().unwrap_or_default() == pipeline_task)
        .map(|child| child.name.clone().unwrap_or_default())
        .collect();
    if !known.is_empty() {
        return known;
    }
    if count == 1 {
        return vec![child_name(pipeline_run, &format!("-{pipeline_task}"))];
    }
    let numbered = |index: usize| {
        let name = child_name(pipeline_run, &format!("-{pipeline_task}-{index}"));
        if name.ends_with(&format!("-{index}")) {
            return name;
        }
        let name = child_name(pipeline_run, &format!("-{pipeline_task}"));
        let room = LONGEST.saturating_sub(format!("-{count}").len());
        format!("{}-{index}", prefix(&name, room))
    };
    (0..count).map(numbered).collect()
}

/// Name of a ResolutionRequest: the resolver and a hash of what is asked for on whose behalf, so that a run
/// asks only once. `base` is `NAMESPACE/NAME` of the run.
pub fn resolution_request(resolver: &str, base: &str, params: &[Param], url: &str) -> String {
    let mut hash = Fnv128::default();
    hash.write(base.as_bytes());
    let mut sorted: Vec<&Param> = params.iter().collect();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    for param in sorted {
        hash.write(param.name.as_bytes());
        match &param.value {
            ParamValue::String(text) => hash.write(text.as_bytes()),
            value => hash.write(go_json(value).as_bytes()),
        }
    }
    hash.write(url.as_bytes());
    let hash = format!("{:032x}", hash.0);
    format!("{}-{hash}", prefix(resolver, LONGEST - hash.len() - 1))
}

/// The JSON of a value with those characters escaped that Go escapes for HTML's sake.
pub(crate) fn go_json(value: &ParamValue) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    let escapes = [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ];
    escapes
        .iter()
        .fold(text, |text, (character, escape)| text.replace(*character, escape))
}

/// The 128-bit FNV-1a hash.
struct Fnv128(u128);

impl Default for Fnv128 {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv128 {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
}

/// The first `length` bytes of `text`, fewer if that would split a character.
fn prefix(text: &str, length: usize) -> &str {
    let mut end = length.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn without_trailing_punctuation(mut name: String) -> String {
    name.truncate(name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
    name
}

fn md5_hex(parts: &[&str]) -> String {
    let mut sum = Md5::new();
    for part in parts {
        sum.update(part);
    }
    hex(&sum.finalize())
}

/// The first ten hexadecimal digits of a SHA-256 sum.
fn short_sha256(parts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part);
    }
    let mut digits = hex(&sum.finalize());
    digits.truncate(10);
    digits
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The 32-bit FNV-1a hash.
fn fnv1a_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_claims_are_hashed() {
        assert_eq!(
            resolution_request("http", "ci/run", &[], "https://x.local/t.yaml"),
            "http-668dd5a7615591b1c821929a3a86dc0f"
        );
        assert_eq!(volume_claim("", "w", "u").len(), "pvc-".len() + 10);
    }

    #[test]
    fn long_parents_are_hashed() {
        assert_eq!(
            child_name(
                "taskrun-name-which-is-rather-long-and-needs-to-be-shortened-1",
                "-pod"
            ),
            "taskrun-name-which-is-rathe192d593502431527b1817de347e7e71b-pod"
        );
    }

    #[test]
    fn long_suffixes_are_hashed_with_the_parent() {
        assert_eq!(
            child_name(
                "run",
                "-longtasklongtasklongtasklongtasklongtasklongtasklongtasklongtasklongtask"
            ),
            "run0ffa86cb3c973d2174d48b4d767c3d78-longtasklongtasklongtasklon"
        );
        assert_eq!(
            child_name(
                "ab",
                "-ccccccccccccccccccccccccccc--------------------dddddddddddddd"
            ),
            "ab88b9b30e166a4e434f6be08b2b07de14-ccccccccccccccccccccccccccc"
        );
    }

    #[test]
    fn hashes_are_padded_to_length() {
        assert_eq!(hashed_name("ws", "cache", 0), "ws-265da");
        assert_eq!(hashed_name("ws", "", 12).len(), "ws-".len() + 12);
    }

    #[test]
    fn names_lose_trailing_punctuation() {
        assert_eq!(restrict_length(""), "");
        assert_eq!(restrict_length(&format!("{}--", "a".repeat(62))), "a".repeat(62));
        assert_eq!(step_container("", 3), "step-unnamed-3");
    }
}
