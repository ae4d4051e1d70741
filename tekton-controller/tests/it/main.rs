//! Integration tests of the controller.

#![cfg(feature = "test-util")]

#[cfg(test)]
mod golden;
#[cfg(test)]
mod taskrun_properties;
#[cfg(test)]
mod taskrun_remote;
