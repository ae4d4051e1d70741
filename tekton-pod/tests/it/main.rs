//! Integration tests of the crate.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
