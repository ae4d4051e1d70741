//! Looks up what an image runs when a step names no command.

use futures::future::BoxFuture;

use crate::image_config::{ImageConfig, Platform};

/// Source of image configurations: a registry, or the host in single-machine mode.
pub trait ImageLookup: Send + Sync {
    /// The configuration of `image`, read with the credentials of the named service account and secrets.
    fn look_up<'a>(
        &'a self,
        image: &'a str,
        namespace: &'a str,
        service_account: &'a str,
        pull_secrets: &'a [String],
    ) -> BoxFuture<'a, Result<ImageConfig, String>>;
}

/// The single-machine mode: every image is the host's own file system, whose default command is a shell.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostImages;

impl ImageLookup for HostImages {
    fn look_up<'a>(
        &'a self,
        image: &'a str,
        _namespace: &'a str,
        _service_account: &'a str,
        _pull_secrets: &'a [String],
    ) -> BoxFuture<'a, Result<ImageConfig, String>> {
        Box::pin(async move { Ok(host_image(image)) })
    }
}

fn host_image(image: &str) -> ImageConfig {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    // Images of interpreters run the interpreter; all others are taken for plain systems with a shell.
    let name = image.rsplit('/').next().unwrap_or_default();
    let name = name.split([':', '@']).next().unwrap_or_default();
    let cmd = match name {
        "bash" | "python" | "python3" | "node" => name,
        _ => "sh",
    };
    ImageConfig {
        digest: String::new(),
        platforms: vec![Platform {
            os: "linux".to_owned(),
            architecture: architecture.to_owned(),
            variant: String::new(),
            entrypoint: Vec::new(),
            cmd: vec![cmd.to_owned()],
        }],
    }
}
