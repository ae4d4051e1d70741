#![doc = include_str!("../README.md")]

pub mod contract;

#[cfg(feature = "test-util")]
pub mod testing;
