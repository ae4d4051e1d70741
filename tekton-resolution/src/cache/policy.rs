//! Whether a request is answered from the cache.
//!
//! Upstream counterpart: `pkg/remoteresolution/resolver/framework/cache/operations.go`.

use crate::{Request, ResolveError, Resolver, params};

/// Param with the mode.
pub const CACHE_PARAM: &str = "cache";
/// Key of the resolver's ConfigMap with the mode of requests that have none.
pub const DEFAULT_MODE_KEY: &str = "default-cache-mode";

const MODES: &[&str] = &["always", "never", "auto"];

/// Refuses modes that do not exist; an empty one means the default.
pub fn validate(mode: &str) -> Result<(), ResolveError> {
    if mode.is_empty() || MODES.contains(&mode) {
        return Ok(());
    }
    Err(ResolveError::new(format!(
        "invalid cache mode '{mode}', must be one of: [{}] (or empty for default)",
        MODES.join(" ")
    )))
}

/// Whether the cache is to be used; an unknown mode of the configuration acts like `auto`.
pub fn should_use(resolver: &dyn Resolver, request: &Request) -> bool {
    if !resolver.uses_cache() {
        return false;
    }
    let asked = request.params.iter().find(|param| param.name == CACHE_PARAM);
    let asked = asked
        .map(|param| params::text(&param.value))
        .filter(|mode| !mode.is_empty());
    let configured = request.config.get(DEFAULT_MODE_KEY).map(String::as_str);
    match asked.or(configured) {
        Some("always") => true,
        Some("never") => false,
        _ => resolver.is_immutable(&request.params),
    }
}
