//! Ends of a run that the pod does not decide: cancellation, timeout, a pod that cannot start; and what is done
//! with the pod of a run that has ended.

pub(super) mod cancel;
pub(super) mod pod_failure;
pub(super) mod retry;
pub(super) mod sidecars;
pub(super) mod timeout;
