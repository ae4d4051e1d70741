//! Create and replace: the steps every write takes, whatever its source.
//!
//! A write is computed from the state that was read and stored only if that state is still there;
//! patches and unconditional writes are computed again when another write came first.

use std::sync::Arc;

use rand::Rng as _;
use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::{at, copy, list, remove, set, text};
use super::kinds::Resource;
use super::negotiate::form;
use super::options::WriteOptions;
use super::request::{Call, Target};
use super::{Api, Reply, body, defaults, intake, limits, managed, read, validate, versions};
use crate::cluster::{AdmissionInput, Operation};
use crate::store::{ObjectKey, StoreError};

/// How often a write that lost a race is computed again.
pub(crate) const ATTEMPTS: usize = 16;
/// Letters of generated names: no vowels, nothing that is mistaken for another.
const SUFFIX_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Longest part of `generateName` that is kept.
const LONGEST_BASE: usize = 58;

/// Which part of an object a write may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything but the status.
    Main,
    /// The status only.
    Status,
    /// The finalizers in a Namespace's spec.
    Finalize,
}

/// Why a write did not happen.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is wrong.
    Error(ApiError),
    /// Another write came first; it can be computed again.
    Raced,
}

impl From<ApiError> for Refused {
    fn from(why: ApiError) -> Self {
        Self::Error(why)
    }
}

/// The present time as objects carry it.
pub(crate) fn now() -> String {
    timestamp(jiff::Timestamp::now())
}

