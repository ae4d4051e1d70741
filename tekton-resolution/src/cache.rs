//! Keeps what was resolved: when ([`policy`]), for how long ([`store`]), and how it is marked ([`annotate`]).

pub mod annotate;
pub mod policy;
pub mod store;
