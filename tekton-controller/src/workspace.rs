//! Claims and placement of the volumes behind workspaces.

pub(crate) mod pvc;
