//! Integration tests of the crate.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod pod_parts;
#[cfg(test)]
mod pod_properties;
#[cfg(test)]
mod pods;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod status_properties;
#[cfg(test)]
mod support;
