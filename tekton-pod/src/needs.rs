//! What a caller has to look up before a pod can be built.
//!
//! The order matters for which failure a user sees: first the service account, then its secrets, then the
//! images. If one cannot be found, the later ones need not be asked for: [`crate::build_pod`] reports the
//! first failure.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::ServiceAccount;
use tekton_api::config::Config;
use tekton_api::v1::{TaskRun, TaskSpec};

use crate::input::Lookups;
use crate::stages::{credentials, image_reference, step_template};

/// Service account of runs that name none.
const DEFAULT_ACCOUNT: &str = "default";

/// Things to be looked up, besides the LimitRanges of the namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Service account whose secrets are to be read ([`secrets`]); `None` where credentials are off.
    pub service_account: Option<String>,
    /// Images whose command is needed, each once.
    pub images: Vec<ImageNeed>,
    /// Whether the version of the API server matters.
    pub server_version: bool,
}

/// An image whose command is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageNeed {
    /// Reference as the step has it; the key in [`Lookups::images`].
    pub image: String,
    /// The first step with this image has arguments, which take the place of the image's own.
    pub has_args: bool,
}

/// What the pod of this run needs.
pub fn needs(run: &TaskRun, spec: &TaskSpec, config: &Config) -> Needs {
    let features = &config.features;
    let account = Some(run.spec.service_account_name.as_str()).filter(|name| !name.is_empty());
    Needs {
        service_account: (!features.disable_creds_init)
            .then(|| account.unwrap_or(DEFAULT_ACCOUNT).to_owned()),
        images: images(spec),
        server_version: features.enable_kubernetes_sidecar,
    }
}

/// Names of the secrets that a service account lists, each once, in the order to be looked up.
pub fn secrets(account: &ServiceAccount) -> Vec<&str> {
    credentials::secret_names(account)
}

/// Names of listed secrets that do not exist. The pod is built without them; upstream warns in an event.
pub fn missing_secrets(lookups: &Lookups) -> Vec<String> {
    credentials::missing(lookups)
}

fn images(spec: &TaskSpec) -> Vec<ImageNeed> {
    let mut seen = BTreeSet::new();
    step_template::steps(&spec.steps, spec.step_template.as_ref())
        .into_iter()
        .filter(|step| step.script().is_empty() && !step.has_command())
        .filter_map(|step| {
            let image = step.container.image.unwrap_or_default();
            let known = image_reference::repository(&image).is_some() && seen.insert(image.clone());
            let has_args = step.container.args.is_some_and(|args| !args.is_empty());
            known.then_some(ImageNeed { image, has_args })
        })
        .collect()
}
