//! What a resolver is, and what it is asked and answers.
//!
//! Upstream counterpart: `pkg/remoteresolution/resolver/framework/interface.go`.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use tekton_api::v1::{Param, RefSource};

use crate::ResolveError;

/// Time that a resolver gets unless it says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// One request, with everything that decides on its answer.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Params of the ResolutionRequest.
    pub params: Vec<Param>,
    /// Its namespace; secrets are read there.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Data of the resolver's ConfigMap.
    pub config: BTreeMap<String, String>,
}

impl Request {
    /// `namespace/name`, as errors name a request.
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    /// The bytes of the Task, Pipeline or StepAction.
    pub data: Vec<u8>,
    /// Annotations for the status of the request.
    pub annotations: BTreeMap<String, String>,
    /// Where the data comes from, with a digest.
    pub source: Option<RefSource>,
}

/// Finds remote resources of one kind of source.
///
/// ```
/// use tekton_resolution::{Request, ResolveError, Resolved, Resolver};
///
/// struct Fixed;
///
/// #[async_trait::async_trait]
/// impl Resolver for Fixed {
///     fn name(&self) -> &'static str { "Fixed" }
///     fn label(&self) -> &'static str { "fixed" }
///     fn config_map(&self) -> &'static str { "fixed-resolver-config" }
///     fn validate(&self, request: &Request) -> Result<(), ResolveError> {
///         if request.params.is_empty() { Ok(()) } else { Err(ResolveError::new("no params are known")) }
///     }
///     async fn resolve(&self, _: &Request) -> Result<Resolved, ResolveError> {
///         let data = b"{apiVersion: tekton.dev/v1, kind: Task, metadata: {name: t}, spec: {steps: [{image: i}]}}";
///         Ok(Resolved { data: data.to_vec(), ..Resolved::default() })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let found = tekton_resolution::framework::answer(&Fixed, &Request::default()).await.unwrap();
/// assert!(found.data.starts_with(b"{apiVersion"));
/// # }
/// ```
#[async_trait]
pub trait Resolver: Send + Sync {
    /// Name in error texts: `Git`.
    fn name(&self) -> &'static str;
    /// Value of the label `resolution.tekton.dev/type` of the requests it takes: `git`.
    fn label(&self) -> &'static str;
    /// Name of its ConfigMap.
    fn config_map(&self) -> &'static str;
    /// Checks the params before anything is fetched.
    fn validate(&self, request: &Request) -> Result<(), ResolveError>;
    /// Fetches.
    async fn resolve(&self, request: &Request) -> Result<Resolved, ResolveError>;
    /// Time for validation and fetching together.
    fn timeout(&self, _request: &Request) -> Result<Duration, ResolveError> {
        Ok(DEFAULT_TIMEOUT)
    }
    /// Whether the params name something that can never change, such as a commit or a digest.
    fn is_immutable(&self, _params: &[Param]) -> bool {
        false
    }
    /// Whether its answers are kept in the cache at all.
    fn uses_cache(&self) -> bool {
        false
    }
}
