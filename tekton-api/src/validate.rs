//! Checks an object against Tekton's rules and reports every violation.
//!
//! There is one set of rules; where v1beta1 differs from v1, [`Dialect`] says so. Objects of v1beta1
//! are looked at as those of v1, and what only v1beta1 has is checked on the side.
//! Upstream counterpart: the `*_validation.go` files of `pkg/apis`.

mod custom_run;
mod go_regex;
mod graph;
mod matrix;
mod merge;
mod names;
mod params;
mod pipeline;
mod pipeline_results;
mod pipeline_run;
mod pipeline_task;
mod pipeline_variables;
mod propagated;
mod refs;
mod resolution_request;
mod results;
mod spec_updates;
mod step;
mod step_action;
mod step_variables;
mod task;
mod task_run;
mod timeouts;
mod v1beta1;
mod variables;
mod verification_policy;
mod when;
mod workspaces;

pub use step_variables::declared_params;
pub use workspaces::binding as workspace_binding;

use crate::config::{ApiFields, Config};
use crate::defaults::Operation;
use crate::field_errors::FieldErrors;
use crate::quote::quote;

/// Which version's rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Those of v1.
    V1,
    /// Those of v1beta1.
    V1Beta1,
}

/// What the rules depend on besides the object.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Configuration.
    pub config: &'a Config,
    /// What is being done with the object.
    pub operation: Operation,
    /// Which version's rules apply.
    pub dialect: Dialect,
}

impl<'a> Context<'a> {
    /// Rules of v1 for an object that is neither created nor updated, as when it was fetched.
    pub fn new(config: &'a Config) -> Self {
        Self {
            config,
            operation: Operation::Other,
            dialect: Dialect::V1,
        }
    }

    fn is_v1(&self) -> bool {
        self.dialect == Dialect::V1
    }

    /// An error unless fields of this stability may be used.
    fn requires(&self, feature: &str, stability: ApiFields) -> FieldErrors {
        let current = self.config.features.enable_api_fields;
        if current >= stability {
            return FieldErrors::none();
        }
        let wanted = match stability {
            ApiFields::Alpha => quote("alpha"),
            _ => format!("{} or {}", quote("alpha"), quote("beta")),
        };
        FieldErrors::new(
            format!(
                "{feature} requires \"enable-api-fields\" feature gate to be {wanted} but it is {}",
                quote(current.as_str())
            ),
            &[],
        )
    }
}

/// Objects and specs that have rules.
pub trait Validate: Sized {
    /// The violations of the rules. `old` is the state before an update.
    fn validate(&self, context: &Context<'_>, old: Option<&Self>) -> FieldErrors;
}

/// The text, empty if there is none.
fn text(text: Option<&String>) -> &str {
    text.map_or("", String::as_str)
}
