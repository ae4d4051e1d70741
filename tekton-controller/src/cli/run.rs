//! `tekton run`: applies files here, follows the runs to their end, and leaves nothing behind.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::apply::{Started, apply};
use super::boot::{Machine, MachineOptions};
use super::report::{Event, Report};
use super::{CliError, Outcome, RunArgs, documents, follow, preflight};

/// How long cancelled runs may take to stop before everything is stopped anyway.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the command.
pub(super) async fn run(args: RunArgs) -> Result<Outcome, CliError> {
    let mut found = documents::read(&args.files)?;
    documents::prepare(&mut found, &args)?;
    preflight::check(&found, &args.namespace)?;
    let report = Arc::new(Report::new(args.output, args.quiet));
    let settings = super::settings_of(&args.settings)?;
    let options = MachineOptions {
        isolation: args.isolation,
        listen: None,
        api_only: false,
        settings,
    };
    let machine = Machine::start(options).await?;
    report.event(&Event::Ready {
        isolation: machine.isolation(),
    });
    let client = machine.client().clone();
    let outcome = tokio::select! {
        outcome = drive(&client, &found, &args.namespace, &report) => outcome,
        () = super::boot::interrupted() => Ok(None),
    };
    let outcome = match outcome {
        Ok(Some(outcome)) => Ok(outcome),
        Ok(None) => {
            report.finish();
            report.aside("interrupted: cancelling the runs; press Ctrl-C again to stop at once");
            tokio::select! {
                _ = tokio::time::timeout(GRACE, cancel_all(&client)) => {}
                () = super::boot::interrupted() => {}
            }
            Ok(Outcome::Interrupted)
        }
        Err(error) => Err(error),
    };
    report.finish();
    machine.stop().await;
    outcome
}

async fn drive(
    client: &Client,
    found: &[documents::Document],
    namespace: &str,
    report: &Arc<Report>,
) -> Result<Option<Outcome>, CliError> {
    let started = apply(client, found, namespace).await?;
    for Started {
        kind,
        namespace,
        name,
    } in &started
    {
        report.event(&Event::Started {
            kind,
            namespace,
            name,
        });
    }
    let summaries = follow::to_the_end(client, &started, report).await;
    let outcomes: Vec<Outcome> = summaries
        .iter()
        .map(super::summary::RunSummary::outcome)
        .collect();
    let worst = [Outcome::Failed, Outcome::TimedOut]
        .into_iter()
        .find(|outcome| outcomes.contains(outcome));
    Ok(Some(worst.unwrap_or(Outcome::Succeeded)))
}

/// Cancels every run that is under way and waits until all have ended.
async fn cancel_all(client: &Client) {
    let mut running = Vec::new();
    for (kind, status) in [("PipelineRun", "Cancelled"), ("TaskRun", "TaskRunCancelled")] {
        let everywhere = Started {
            kind: kind.to_owned(),
            namespace: String::new(),
            name: String::new(),
        };
        let Ok(list) = follow::all_runs(client, &everywhere).await else {
            continue;
        };
        for (run, owned) in list {
            // Children are cancelled by their parents.
            if !owned {
                let patch = json!({"spec": {"status": status}});
                let api = follow::run_api(client, &run);
                let _ = api
                    .patch(&run.name, &PatchParams::default(), &Patch::Merge(&patch))
                    .await;
            }
            running.push(run);
        }
    }
    futures::future::join_all(running.iter().map(|run| follow::ended(client, run))).await;
}
