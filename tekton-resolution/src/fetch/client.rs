//! A small HTTP client: GET, with bounds on size, redirects and time.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};

/// Redirects that are followed, as Go's client does.
const REDIRECTS: usize = 10;

/// An answer within its bounds.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Body; empty unless the status is 200.
    pub body: Vec<u8>,
}

/// Why there is no answer. The text never holds credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address cannot be used.
    #[error("{0}")]
    Address(String),
    /// Nobody answered, or not in time.
    #[error("{0}")]
    Connection(String),
    /// The body broke off.
    #[error("{0}")]
    Body(String),
    /// The body is larger than allowed.
    #[error("response body exceeds maximum allowed size of {0} bytes")]
    TooLarge(u64),
}

/// Fetches over HTTP and HTTPS.
#[derive(Clone, Debug)]
pub struct HttpClient {
    client: reqwest::Client,
}

impl HttpClient {
    /// A client with its own connection pool.
    ///
    /// # Errors
    /// If the TLS backend cannot be set up.
    pub fn new() -> Result<Self, FetchError> {
        let tls = rustls::ClientConfig::builder_with_provider(std::sync::Arc::new(
            rustls::crypto::ring::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .map_err(|error| FetchError::Connection(error.to_string()))?
        .with_root_certificates(rustls::RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        })
        .with_no_client_auth();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::limited(REDIRECTS))
            .build()
            .map_err(|error| FetchError::Connection(text(&error)))?;
        Ok(Self { client })
    }

    /// Fetches `url` within `limit`, reading at most `most` bytes. `authorization` is sent as it is.
    pub async fn get(
        &self,
        url: &str,
        authorization: Option<&str>,
        limit: Option<Duration>,
        most: u64,
    ) -> Result<Answer, FetchError> {
        let mut request = self.client.get(url);
        if let Some(limit) = limit {
            request = request.timeout(limit);
        }
        if let Some(authorization) = authorization {
            let mut value = HeaderValue::from_str(authorization)
                .map_err(|_| FetchError::Address("the credentials cannot be sent in a header".to_owned()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let mut response = request.send().await.map_err(|error| {
            if error.is_builder() {
                FetchError::Address(text(&error))
            } else {
                FetchError::Connection(text(&error))
            }
        })?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        if status != 200 {
            return Ok(Answer { status, body });
        }
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| FetchError::Body(text(&error)))?
        {
            body.extend_from_slice(&chunk);
            if body.len() as u64 > most {
                return Err(FetchError::TooLarge(most));
            }
        }
        Ok(Answer { status, body })
    }
}

/// The innermost cause, without the address, which may hold a user name.
fn text(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.is_timeout() {
        "the server took too long".to_owned()
    } else {
        cause.to_string()
    }
}
