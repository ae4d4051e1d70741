//! The security context of the containers that Tekton adds, so that they pass "restricted" admission.
//!
//! Upstream counterpart: `pkg/pod/security_context_config.go`.

use k8s_openapi::api::core::v1::{Capabilities, SeccompProfile, SecurityContext};

/// Whether added containers get a security context, and which one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecurityContextConfig {
    /// Feature flag `set-security-context`.
    pub set: bool,
    /// Feature flag `set-security-context-read-only-root-filesystem`; counts only with the other one.
    pub read_only_root: bool,
}

impl SecurityContextConfig {
    /// The context for a container on Windows or Linux; `None` if the flags are off.
    pub fn context(self, windows: bool) -> Option<SecurityContext> {
        self.set.then(|| {
            if windows {
                return SecurityContext {
                    run_as_non_root: Some(true),
                    ..SecurityContext::default()
                };
            }
            SecurityContext {
                allow_privilege_escalation: Some(false),
                capabilities: Some(Capabilities {
                    drop: Some(vec!["ALL".to_owned()]),
                    ..Capabilities::default()
                }),
                run_as_non_root: Some(true),
                read_only_root_filesystem: self.read_only_root.then_some(true),
                seccomp_profile: Some(SeccompProfile {
                    type_: "RuntimeDefault".to_owned(),
                    ..SeccompProfile::default()
                }),
                ..SecurityContext::default()
            }
        })
    }
}
