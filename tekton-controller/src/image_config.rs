//! What a registry says of an image: the command it runs when a step names none.
//!
//! Upstream counterpart: `pkg/pod/entrypoint_lookup.go`.

use serde::{Deserialize, Serialize};

/// Commands of an image, one entry a platform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageConfig {
    /// `sha256:…` of the image or its index, to which the reference is pinned; empty if unknown.
    #[serde(default)]
    pub digest: String,
    /// One entry for a plain image, one for each platform of an index.
    pub platforms: Vec<Platform>,
}

/// The command of an image on one platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// `linux`, `windows`
    #[serde(default = "linux")]
    pub os: String,
    /// `amd64`, `arm64`, …
    #[serde(default = "amd64")]
    pub architecture: String,
    /// `v7`, …; mostly empty.
    #[serde(default)]
    pub variant: String,
    /// The image's entrypoint.
    #[serde(default)]
    pub entrypoint: Vec<String>,
    /// The image's default arguments.
    #[serde(default)]
    pub cmd: Vec<String>,
}

fn linux() -> String {
    "linux".to_owned()
}

fn amd64() -> String {
    "amd64".to_owned()
}
