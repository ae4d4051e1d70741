//! `tekton crds`: the CustomResourceDefinitions as YAML documents.

use anyhow::Context;

use super::{CliError, Outcome, report};

/// Prints all definitions.
pub(super) fn print() -> Result<Outcome, CliError> {
    for crd in tekton_api::crd::all() {
        let text = serde_saphyr::to_string(&crd).context("a definition could not be written as YAML")?;
        report::print(&format!("---\n{}", text.trim_end()));
    }
    Ok(Outcome::Succeeded)
}
