//! Carries one request through a resolver: cache mode, time limit, validation, resolution, acceptance.
//!
//! Upstream counterpart: `pkg/remoteresolution/resolver/framework/reconciler.go`.

use crate::cache::policy;
use crate::{Request, ResolveError, Resolved, Resolver, accept, params};

/// How a request ended without data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request was never tried; upstream leaves it open until its global time limit.
    #[error("{0}")]
    Untried(ResolveError),
    /// The request is to be marked as failed, unless the failure passes by itself.
    #[error("{0}")]
    Failed(ResolveError),
}

impl Refusal {
    /// The failure itself.
    pub fn error(&self) -> &ResolveError {
        match self {
            Self::Untried(error) | Self::Failed(error) => error,
        }
    }

    /// Whether the request is marked as failed.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Untried(_) => false,
            Self::Failed(error) => !error.is_transient(),
        }
    }
}

/// The answer of a resolver to a request.
///
/// # Errors
/// [`Refusal::Untried`] for a bad cache mode or time limit, [`Refusal::Failed`] for everything else.
pub async fn answer(resolver: &dyn Resolver, request: &Request) -> Result<Resolved, Refusal> {
    let texts = params::strings(&request.params);
    if let Some(mode) = texts.get(policy::CACHE_PARAM) {
        policy::validate(mode).map_err(|error| Refusal::Untried(invalid(request, &error)))?;
    }
    let limit = resolver.timeout(request).map_err(Refusal::Untried)?;
    match tokio::time::timeout(limit, attempt(resolver, request)).await {
        Ok(outcome) => outcome.map_err(Refusal::Failed),
        Err(_) => Err(Refusal::Failed(ResolveError::new("context deadline exceeded"))),
    }
}

async fn attempt(resolver: &dyn Resolver, request: &Request) -> Result<Resolved, ResolveError> {
    resolver
        .validate(request)
        .map_err(|error| invalid(request, &error))?;
    let found = resolver
        .resolve(request)
        .await
        .map_err(|error| unavailable(resolver, request, error))?;
    accept::accept(&found.data).map_err(|error| {
        unavailable(
            resolver,
            request,
            error.within("resolved resource validation error"),
        )
    })?;
    Ok(found)
}

/// The failure of a request whose params are wrong.
pub fn invalid(request: &Request, error: &ResolveError) -> ResolveError {
    let text = format!("invalid resource request \"{}\": {error}", request.key());
    if error.is_transient() {
        ResolveError::passing(text)
    } else {
        ResolveError::new(text)
    }
}

/// The failure of a request whose resource could not be had.
pub fn unavailable(resolver: &dyn Resolver, request: &Request, error: ResolveError) -> ResolveError {
    error.within(&format!(
        "error getting \"{}\" \"{}\"",
        resolver.name(),
        request.key()
    ))
}
