//! The `tekton` command: runs pipelines on this machine, or keeps a small cluster up for `kubectl`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod apply;
mod boot;
mod crds;
mod documents;
mod follow;
mod preflight;
mod report;
mod run;
mod summary;
mod up;

/// Runs Tekton pipelines on one machine, without a cluster.
#[derive(Debug, Parser)]
#[command(name = "tekton", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Applies files, runs the TaskRuns and PipelineRuns in them here, and waits for their end
    Run(RunArgs),
    /// Keeps the API, the controllers and the pod runner up, for kubectl and tkn
    Up(UpArgs),
    /// Creates or changes the objects of files in the cluster of the kubeconfig, or of the pod it runs in
    Apply(ApplyArgs),
    /// Prints the CustomResourceDefinitions as YAML
    Crds,
}

/// How the containers of a pod are kept apart from the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IsolationChoice {
    /// The best one that this machine allows
    Auto,
    /// A private mount namespace with an overlay; needs root
    Namespaces,
    /// The same inside a user namespace; needs no root
    #[value(alias = "userns")]
    UserNamespaces,
    /// Private folders, and paths mapped in commands, environment and scripts
    None,
}

/// Form of the output of `tekton run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Lines for people
    Text,
    /// One JSON event a line
    Json,
}

/// Arguments of `tekton run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Files with Tekton and Kubernetes objects, several documents each; `-` reads standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Sets a param of every run: NAME=VALUE; a value in JSON brackets is an array or object
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Binds a workspace of every run to a folder of this machine: NAME=DIR
    #[arg(short, long = "workspace", value_name = "NAME=DIR")]
    pub workspaces: Vec<String>,
    /// Starts the Task or Pipeline of this name; for files without a run
    #[arg(long, value_name = "NAME")]
    pub start: Option<String>,
    /// Ends every run after this time: 90s, 5m, 1h30m
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,
    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Text)]
    pub output: OutputFormat,
    /// Namespace of objects that name none
    #[arg(short, long, default_value = "default")]
    pub namespace: String,
    /// How containers are kept apart from this machine
    #[arg(long, value_enum, default_value_t = IsolationChoice::Auto)]
    pub isolation: IsolationChoice,
    /// Shows no logs of steps
    #[arg(short, long)]
    pub quiet: bool,
    /// Sets an entry of a Tekton ConfigMap: MAP.KEY=VALUE, such as feature-flags.enable-api-fields=alpha
    #[arg(long = "set", value_name = "MAP.KEY=VALUE")]
    pub settings: Vec<String>,
}

/// Arguments of `tekton up`.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// Address of the API; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR:PORT")]
    pub listen: std::net::SocketAddr,
    /// Where to write the kubeconfig
    #[arg(long, default_value = "tekton.kubeconfig", value_name = "FILE")]
    pub kubeconfig: PathBuf,
    /// Starts the API alone, without controllers, admission, pod runner and garbage collector
    #[arg(long)]
    pub api_only: bool,
    /// How containers are kept apart from this machine
    #[arg(long, value_enum, default_value_t = IsolationChoice::Auto)]
    pub isolation: IsolationChoice,
    /// Sets an entry of a Tekton ConfigMap: MAP.KEY=VALUE
    #[arg(long = "set", value_name = "MAP.KEY=VALUE")]
    pub settings: Vec<String>,
}

/// Arguments of `tekton apply`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Files with objects, several documents each; `-` reads standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Namespace of objects that name none; without it the one of the kubeconfig or of the pod
    #[arg(short, long)]
    pub namespace: Option<String>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every run succeeded.
    Succeeded,
    /// A run failed or was cancelled.
    Failed,
    /// The input was refused.
    BadInput,
    /// A run took longer than it may.
    TimedOut,
    /// Stopped by Ctrl-C or SIGTERM.
    Interrupted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Succeeded => 0,
            Outcome::Failed => 1,
            Outcome::BadInput => 2,
            Outcome::TimedOut => 3,
            Outcome::Interrupted => 130,
        })
    }
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The input is wrong; the text names file, object and field.
    #[error("{0}")]
    BadInput(String),
    /// Something here went wrong.
    #[error("{0:#}")]
    Internal(#[from] anyhow::Error),
}

/// Runs a command to its end.
pub fn main(cli: Cli) -> ExitCode {
    // Where the process has a provider already, it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let filter = tracing_subscriber::EnvFilter::try_from_env("TEKTON_LOG").unwrap_or_else(|_| "error".into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&CliError::Internal(error.into())),
    };
    let outcome = runtime.block_on(async {
        match cli.command {
            Command::Run(args) => run::run(args).await,
            Command::Up(args) => up::up(args).await,
            Command::Apply(args) => apply::command(args).await,
            Command::Crds => crds::print(),
        }
    });
    // Blocking reads of logs may still be under way; nothing of them is wanted any more.
    runtime.shutdown_background();
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(error) => fail(&error),
    }
}

/// Entries of ConfigMaps from the command line.
fn settings_of(texts: &[String]) -> Result<Vec<(String, String, String)>, CliError> {
    let entry = |text: &String| {
        let (path, value) = text.split_once('=')?;
        let (map, key) = path.split_once('.')?;
        Some((map.to_owned(), key.to_owned(), value.to_owned()))
    };
    let parsed =
        |text| entry(text).ok_or_else(|| CliError::BadInput(format!("--set {text}: expected MAP.KEY=VALUE")));
    texts.iter().map(parsed).collect()
}

fn fail(error: &CliError) -> ExitCode {
    report::complain(&format!("error: {error}"));
    match error {
        CliError::BadInput(_) => Outcome::BadInput.into(),
        CliError::Internal(_) => Outcome::Failed.into(),
    }
}
