//! The `tekton-controller` program: client, configuration, controllers, a graceful end.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use kube::Client;

use crate::config_watch;
use crate::effects::Executor;
use crate::effects::controllers::{self, Settings as ControllerSettings};
use crate::effects::registry::RegistryImages;
use crate::settings::Settings;

/// Runs the program until SIGTERM or Ctrl-C.
pub fn main(settings: Settings) -> ExitCode {
    // Where the process has a provider already, it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    tracing_subscriber::fmt()
        .json()
        .with_env_filter(filter())
        .with_writer(std::io::stderr)
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime
        .context("the runtime did not start")
        .and_then(|runtime| runtime.block_on(serve(settings)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn filter() -> tracing_subscriber::EnvFilter {
    tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into())
}

async fn serve(settings: Settings) -> anyhow::Result<()> {
    let client = Client::try_default()
        .await
        .context("no cluster: neither a kubeconfig nor a service account")?;
    let (sender, config) = config_watch::channel();
    config_watch::follow(client.clone(), &settings.system_namespace, sender)
        .await
        .context("the ConfigMaps could not be read")?;
    let executor = Executor::new(client.clone(), Arc::new(RegistryImages::new(client.clone())));
    let controllers = ControllerSettings {
        images: settings.images(),
        config,
        namespace: settings.namespace.clone(),
        concurrency: settings.threads_per_controller.max(1).saturating_mul(16),
    };
    controllers::run(executor, controllers, crate::shutdown::requested()).await;
    Ok(())
}
