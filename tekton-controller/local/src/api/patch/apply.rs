//! Server-side apply.
use std::sync::Arc;
use super::super::error::ApiError;
use super::super::kinds::Resource;
use super::super::options::WriteOptions;
use super::super::request::{Call, Target};
use super::super::write::Part;
use super::super::{Api, Reply};

pub(super) fn patch(_api: &Api, _resource: &Arc<Resource>, _target: &Target, _call: &Call, _part: Part, _options: &WriteOptions) -> Result<Reply, ApiError> {
    Err(ApiError::unsupported_patch())
}
