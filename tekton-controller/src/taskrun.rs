//! The TaskRun reconciler: from a TaskRun and what the cluster answers to the run's next status.
//!
//! [`reconcile`] is the whole pass. It reads top-down in `reconcile.rs`; every decision is a function of its
//! arguments. Upstream counterpart: `pkg/reconciler/taskrun`.

mod create;
mod draft;
mod lookups;
mod observe;
mod plan;
mod reconcile;
pub(crate) mod resolve;
mod step_actions;
pub(crate) mod validate;

pub use self::reconcile::reconcile;
