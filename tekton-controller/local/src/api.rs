//! The Kubernetes API over the store: from a request to an answer.
//!
//! Everything but watches and logs is answered synchronously and holds no lock while it computes.
//! The API knows kinds only through its registry; what Tekton adds comes as an admission function.

mod body;
mod defaults;
mod delete;
mod discovery;
mod error;
mod fields;
mod intake;
pub(crate) mod json;
mod kinds;
mod limits;
mod logs;
mod managed;
mod names;
mod negotiate;
mod openapi;
mod options;
mod patch;
mod protobuf;
mod quantity;
mod questions;
mod read;
mod request;
mod schema;
mod selectors;
mod shapes;
mod subresources;
mod table;
mod typed;
mod validate;
mod versions;
mod watch;
mod write;

use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use axum::body::Body;
use bytes::Bytes;
use futures::Stream;
use http::{HeaderValue, Method, Response, header};
use serde_json::Value;

pub(crate) use error::ApiError;
pub use kinds::{Registry, Resource};
pub(crate) use options::{DeleteOptions, Propagation};
pub(crate) use request::Call;

use crate::cluster::{Admit, ClusterOptions, Convert, LogSource};
use crate::store::{ObjectKey, Store};
use write::Part;

/// The user of requests without a token.
pub(crate) const ANONYMOUS: &str = "system:anonymous";
/// The user in whose name the cluster itself writes.
const CONTROLLER: &str = "system:kube-controller-manager";

type Lines = Pin<Box<dyn Stream<Item = Result<Bytes, std::io::Error>> + Send>>;

enum Content {
    Whole(Bytes),
    Stream(Lines),
}

/// An answer on its way to HTTP.
pub(crate) struct Reply {
    code: u16,
    content_type: &'static str,
    content: Content,
    warnings: Vec<String>,
}

impl Reply {
    /// A JSON document.
    pub(crate) fn json(code: u16, body: impl std::borrow::Borrow<Value>) -> Self {
        let bytes = serde_json::to_vec(body.borrow()).unwrap_or_default();
        Self {
            code,
            content_type: "application/json",
            content: Content::Whole(bytes.into()),
            warnings: Vec::new(),
        }
    }

    /// Plain text.
    pub(crate) fn text(code: u16, text: impl Into<Bytes>) -> Self {
        let content = Content::Whole(text.into());
        Self {
            code,
            content_type: "text/plain; charset=utf-8",
            content,
            warnings: Vec::new(),
        }
    }

    /// Lines of JSON, as they come.
    pub(crate) fn stream(lines: impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static) -> Self {
        let content = Content::Stream(Box::pin(lines));
        Self {
            code: 200,
            content_type: "application/json",
            content,
            warnings: Vec::new(),
        }
    }

    /// The same under another media type.
    pub(crate) fn typed(mut self, content_type: &'static str) -> Self {
        self.content_type = content_type;
        self
    }

    /// A JSON document as YAML; streams and texts stay as they are.
    fn into_yaml(mut self) -> Self {
        if let Content::Whole(bytes) = &self.content
            && self.content_type == "application/json"
            && let Ok(value) = serde_json::from_slice::<Value>(bytes)
            && let Ok(text) = serde_saphyr::to_string(&value)
        {
            self.content = Content::Whole(text.into());
            self.content_type = "application/yaml";
        }
        self
    }

    /// Adds warnings for the client.
    pub(crate) fn warn(mut self, warnings: &[String]) -> Self {
        self.warnings.extend_from_slice(warnings);
        self
    }

    fn refusal(why: &ApiError) -> Self {
        if why.plain {
            Self::text(why.code, why.message.clone())
        } else {
            Self::json(why.code, why.status())
        }
    }

    fn into_response(self) -> Response<Body> {
        let body = match self.content {
            Content::Whole(bytes) => Body::from(bytes),
            Content::Stream(lines) => Body::from_stream(lines),
        };
        let mut response = Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(self.code).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-cache, private"),
        );
        for warning in self.warnings {
            let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
                headers.append("Warning", value);
            }
        }
        response
    }
}

struct Inner {
    store: Store,
    registry: RwLock<Arc<Registry>>,
    options: ClusterOptions,
    logs: OnceLock<Arc<dyn LogSource>>,
    authority: OnceLock<String>,
    secret: [u8; 32],
}

/// The API of one cluster. Clones share it.
#[derive(Clone)]
pub(crate) struct Api(Arc<Inner>);

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api")
            .field("version", &self.0.store.version())
            .finish_non_exhaustive()
    }
}

impl Api {
    /// An API over an empty store.
    pub(crate) fn new(options: ClusterOptions) -> Self {
        let registry = Arc::new(Registry::new(&options.definitions));
        let api = Self(Arc::new(Inner {
            store: Store::with_history(options.history),
            registry: RwLock::new(registry),
            logs: OnceLock::new(),
            authority: OnceLock::new(),
            secret: rand::random(),
            options,
        }));
        api.seed();
        api
    }

