//! The PipelineRun reconciler: from a PipelineRun and what the cluster answers to the run's next status.
//!
//! [`reconcile`] is the whole pass; its order is in `reconcile.rs`. What it decides follows from the state of
//! the cluster alone: started over at any point it comes to the same result. Upstream counterpart:
//! `pkg/reconciler/pipelinerun`.

mod affinity;
mod artifacts;
mod cancel;
mod checks;
mod child;
mod children;
mod conclude;
mod contexts;
mod create;
mod draft;
mod facts;
mod pipeline_results;
mod reconcile;
mod resolve;
mod results;
mod skip;
mod state;
mod timeouts;
mod workspaces;

pub use self::reconcile::reconcile;
