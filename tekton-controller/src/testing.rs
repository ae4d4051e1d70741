//! Golden cases: traces of runs replayed against the pure reconcilers over [`crate::memory`].

#![allow(
    clippy::indexing_slicing,
    reason = "cases are read with the index that answers null for what is missing"
)]

mod compare;
pub mod pipelinerun;
pub mod taskrun;