    /// The objects of a fresh cluster.
    fn seed(&self) {
        for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
            self.create_quietly(
                "",
                "v1",
                "namespaces",
                "",
                serde_json::json!({"metadata": {"name": name}}),
            );
        }
        self.create_quietly(
            "",
            "v1",
            "serviceaccounts",
            "default",
            serde_json::json!({"metadata": {"name": "default"}}),
        );
        for definition in &self.0.options.definitions {
            self.seed_definition(definition);
        }
    }

    /// Stores a definition that the registry has taken up already. It is the program's own, so it
    /// need not be checked, which for documents of this size takes a while.
    fn seed_definition(&self, definition: &Value) {
        let mut object = definition.clone();
        json::set(&mut object, &["apiVersion"], "apiextensions.k8s.io/v1");
        json::set(&mut object, &["kind"], "CustomResourceDefinition");
        json::set(
            &mut object,
            &["metadata", "uid"],
            uuid::Uuid::new_v4().to_string(),
        );
        json::set(&mut object, &["metadata", "creationTimestamp"], write::now());
        json::set(&mut object, &["metadata", "generation"], 1);
        defaults::establish(&mut object);
        let key = read::key_of(&object);
        if self
            .store()
            .create("customresourcedefinitions.apiextensions.k8s.io", key, object)
            .is_err()
        {
            tracing::warn!("two definitions of one name");
        }
    }

    fn own_options() -> options::WriteOptions {
        options::WriteOptions {
            dry_run: false,
            validation: options::FieldValidation::Ignore,
            manager: "tekton-local".to_owned(),
            force: false,
        }
    }

    /// Creates an object of the cluster itself; that it exists already is fine.
    pub(crate) fn create_quietly(
        &self,
        group: &str,
        version: &str,
        plural: &str,
        namespace: &str,
        mut object: Value,
    ) {
        let registry = self.registry();
        let Some(resource) = registry.find(group, version, plural) else {
            return;
        };
        let target = request::Target {
            namespace: namespace.to_owned(),
            ..request::Target::default()
        };
        let done = intake::accept(resource, &mut object)
            .and_then(|_| intake::place(resource, &target, &mut object))
            .and_then(|()| {
                let source = managed::Source::Update;
                write::create(
                    self,
                    resource,
                    &target,
                    object,
                    &Self::own_options(),
                    source,
                    CONTROLLER,
                )
            });
        match done {
            Err(why) if why.reason != "AlreadyExists" => {
                tracing::warn!(%why, plural, "an object of the cluster was refused");
            }
            _ => {}
        }
    }

    /// Changes the stored form of an object in the name of a built-in controller. When nothing
    /// holds a deleted object any longer, it goes.
    pub(crate) fn change(
        &self,
        resource: &Arc<Resource>,
        key: &ObjectKey,
        change: impl Fn(&mut Value),
    ) -> Result<(), ApiError> {
        for _ in 0..write::ATTEMPTS {
            let before = self
                .store()
                .get(&resource.bucket, key)
                .ok_or_else(|| ApiError::not_found(resource, &key.name))?;
            let mut after = Value::clone(&before);
            change(&mut after);
            if after == *before {
                return Ok(());
            }
            match write::commit(self, resource, &before, after) {
                Err(write::Refused::Raced) => {}
                Err(write::Refused::Error(why)) => return Err(why),
                Ok(_) => return Ok(()),
            }
        }
        Err(ApiError::modified(resource, &key.name))
    }

    /// The objects.
    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// The resources known now.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.0.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn admission(&self) -> Option<&Admit> {
        self.0.options.admission.as_ref()
    }

    fn convert(&self) -> Option<&Convert> {
        self.0.options.convert.as_ref()
    }

    /// The token that opens everything, when tokens are checked.
    pub(crate) fn token(&self) -> Option<&str> {
        self.0.options.token.as_deref()
    }

    /// The secret that signs service account tokens.
    pub(crate) fn secret(&self) -> &[u8] {
        &self.0.secret
    }

    /// Where logs of Pods come from.
    pub(crate) fn logs(&self) -> Option<&Arc<dyn LogSource>> {
        self.0.logs.get().or(self.0.options.logs.as_ref())
    }

    /// Names the source of logs, once.
    pub(crate) fn set_logs(&self, logs: Arc<dyn LogSource>) {
        if self.0.logs.set(logs).is_err() {
            tracing::warn!("the log source of a cluster is set once");
        }
    }

    /// The certificate of the authority that clients in Pods should trust.
    pub(crate) fn authority(&self) -> &str {
        self.0.authority.get().map_or("", String::as_str)
    }

    /// Names that certificate, once.
    pub(crate) fn set_authority(&self, authority: String) {
        if self.0.authority.set(authority).is_err() {
            tracing::warn!("the authority of a cluster is set once");
        }
    }

    /// Takes note of stored definitions.
    fn after_write(&self, resource: &Resource, object: &Value) {
        if resource.kind == "CustomResourceDefinition" {
            let mut registry = self.0.registry.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut registry).define(object);
        }
    }

    fn after_removal(&self, resource: &Resource, object: &Value) {
        if resource.kind == "CustomResourceDefinition" {
            let mut registry = self.0.registry.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut registry).forget(object);
        }
    }

    /// Deletes an object in the name of a built-in controller.
    pub(crate) fn delete(
        &self,
        resource: &Arc<Resource>,
        key: &ObjectKey,
        options: &DeleteOptions,
    ) -> Result<(), ApiError> {
        delete::remove(self, resource, key, options).map(|_| ())
    }

    /// Answers a request.
    pub(crate) async fn answer(&self, call: Call) -> Response<Body> {
        let reply = self.route(&call).await.unwrap_or_else(|why| Reply::refusal(&why));
        let yaml = negotiate::wants_yaml(call.header("accept"));
        (if yaml { reply.into_yaml() } else { reply }).into_response()
    }

    async fn route(&self, call: &Call) -> Result<Reply, ApiError> {
        if let Some(reply) = discovery::answer(self, call)? {
            return Ok(reply);
        }
        let target = call.target().ok_or_else(ApiError::no_page)?;
        let registry = self.registry();
        let Some(resource) = registry.find(&target.group, &target.version, &target.resource) else {
            let builtin = registry
                .all()
                .any(|known| !known.custom && known.group == target.group && known.version == target.version);
            return Err(if builtin {
                ApiError::no_resource()
            } else {
                ApiError::no_page()
            });
        };
        if call.user == ANONYMOUS {
            return Err(forbidden(resource, &target, call));
        }
        let scoped = !target.namespace.is_empty();
        if scoped && !resource.namespaced || (!scoped && resource.namespaced && !target.name.is_empty()) {
            return Err(if resource.custom {
                ApiError::no_page()
            } else {
                ApiError::no_resource()
            });
        }
        if !resource.stored {
            return questions::answer(self, resource, &target, call);
        }
        if !target.subresource.is_empty() {
            return self.subresource(resource, &target, call).await;
        }
        self.resource(resource, &target, call)
    }

    fn resource(
        &self,
        resource: &Arc<Resource>,
        target: &request::Target,
        call: &Call,
    ) -> Result<Reply, ApiError> {
        let watches = call.query.flag("watch");
        if target.name.is_empty() {
            return match call.method {
                Method::GET | Method::HEAD if watches => watch::watch(self, resource, target, call),
                Method::GET | Method::HEAD => read::list(self, resource, target, call),
                Method::POST if resource.namespaced && target.namespace.is_empty() => {
                    Err(if resource.custom {
                        ApiError::no_page()
                    } else {
                        ApiError::method_not_allowed()
                    })
                }
                Method::POST => write::post(self, resource, target, call),
                Method::DELETE if !resource.is_core("Namespace") => {
                    delete::collection(self, resource, target, call)
                }
                _ => Err(ApiError::method_not_allowed()),
            };
        }
        match call.method {
            Method::GET | Method::HEAD if watches => watch::watch(self, resource, target, call),
            Method::GET | Method::HEAD => read::get(self, resource, target, call),
            Method::PUT => write::put(self, resource, target, call, Part::Main),
            Method::PATCH => patch::patch(self, resource, target, call, Part::Main),
            Method::DELETE => delete::one(self, resource, target, call),
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    async fn subresource(
        &self,
        resource: &Arc<Resource>,
        target: &request::Target,
        call: &Call,
    ) -> Result<Reply, ApiError> {
        let known = kinds::subresources(resource)
            .iter()
            .any(|(name, ..)| *name == target.subresource);
        if !known {
            return Err(if resource.custom {
                ApiError::not_found(resource, &target.name)
            } else {
                ApiError::no_resource()
            });
        }
        match (target.subresource.as_str(), &call.method) {
            ("status", &Method::GET) => read::get(self, resource, target, call),
            ("status", &Method::PUT) => write::put(self, resource, target, call, Part::Status),
            ("status", &Method::PATCH) => patch::patch(self, resource, target, call, Part::Status),
            ("finalize", &Method::PUT) => write::put(self, resource, target, call, Part::Finalize),
            ("log", &Method::GET) => logs::read(self, resource, target, call).await,
            ("binding", &Method::POST) => subresources::bind(self, resource, target, call),
            ("eviction", &Method::POST) => subresources::evict(self, resource, target, call),
            ("token", &Method::POST) => subresources::token(self, resource, target, call),
            _ => Err(ApiError::method_not_allowed()),
        }
    }
}

/// The refusal of an anonymous request, as RBAC words it.
fn forbidden(resource: &Resource, target: &request::Target, call: &Call) -> ApiError {
    let one = !target.name.is_empty();
    let verb = match call.method {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if one => "delete",
        Method::DELETE => "deletecollection",
        _ if call.query.flag("watch") => "watch",
        _ if one => "get",
        _ => "list",
    };
    let name = if target.subresource.is_empty() {
        resource.plural.clone()
    } else {
        format!("{}/{}", resource.plural, target.subresource)
    };
    let place = if target.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {:?}", target.namespace)
    };
    let why = format!(
        "User {ANONYMOUS:?} cannot {verb} resource {name:?} in API group {:?} {place}",
        resource.group
    );
    ApiError::forbidden(resource, &target.name, &why, None)
}
