//! The controllers that a plain cluster has, each a task that the owner of the cluster spawns.
//!
//! Without them (api-only) nothing empties a deleted namespace, nothing follows owner references.
