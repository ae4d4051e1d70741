//! A cluster in this process: the API, handed out as a client or served over HTTP.

mod serve;
mod tokens;

use std::fmt;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Limited};
use serde_json::Value;

use crate::api::{ANONYMOUS, Api, ApiError, Call};
pub use crate::api::{Registry, Resource};
use crate::store::{HISTORY, Store};
pub use serve::{ServeError, Server, Tls};

/// Longest body that is read, as in a real API server.
const LONGEST_BODY: usize = 3 * 1024 * 1024;

/// What is done to an object that admission is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is created.
    Create,
    /// It is changed.
    Update,
}

/// The facts of one admission.
#[derive(Clone, Debug)]
pub struct AdmissionInput {
    /// What is done.
    pub operation: Operation,
    /// API group of the object.
    pub group: String,
    /// Version in which it was sent.
    pub version: String,
    /// Its kind.
    pub kind: String,
    /// Plural name of its resource.
    pub resource: String,
    /// Its namespace; empty for cluster-wide kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The object as it would be stored.
    pub object: Value,
    /// The state before an update.
    pub old_object: Option<Value>,
    /// Nothing will be stored.
    pub dry_run: bool,
    /// Who asks.
    pub user: String,
}

/// An admission that says no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP code of the answer; 400 for faults of the object.
    pub code: u16,
    /// What the client is told.
    pub message: String,
}

/// Changes or refuses objects before they are stored.
pub type Admit = Arc<dyn Fn(AdmissionInput) -> Result<Value, Refusal> + Send + Sync>;
/// Brings a custom object into another `apiVersion`; the error is for people.
pub type Convert = Arc<dyn Fn(Value, &str) -> Result<Value, String> + Send + Sync>;

/// Which part of which container's log is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogRequest {
    /// Namespace of the Pod.
    pub namespace: String,
    /// Name of the Pod.
    pub pod: String,
    /// Its uid.
    pub uid: String,
    /// The container.
    pub container: String,
    /// Go on until the container ends.
    pub follow: bool,
    /// The log of the instance before the last restart.
    pub previous: bool,
    /// Put the time before each line.
    pub timestamps: bool,
    /// Only lines of the last seconds.
    pub since_seconds: Option<i64>,
    /// Only lines after this time (RFC 3339).
    pub since_time: Option<String>,
    /// Only that many last lines.
    pub tail_lines: Option<u64>,
    /// At most that many bytes.
    pub limit_bytes: Option<u64>,
}

/// Why there is no log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The container has not written one (yet); the text says why.
    #[error("{0}")]
    NotAvailable(String),
    /// Reading failed.
    #[error("{0}")]
    Failed(String),
}

/// A log as it is read.
pub type LogStream = BoxStream<'static, std::io::Result<Bytes>>;

/// Whoever runs the Pods and keeps their logs.
pub trait LogSource: Send + Sync + fmt::Debug {
    /// Opens a log.
    fn open(&self, request: LogRequest) -> BoxFuture<'static, Result<LogStream, LogError>>;
}

/// How a cluster is set up.
#[derive(Clone)]
pub struct ClusterOptions {
    /// CustomResourceDefinitions that are there from the start; by default Tekton's.
    pub definitions: Vec<Value>,
    /// Admission of all kinds.
    pub admission: Option<Admit>,
    /// Conversion of custom kinds between their versions.
    pub convert: Option<Convert>,
    /// Logs of Pods; may also be set later.
    pub logs: Option<Arc<dyn LogSource>>,
    /// The bearer token of the administrator. Without one, requests over the network are not
    /// checked.
    pub token: Option<String>,
    /// How many changes of each kind watches may fall behind.
    pub history: usize,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        let definitions = tekton_api::crd::all()
            .iter()
            .filter_map(|one| serde_json::to_value(one).ok())
            .collect();
        Self {
            definitions,
            admission: None,
            convert: None,
            logs: None,
            token: None,
            history: HISTORY,
        }
    }
}

