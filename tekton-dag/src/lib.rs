#![doc = include_str!("../README.md")]

mod candidates;
mod error;
mod graph;
mod schedule;
mod verdict;

pub use candidates::Frontier;
pub use error::GraphError;
pub use graph::Graph;
pub use schedule::{Decision, Dependency, Mode, NodeState, SkipCause, decide, finally_may_start};
pub use verdict::{Counts, Verdict, verdict};
