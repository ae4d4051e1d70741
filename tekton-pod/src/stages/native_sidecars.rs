//! Where sidecars go: beside the steps, or, on clusters that know them, among the init containers.
//!
//! Upstream counterpart: the end of `Builder.Build` and `IsNativeSidecarSupport` in `pkg/pod/pod.go`.

use k8s_openapi::api::core::v1::Container;
use tekton_api::names;

use super::results_sidecar;
use crate::input::ServerVersion;

/// First minor version of Kubernetes 1 that has them switched on.
const FIRST_MINOR: u64 = 29;

/// True if the server runs init containers with restart policy `Always` as sidecars.
pub(crate) fn are_supported(version: &ServerVersion) -> bool {
    let minor = version.minor.strip_suffix('+').unwrap_or(&version.minor);
    let number = |text: &str| text.parse::<u64>().unwrap_or_default();
    let major = number(&version.major);
    major > 1 || (major == 1 && number(minor) >= FIRST_MINOR)
}

/// Puts sidecars in their place.
pub(crate) fn place(
    sidecars: Vec<Container>,
    native: bool,
    init: &mut Vec<Container>,
    containers: &mut Vec<Container>,
) {
    for mut sidecar in sidecars {
        if native {
            sidecar.restart_policy = Some("Always".to_owned());
            if sidecar.name == results_sidecar::SIDECAR {
                results_sidecar::keep_running(&mut sidecar);
            }
        }
        sidecar.name = names::sidecar_container(&sidecar.name);
        if native {
            init.push(sidecar);
        } else {
            containers.push(sidecar);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_decide() {
        for (major, minor, native) in [
            ("1", "28", false),
            ("1", "29", true),
            ("1", "30+", true),
            ("2", "0", true),
            ("1", "x", false),
            ("", "", false),
        ] {
            let version = ServerVersion {
                major: major.to_owned(),
                minor: minor.to_owned(),
            };
            assert_eq!(are_supported(&version), native, "{major}.{minor}");
        }
    }
}
