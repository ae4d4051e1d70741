//! What the builder of a pod and the programs inside its steps have agreed on. No Kubernetes types.

pub mod paths;
