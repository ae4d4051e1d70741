//! The effects that resolvers are handed: reading objects of the cluster and fetching over HTTP.

pub mod client;

use async_trait::async_trait;
use serde_json::Value;

/// Reads objects of the cluster.
#[async_trait]
pub trait ObjectReader: Send + Sync {
    /// The object, `None` if it does not exist, or the text of the failure.
    async fn object(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, String>;
}