/// A time in whole seconds.
pub(crate) fn timestamp(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// POST to a collection.
pub(crate) fn post(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let options = WriteOptions::parse(call, "CreateOptions")?;
    let wanted = form(call.header("accept"))?;
    let mut value = body::read(call)?;
    let unknown = intake::accept(resource, &mut value)?;
    let warnings = intake::judge_unknown(resource, &unknown, options.validation)?;
    intake::place(resource, target, &mut value)?;
    let object = create(
        api,
        resource,
        target,
        value,
        &options,
        managed::Source::Update,
        &call.user,
    )?;
    let object = versions::served(resource, &object, api.convert())?;
    Ok(Reply::json(201, read::shape_one(resource, object, wanted, call)?).warn(&warnings))
}

fn generated_name(base: &str) -> String {
    let mut cut = base.len().min(LONGEST_BASE);
    while !base.is_char_boundary(cut) {
        cut -= 1;
    }
    let mut name = base.get(..cut).unwrap_or_default().to_owned();
    let mut random = rand::rng();
    for _ in 0..5 {
        let letter = SUFFIX_LETTERS
            .get(random.random_range(0..SUFFIX_LETTERS.len()))
            .copied()
            .unwrap_or(b'x');
        name.push(char::from(letter));
    }
    name
}

fn check_namespace(api: &Api, resource: &Resource, target: &Target, name: &str) -> Result<(), ApiError> {
    if !resource.namespaced {
        return Ok(());
    }
    let namespaces = api.registry();
    let Some(kind) = namespaces.find("", "v1", "namespaces") else {
        return Ok(());
    };
    let space = &target.namespace;
    let found = api.store().get(&kind.bucket, &ObjectKey::new("", &**space));
    let Some(found) = found else {
        return Err(ApiError::not_found(kind, space));
    };
    if at(&found, &["metadata", "deletionTimestamp"]).is_some() {
        let why = format!("unable to create new content in namespace {space} because it is being terminated");
        let cause = json!([{"reason": "NamespaceTerminating", "message": format!("namespace {space} is being terminated"),
            "field": "metadata.namespace"}]);
        return Err(ApiError::forbidden(resource, name, &why, Some(cause)));
    }
    Ok(())
}

/// Stores a new object that `intake` has accepted; answers the stored form.
pub(crate) fn create(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    mut value: Value,
    options: &WriteOptions,
    source: managed::Source<'_>,
    user: &str,
) -> Result<Arc<Value>, ApiError> {
    if !matches!(text(&value, &["metadata", "resourceVersion"]), "" | "0") {
        return Err(ApiError::bad_request(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    let base = text(&value, &["metadata", "generateName"]).to_owned();
    let generate = text(&value, &["metadata", "name"]).is_empty() && !base.is_empty();
    if generate {
        set(&mut value, &["metadata", "name"], generated_name(&base));
    }
    check_namespace(api, resource, target, text(&value, &["metadata", "name"]))?;
    for field in [
        "selfLink",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
    ] {
        remove(&mut value, &["metadata", field]);
    }
    if resource.generation {
        set(&mut value, &["metadata", "generation"], 1);
    }
    defaults::on_create(resource, &mut value);
    let value = admit(
        api,
        resource,
        target,
        Operation::Create,
        value,
        None,
        options,
        user,
    )?;
    let mut value = limits::apply(api, resource, value)?;
    defaults::after_admission(resource, &mut value);
    set(&mut value, &["metadata", "uid"], uuid::Uuid::new_v4().to_string());
    set(&mut value, &["metadata", "creationTimestamp"], now());
    validate::on_create(resource, &value)?;
    managed::record(resource, None, &mut value, options, "", source);
    let mut attempt = 0;
    loop {
        let name = text(&value, &["metadata", "name"]).to_owned();
        let stored = versions::stored(resource, value.clone(), api.convert())?;
        let key = read::key_of(&stored);
        if options.dry_run {
            if api.store().get(&resource.bucket, &key).is_some() {
                return Err(ApiError::already_exists(resource, &name));
            }
            return Ok(Arc::new(stored));
        }
        match api.store().create(&resource.bucket, key, stored) {
            Ok(object) => {
                api.after_write(resource, &object);
                return Ok(object);
            }
            Err(_) if generate && attempt < ATTEMPTS => {
                attempt += 1;
                set(&mut value, &["metadata", "name"], generated_name(&base));
            }
            Err(_) => return Err(ApiError::already_exists(resource, &name)),
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "the facts of one admission request")]
fn admit(
    api: &Api,
    resource: &Resource,
    target: &Target,
    operation: Operation,
    object: Value,
    old_object: Option<Value>,
    options: &WriteOptions,
    user: &str,
) -> Result<Value, ApiError> {
    let Some(admission) = api.admission() else {
        return Ok(object);
    };
    let input = AdmissionInput {
        operation,
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
        resource: resource.plural.clone(),
        namespace: target.namespace.clone(),
        name: text(&object, &["metadata", "name"]).to_owned(),
        object,
        old_object,
        dry_run: options.dry_run,
        user: user.to_owned(),
    };
    admission(input).map_err(|refusal| ApiError::denied(refusal.code, refusal.message))
}

/// PUT of an object or a part of it.
pub(crate) fn put(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
    part: Part,
) -> Result<Reply, ApiError> {
    let options = WriteOptions::parse(call, "UpdateOptions")?;
    let wanted = form(call.header("accept"))?;
    let mut value = body::read(call)?;
    let unknown = intake::accept(resource, &mut value)?;
    let warnings = intake::judge_unknown(resource, &unknown, options.validation)?;
    let name = text(&value, &["metadata", "name"]).to_owned();
    if name.is_empty() {
        let text = format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            target.name
        );
        return Err(ApiError::bad_request(text));
    }
    if name != target.name {
        let text = format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        );
        return Err(ApiError::bad_request(text));
    }
    intake::place(resource, target, &mut value)?;
    let unconditional = matches!(text(&value, &["metadata", "resourceVersion"]), "" | "0");
    let key = ObjectKey::new(&*target.namespace, &*target.name);
    for _ in 0..ATTEMPTS {
        let Some(before) = api.store().get(&resource.bucket, &key) else {
            if resource.create_on_update && part == Part::Main {
                remove(&mut value, &["metadata", "resourceVersion"]);
                let object = create(
                    api,
                    resource,
                    target,
                    value,
                    &options,
                    managed::Source::Update,
                    &call.user,
                )?;
                let object = versions::served(resource, &object, api.convert())?;
                return Ok(Reply::json(201, read::shape_one(resource, object, wanted, call)?).warn(&warnings));
            }
            return Err(ApiError::not_found(resource, &target.name));
        };
        if unconditional && resource.custom {
            let fault = FieldFault::invalid(
                "metadata.resourceVersion",
                &json!(0),
                "must be specified for an update",
            );
            return Err(ApiError::invalid_kind(
                &resource.group,
                &resource.plural,
                &target.name,
                &[fault],
            ));
        }
        let write = Update {
            api,
            resource,
            target,
            part,
            options: &options,
            user: &call.user,
        };
        match write.store(&before, value.clone(), managed::Source::Update) {
            Ok(object) => {
                let object = versions::served(resource, &object, api.convert())?;
                return Ok(Reply::json(200, read::shape_one(resource, object, wanted, call)?).warn(&warnings));
            }
            Err(Refused::Error(why)) => return Err(why),
            Err(Refused::Raced) if unconditional => {}
            Err(Refused::Raced) => break,
        }
    }
    Err(ApiError::modified(resource, &target.name))
}

/// A write to an object that exists.
#[derive(Clone, Copy)]
pub(crate) struct Update<'a> {
    pub(crate) api: &'a Api,
    pub(crate) resource: &'a Arc<Resource>,
    pub(crate) target: &'a Target,
    pub(crate) part: Part,
    pub(crate) options: &'a WriteOptions,
    pub(crate) user: &'a str,
}

impl Update<'_> {
    /// Stores `after`, given in the served version, in the place of `before`; answers the stored form.
    pub(crate) fn store(
        self,
        before: &Arc<Value>,
        mut after: Value,
        source: managed::Source<'_>,
    ) -> Result<Arc<Value>, Refused> {
        let resource = self.resource;
        let old = versions::served(resource, before, self.api.convert())?;
        self.check_identity(&old, &after)?;
        keep_system_fields(&old, &mut after);
        self.keep_other_parts(&old, &mut after);
        defaults::on_update(resource, &old, &mut after);
        if self.part == Part::Main {
            after = admit(
                self.api,
                resource,
                self.target,
                Operation::Update,
                after,
                Some(old.clone()),
                self.options,
                self.user,
            )?;
        }
        self.count_generation(&old, &mut after);
        validate::on_update(resource, self.part, &old, &after)?;
        if same_but_for_ownership(&old, &after) && !source.changes_ownership(&old) {
            return Ok(Arc::clone(before));
        }
        let subresource = if self.part == Part::Status { "status" } else { "" };
        managed::record(
            resource,
            Some(&old),
            &mut after,
            self.options,
            subresource,
            source,
        );
        if same(&old, &after) {
            return Ok(Arc::clone(before));
        }
        let stored = versions::stored(resource, after, self.api.convert())?;
        self.commit(before, stored)
    }

    fn check_identity(self, old: &Value, after: &Value) -> Result<(), ApiError> {
        let name = &self.target.name;
        let uid = text(after, &["metadata", "uid"]);
        let known = text(old, &["metadata", "uid"]);
        if !uid.is_empty() && uid != known {
            let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {known}");
            return Err(ApiError::conflict(
                &self.resource.qualified(),
                self.resource.details(name),
                name,
                &why,
            ));
        }
        let version = text(after, &["metadata", "resourceVersion"]);
        if !matches!(version, "" | "0") && version != text(old, &["metadata", "resourceVersion"]) {
            return Err(ApiError::modified(self.resource, name));
        }
        Ok(())
    }

    fn keep_other_parts(self, old: &Value, after: &mut Value) {
        match self.part {
            Part::Main => {
                if self.resource.status {
                    copy(old, after, &["status"]);
                }
                if self.resource.is_core("Namespace") {
                    copy(old, after, &["spec", "finalizers"]);
                }
            }
            Part::Status => {
                let status = at(after, &["status"]).cloned();
                let meta = at(after, &["metadata"]).cloned();
                *after = old.clone();
                match status {
                    Some(status) => set(after, &["status"], status),
                    None => {
                        remove(after, &["status"]);
                    }
                }
                match meta {
                    Some(meta) if self.resource.custom => {
                        copy(&json!({"metadata": meta}), after, &["metadata", "managedFields"]);
                    }
                    Some(meta) => {
                        set(after, &["metadata"], meta);
                        copy(old, after, &["metadata", "ownerReferences"]);
                    }
                    None => {}
                }
            }
            Part::Finalize => {
                let finalizers = json!(list(after, &["spec", "finalizers"]));
                *after = old.clone();
                set(after, &["spec", "finalizers"], finalizers);
            }
        }
    }

    fn count_generation(self, old: &Value, after: &mut Value) {
        if !self.resource.generation || self.part != Part::Main {
            return;
        }
        let changed = if self.resource.custom {
            let without = |value: &Value| {
                let mut value = value.clone();
                for field in ["metadata", "status"] {
                    remove(&mut value, &[field]);
                }
                value
            };
            without(old) != without(after)
        } else {
            old.get("spec") != after.get("spec")
                || (old.get("spec").is_none() && old.get("webhooks") != after.get("webhooks"))
        };
        if changed {
            let generation = at(old, &["metadata", "generation"])
                .and_then(Value::as_i64)
                .unwrap_or(0);
            set(after, &["metadata", "generation"], generation + 1);
        }
    }

    fn commit(self, before: &Arc<Value>, stored: Value) -> Result<Arc<Value>, Refused> {
        if self.options.dry_run {
            return Ok(Arc::new(stored));
        }
        commit(self.api, self.resource, before, stored)
    }
}

/// What only the server writes stays as it was.
fn keep_system_fields(old: &Value, after: &mut Value) {
    for field in [
        "uid",
        "creationTimestamp",
        "resourceVersion",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
    ] {
        copy(old, after, &["metadata", field]);
    }
    remove(after, &["metadata", "selfLink"]);
    if at(after, &["metadata", "generateName"]).is_none() {
        copy(old, after, &["metadata", "generateName"]);
    }
}

/// Puts a new stored state in the place of the old one; a deleted object that nothing holds any
/// longer goes instead.
pub(crate) fn commit(
    api: &Api,
    resource: &Arc<Resource>,
    before: &Arc<Value>,
    stored: Value,
) -> Result<Arc<Value>, Refused> {
    let key = read::key_of(before);
    let (bucket, store) = (&resource.bucket, api.store());
    let name = key.name.clone();
    let lost = |why: StoreError| match why {
        StoreError::Missing => Refused::Error(ApiError::not_found(resource, &name)),
        _ => Refused::Raced,
    };
    if is_released(&stored) {
        store.remove(bucket, key, before).map_err(lost)?;
        api.after_removal(resource, before);
        return Ok(Arc::new(stored));
    }
    let object = store.replace(bucket, key, before, stored).map_err(lost)?;
    api.after_write(resource, &object);
    Ok(object)
}

/// Deleted, with nothing left to wait for.
fn is_released(object: &Value) -> bool {
    at(object, &["metadata", "deletionTimestamp"]).is_some()
        && list(object, &["metadata", "finalizers"]).is_empty()
        && (text(object, &["kind"]) != "Namespace" || list(object, &["spec", "finalizers"]).is_empty())
        && at(object, &["metadata", "deletionGracePeriodSeconds"])
            .and_then(Value::as_i64)
            .unwrap_or(0)
            == 0
}

fn same(old: &Value, after: &Value) -> bool {
    let without_times = |value: &Value| {
        let mut value = value.clone();
        for entry in super::json::list_mut(&mut value, &["metadata", "managedFields"]) {
            remove(entry, &["time"]);
        }
        value
    };
    without_times(old) == without_times(after)
}

fn same_but_for_ownership(old: &Value, after: &Value) -> bool {
    let without = |value: &Value| {
        let mut value = value.clone();
        remove(&mut value, &["metadata", "managedFields"]);
        value
    };
    without(old) == without(after)
}
