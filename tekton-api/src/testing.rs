//! Golden cases: comparing what this crate computes with what is expected.

pub mod diff;
