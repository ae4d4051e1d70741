//! Golden cases of this crate, checked one at a time.

pub mod termination;
