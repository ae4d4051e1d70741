//! Rules about parameters that need nothing but the types.

mod indices;

pub use indices::{pipeline_array_indices, task_array_indices};
