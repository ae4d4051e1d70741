//! Which fields of which type are subject to substitution.

pub mod container;
pub mod params;
pub mod pipeline_spec;
pub mod pod_template;
pub mod step_action;
pub mod task_spec;
pub mod volumes;
pub mod workspaces;

pub use container::when_expression;
