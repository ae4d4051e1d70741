//! Golden cases: traces of runs replayed against the pure reconcilers over [`crate::memory`].

mod compare;
pub mod pipelinerun;
pub mod taskrun;
