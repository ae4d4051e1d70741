#![doc = include_str!("../README.md")]

pub mod contract;
#[cfg(feature = "builder")]
pub mod patch;
#[cfg(feature = "builder")]
pub mod status;
#[cfg(feature = "test-util")]
pub mod testing;
