//! Steps without a command run what their image says; that was looked up beforehand.
//!
//! Input: steps and the look-ups; output: steps pinned to a digest, with the commands of each platform in
//! a variable that the entrypoint reads.
//! Upstream counterpart: `pkg/pod/entrypoint_lookup.go`.

use k8s_openapi::api::core::v1::EnvVar;

use super::image_reference;
use crate::contract::json;
use crate::draft::StepDraft;
use crate::error::BuildError;
use crate::input::{ImageCommands, Lookups};

/// Tells the entrypoint the commands of the image, platform by platform.
const PLATFORM_COMMANDS: &str = "TEKTON_PLATFORM_COMMANDS";

/// Pins the images of the steps that have no command.
pub(crate) fn resolve(steps: &mut [StepDraft<'_>], lookups: &Lookups) -> Result<(), BuildError> {
    for step in steps.iter_mut().filter(|step| !step.has_command()) {
        let container = &mut step.container;
        let image = container.image.clone().unwrap_or_default();
        let repository = image_reference::repository(&image)
            .ok_or_else(|| BuildError::ImageReference { image: image.clone() })?;
        let found: &ImageCommands = match lookups.images.get(&image) {
            Some(Ok(found)) => found,
            Some(Err(failure)) => return Err(BuildError::Lookup(failure.clone())),
            None => {
                return Err(BuildError::NotLookedUp {
                    what: format!("image {image}"),
                });
            }
        };
        let commands = json::to_string(&found.commands).map_err(|error| BuildError::Encoding {
            message: error.to_string(),
        })?;
        container.image = Some(format!("{repository}@{}", found.digest));
        container.env.get_or_insert_default().push(EnvVar {
            name: PLATFORM_COMMANDS.to_owned(),
            value: Some(commands),
            ..EnvVar::default()
        });
    }
    Ok(())
}
