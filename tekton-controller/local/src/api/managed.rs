//! Who owns which fields.
use serde_json::Value;
use super::error::ApiError;
use super::kinds::Resource;
use super::options::WriteOptions;

/// How a write came about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// A create, PUT or patch.
    Update,
    /// Server-side apply of this configuration.
    Apply(&'a Value),
}
impl Source<'_> {
    pub(crate) fn changes_ownership(self, _old: &Value) -> bool { matches!(self, Self::Apply(_)) }
}
pub(crate) fn record(_r: &Resource, _old: Option<&Value>, _after: &mut Value, _o: &WriteOptions, _sub: &str, _s: Source<'_>) -> Result<(), ApiError> { Ok(()) }
