//! `tekton up`: keeps a small cluster up until it is told to stop, for `kubectl` and other clients.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;

use super::boot::{self, Machine, MachineOptions};
use super::{CliError, Outcome, UpArgs, report, settings_of};

/// Runs the command.
pub(super) async fn up(args: UpArgs) -> Result<Outcome, CliError> {
    let settings = settings_of(&args.settings)?;
    let options = MachineOptions {
        isolation: args.isolation,
        listen: Some(args.listen),
        api_only: args.api_only,
        settings,
    };
    let machine = Machine::start(options).await?;
    let written = write_private(&args.kubeconfig, &machine.kubeconfig().to_string())
        .with_context(|| format!("cannot write {}", args.kubeconfig.display()));
    if let Err(error) = written {
        machine.stop().await;
        return Err(error.into());
    }
    report::print(&format!("API: https://{}", machine.address()));
    report::print(&format!("isolation: {}", machine.isolation()));
    report::print(&format!(
        "kubectl --kubeconfig {} get taskruns",
        args.kubeconfig.display()
    ));
    boot::interrupted().await;
    machine.stop().await;
    let _ = std::fs::remove_file(&args.kubeconfig);
    Ok(Outcome::Succeeded)
}

/// Writes a file that only its owner can read. It appears whole or not at all.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}