impl fmt::Debug for ClusterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterOptions")
            .field("definitions", &self.definitions.len())
            .field("admission", &self.admission.is_some())
            .field("convert", &self.convert.is_some())
            .field("logs", &self.logs)
            .finish_non_exhaustive()
    }
}

/// A cluster. Clones are the same cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    api: Api,
}

impl Cluster {
    /// A cluster with the namespaces of a fresh one and the `default` service account.
    pub fn new(options: ClusterOptions) -> Self {
        Self {
            api: Api::new(options),
        }
    }

    /// A client that calls the API in this process, as the administrator.
    pub fn client(&self, namespace: &str) -> kube::Client {
        kube::Client::new(
            InProcess {
                cluster: self.clone(),
            },
            namespace,
        )
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        self.api.store()
    }

    /// The resources the API serves now.
    pub fn registry(&self) -> Arc<Registry> {
        self.api.registry()
    }

    /// Names the source of Pod logs, once.
    pub fn set_log_source(&self, logs: Arc<dyn LogSource>) {
        self.api.set_logs(logs);
    }

    /// A token for a service account, valid for some seconds, as the token subresource gives it.
    pub fn service_account_token(
        &self,
        namespace: &str,
        name: &str,
        audiences: &[String],
        seconds: i64,
    ) -> String {
        tokens::issue(self.api.secret(), namespace, name, audiences, seconds)
    }

    /// Names the certificate of the authority that Pods should trust, once; `kube-root-ca.crt` of
    /// namespaces created later carries it.
    pub fn set_authority(&self, certificate: String) {
        self.api.set_authority(certificate);
    }

    /// That certificate, or an empty text.
    pub fn authority(&self) -> &str {
        self.api.authority()
    }

    pub(crate) fn api(&self) -> &Api {
        &self.api
    }

    /// Answers a request that came over the network: its token decides who asks.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        match self.authenticate(request.headers()) {
            Ok(user) => self.dispatch(request, user).await,
            Err(why) => refusal(&why),
        }
    }

    fn authenticate(&self, headers: &http::HeaderMap) -> Result<String, ApiError> {
        let Some(expected) = self.api.token() else {
            return Ok("admin".to_owned());
        };
        let header = headers
            .get(http::header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let Some(header) = header else {
            return Ok(ANONYMOUS.to_owned());
        };
        let token = header
            .strip_prefix("Bearer ")
            .map(str::trim)
            .ok_or_else(ApiError::unauthorized)?;
        if tokens::same(token, expected) {
            return Ok("admin".to_owned());
        }
        tokens::verify(self.api.secret(), token).ok_or_else(ApiError::unauthorized)
    }

    async fn dispatch<B>(&self, request: Request<B>, user: String) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, LONGEST_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return refusal(&ApiError::too_large(LONGEST_BODY)),
        };
        self.api
            .answer(Call::new(head.method, &head.uri, head.headers, body, user))
            .await
    }
}

fn refusal(why: &ApiError) -> Response<Body> {
    let mut response = Response::new(Body::from(why.status().to_string()));
    *response.status_mut() = http::StatusCode::from_u16(why.code).unwrap_or_default();
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}

/// The service below the in-process client.
#[derive(Clone, Debug)]
struct InProcess {
    cluster: Cluster,
}

impl tower::Service<Request<kube::client::Body>> for InProcess {
    type Response = Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let cluster = self.cluster.clone();
        Box::pin(async move { Ok(cluster.dispatch(request, "admin".to_owned()).await) })
    }
}

/// The user a token stands for.
pub(crate) fn user_of_token(api: &Api, token: &str) -> Option<String> {
    if api.token().is_some_and(|expected| tokens::same(token, expected)) {
        return Some("admin".to_owned());
    }
    tokens::verify(api.secret(), token)
}

/// A new token of a service account.
pub(crate) fn issue_token(
    api: &Api,
    namespace: &str,
    name: &str,
    audiences: &[String],
    seconds: i64,
) -> String {
    tokens::issue(api.secret(), namespace, name, audiences, seconds)
}
