//! Why a request could not be answered, in upstream's words.

/// A failed validation or resolution. Its text is what users read in the condition of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ResolveError {
    message: String,
    retry: bool,
}

/// Texts of failures that pass by themselves, whoever reports them.
const PASSING: &[&str] = &["etcdserver: leader changed", "context deadline exceeded"];

impl ResolveError {
    /// A failure that will not go away by itself.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            retry: false,
        }
    }

    /// A failure that is worth another try, such as a conflict or an overloaded server.
    pub fn passing(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            retry: true,
        }
    }

    /// The same failure with a text in front.
    #[must_use]
    pub fn within(self, context: &str) -> Self {
        Self {
            message: format!("{context}: {}", self.message),
            retry: self.retry,
        }
    }

    /// Whether the request is left open for another try instead of being failed.
    pub fn is_transient(&self) -> bool {
        self.retry || PASSING.iter().any(|text| self.message.contains(text))
    }
}
