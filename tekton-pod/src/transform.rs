//! Last changes to a finished pod, in upstream's order: default resources, LimitRanges, affinity.

pub(crate) mod affinity;
pub(crate) mod default_resources;
pub(crate) mod limit_range;
