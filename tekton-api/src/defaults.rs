//! Fills in what an object leaves open, from the configuration.
//!
//! Defaults are set when an object is admitted, and again on what a resolver fetched.
//! Upstream counterpart: the `*_defaults.go` files of `pkg/apis/pipeline`.

mod params;
mod pod_template;
mod v1;
mod v1beta1;

use std::collections::BTreeMap;

use kube::core::ObjectMeta;

use crate::config::Config;
use crate::labels;

pub use params::{param_spec, step_result, task_result};
pub use pod_template::{merge_affinity_assistant_template, merge_pod_template};

/// What is being done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is new.
    Create,
    /// It replaces an older state.
    Update,
    /// It is only looked at, as when it was converted or fetched.
    Other,
}

/// Objects and specs in which something can be filled in.
pub trait Defaults {
    /// Fills in what is left open.
    fn set_defaults(&mut self, config: &Config, operation: Operation);
}

/// Drops the annotations that only Tekton Chains may set from a new run.
fn drop_reserved_annotations(metadata: &mut ObjectMeta, operation: Operation) {
    if operation != Operation::Create {
        return;
    }
    if let Some(annotations) = &mut metadata.annotations {
        annotations.retain(|key, _| !is_reserved(key));
        if annotations.is_empty() {
            metadata.annotations = None;
        }
    }
}

/// Upstream's pattern `chains.tekton.dev/`, anywhere in the key and with dots that match any character.
fn is_reserved(key: &str) -> bool {
    let wanted: Vec<char> = labels::CHAINS_PREFIX.chars().chain(['/']).collect();
    let key: Vec<char> = key.chars().collect();
    key.windows(wanted.len()).any(|window| {
        window
            .iter()
            .zip(&wanted)
            .all(|(c, wanted)| *wanted == '.' && *c != '\n' || c == wanted)
    })
}

fn set_managed_by_label(metadata: &mut ObjectMeta, config: &Config) {
    metadata
        .labels
        .get_or_insert_with(BTreeMap::new)
        .entry(labels::APP_MANAGED_BY.to_owned())
        .or_insert_with(|| config.defaults.managed_by_label_value.clone());
}

/// The text, if there is one that is not empty.
fn given(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

/// Names the default resolver in a reference that names neither an object nor a resolver.
fn set_resolver(name: Option<&String>, resolver: &mut Option<String>, config: &Config) {
    if given(name).is_none() && given(resolver.as_ref()).is_none() {
        *resolver = Some(config.defaults.resolver_type.clone()).filter(|resolver| !resolver.is_empty());
    }
}

/// The same for a reference to a Task, whose kind is filled in if no resolver is named.
fn set_task_ref(
    name: Option<&String>,
    resolver: &mut Option<String>,
    kind: &mut Option<String>,
    config: &Config,
) {
    set_resolver(name, resolver, config);
    if given(kind.as_ref()).is_none() && given(resolver.as_ref()).is_none() {
        *kind = Some("Task".to_owned());
    }
}

/// Names the default service account, if there is one.
fn set_service_account(name: &mut String, config: &Config) {
    if name.is_empty() {
        name.clone_from(&config.defaults.service_account);
    }
}

fn set_optional_service_account(name: &mut Option<String>, config: &Config) {
    if given(name.as_ref()).is_none() {
        *name = Some(config.defaults.service_account.clone()).filter(|name| !name.is_empty());
    }
}
