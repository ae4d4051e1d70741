//! In which form an answer is wanted: plain JSON, a Table, or metadata only.

use super::error::ApiError;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The objects themselves.
    Plain,
    /// `meta.k8s.io` Table.
    Table,
    /// `PartialObjectMetadata` and its list.
    Metadata,
    /// Aggregated discovery, in the version asked for.
    Discovery(&'static str),
}

/// Takes the first form of the Accept header that is on offer.
pub(crate) fn form(accept: &str) -> Result<Form, ApiError> {
    if accept.trim().is_empty() {
        return Ok(Form::Plain);
    }
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        if !matches!(
            media,
            "application/json" | "application/yaml" | "*/*" | "application/*"
        ) {
            continue;
        }
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let get = |name: &str| {
            parameters
                .iter()
                .find(|(key, _)| *key == name)
                .map_or("", |(_, value)| *value)
        };
        match (get("as"), get("g"), get("v")) {
            ("", ..) => return Ok(Form::Plain),
            ("Table", "meta.k8s.io", "v1") => return Ok(Form::Table),
            ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1") => {
                return Ok(Form::Metadata);
            }
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => return Ok(Form::Discovery("v2")),
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1") => {
                return Ok(Form::Discovery("v2beta1"));
            }
            _ => {}
        }
    }
    Err(ApiError::not_acceptable())
}

/// Whether YAML is the first form that the client names and that is on offer.
pub(crate) fn wants_yaml(accept: &str) -> bool {
    let medias = accept
        .split(',')
        .map(|range| range.split(';').next().unwrap_or_default().trim());
    let mut offered = medias.filter(|media| {
        matches!(
            *media,
            "application/json" | "application/yaml" | "*/*" | "application/*"
        )
    });
    offered.next() == Some("application/yaml")
}
