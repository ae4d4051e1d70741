#![doc = include_str!("../README.md")]

mod api;
pub mod builtin;
pub mod cluster;
pub mod node;
pub mod store;
