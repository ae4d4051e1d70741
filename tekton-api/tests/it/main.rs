//! Integration tests of the crate.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod admission;
#[cfg(feature = "test-util")]
mod conversion;
#[cfg(feature = "schema")]
mod crd;
#[cfg(feature = "test-util")]
mod golden;
mod roundtrip;
