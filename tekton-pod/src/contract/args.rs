//! The command line of the entrypoint, typed, in both directions.
//!
//! Written in the order in which the builder of upstream puts the flags, since pods are compared as a whole.
//! Upstream counterparts: `orderContainers` in `pkg/pod/entrypoint.go`, `cmd/entrypoint/{main,args}.go`.

use super::duration::GoDuration;
use super::flags::{self, Flag, FlagError, FlagKind};
use super::paths;

/// The one way of extraction for which the entrypoint itself reports results.
pub const TERMINATION_MESSAGE: &str = "termination-message";

/// What the entrypoint is told to do for a step.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EntrypointArgs {
    /// Files to wait for before the command starts (`-wait_file`).
    pub wait_files: Vec<String>,
    /// The files must have content (`-wait_file_content`).
    pub wait_file_content: bool,
    /// File to leave when the step is through (`-post_file`).
    pub post_file: String,
    /// Where the termination message goes (`-termination_path`), if not to the usual place.
    pub termination_path: Option<String>,
    /// Directory for results, artifacts and exit code of the step (`-step_metadata_dir`).
    pub step_metadata_dir: String,
    /// Results have to be signed (`-enable_spire`).
    pub enable_spire: bool,
    /// Socket of the SPIRE agent (`-spire_socket_path`).
    pub spire_socket_path: Option<String>,
    /// Secrets to make credentials of, in order.
    pub credentials: Vec<CredentialFlag>,
    /// Who reports the results (`-result_from`); none means the termination message.
    pub result_from: Option<String>,
    /// Compress the termination message (`-compress_termination_message`).
    pub compress_termination_message: bool,
    /// What a failure of the command means (`-on_error`).
    pub on_error: Option<String>,
    /// How long the command may run (`-timeout`).
    pub timeout: Option<GoDuration>,
    /// File that gets a copy of the command's output (`-stdout_path`).
    pub stdout_path: Option<String>,
    /// File that gets a copy of the command's error output (`-stderr_path`).
    pub stderr_path: Option<String>,
    /// Results of the step to report (`-step_results`).
    pub step_results: Option<Vec<String>>,
    /// When expressions as JSON (`--when_expressions`).
    pub when_expressions: Option<String>,
    /// Results of the Task to report (`-results`).
    pub results: Option<Vec<String>>,
    /// Hold the step when it fails (`-breakpoint_on_failure`).
    pub breakpoint_on_failure: bool,
    /// Hold the step before it starts (`-debug_before_step`).
    pub debug_before_step: bool,
    /// The program to run (`-entrypoint`); none or empty: it is chosen by platform.
    pub entrypoint: Option<String>,
    /// Arguments for the program, behind `--`.
    pub command_args: Vec<String>,
}

/// A secret of which credentials are made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CredentialFlag {
    /// User and password for a registry.
    BasicDocker {
        /// Name of the secret.
        secret: String,
        /// Address of the registry.
        url: String,
    },
    /// A secret with a `config.json` for registries.
    DockerConfig(String),
    /// A secret with a `.dockercfg` for registries.
    DockerCfg(String),
    /// User and password for a git server.
    BasicGit {
        /// Name of the secret.
        secret: String,
        /// Address of the server.
        url: String,
    },
    /// A key for a git server.
    SshGit {
        /// Name of the secret.
        secret: String,
        /// Host of the server, with optional port and path.
        url: String,
    },
}

impl CredentialFlag {
    /// The flag as one word.
    pub fn to_arg(&self) -> String {
        match self {
            Self::BasicDocker { secret, url } => format!("-basic-docker={secret}={url}"),
            Self::DockerConfig(secret) => format!("-docker-config={secret}"),
            Self::DockerCfg(secret) => format!("-docker-cfg={secret}"),
            Self::BasicGit { secret, url } => format!("-basic-git={secret}={url}"),
            Self::SshGit { secret, url } => format!("-ssh-git={secret}={url}"),
        }
    }

    fn parse(name: &str, value: &str, seen: &[Self]) -> Result<Self, String> {
        match name {
            "docker-config" => return Ok(Self::DockerConfig(value.to_owned())),
            "docker-cfg" => return Ok(Self::DockerCfg(value.to_owned())),
            _ => {}
        }
        let pair = value.split_once('=').filter(|(_, url)| !url.contains('='));
        let (secret, url) =
            pair.ok_or_else(|| format!("expect entries of the form secret=url, got: {value}"))?;
        let (secret, url) = (secret.to_owned(), url.to_owned());
        let flag = match name {
            "basic-docker" => Self::BasicDocker { secret, url },
            "basic-git" => Self::BasicGit { secret, url },
            _ => return Ok(Self::SshGit { secret, url }),
        };
        match seen.iter().find(|earlier| earlier.clashes_with(&flag)) {
            Some(Self::BasicDocker { url, .. } | Self::BasicGit { url, .. }) => {
                Err(format!("multiple entries for url: {url}"))
            }
            _ => Ok(flag),
        }
    }

    fn clashes_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::BasicDocker { url, .. }, Self::BasicDocker { url: other, .. })
            | (Self::BasicGit { url, .. }, Self::BasicGit { url: other, .. }) => url == other,
            _ => false,
        }
    }
}

/// A parsed command line.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ParsedArgs {
    /// The flags.
    pub args: EntrypointArgs,
    /// Words behind the flags and before `--`; the entrypoint looks for a subcommand there.
    pub words: Vec<String>,
}

const fn value(name: &'static str, help: &'static str) -> Flag {
    Flag {
        name,
        kind: FlagKind::Value,
        help,
    }
}

const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag {
        name,
        kind: FlagKind::Switch,
        help,
    }
}

/// All flags of the entrypoint.
pub const FLAGS: &[Flag] = &[
    value(
        "basic-docker",
        "SECRET=URL: user and password for a registry; may be repeated",
    ),
    value(
        "basic-git",
        "SECRET=URL: user and password for a git server; may be repeated",
    ),
    switch(
        "breakpoint_on_failure",
        "hold the step when it fails, until it is released",
    ),
    switch(
        "compress_termination_message",
        "deflate the termination message where that makes it shorter",
    ),
    switch(
        "debug_before_step",
        "hold the step before it starts, until it is released",
    ),
    value("docker-cfg", "SECRET with a .dockercfg; may be repeated"),
    value(
        "docker-config",
        "SECRET with a config.json for registries; may be repeated",
    ),
    switch("enable_spire", "sign the results"),
    value("entrypoint", "program to run"),
    value(
        "on_error",
        "\"continue\" or \"stopAndFail\": what a failure of the command means for the steps after it",
    ),
    value("post_file", "file to write when the step is through"),
    value(
        "result_from",
        "who reports the results; only with \"termination-message\" the entrypoint does",
    ),
    value("results", "comma-separated names of results of the Task"),
    value("spire_socket_path", "socket of the SPIRE agent"),
    value("ssh-git", "SECRET=HOST: key for a git server; may be repeated"),
    value("stderr_path", "file that gets a copy of the error output"),
    value("stdout_path", "file that gets a copy of the output"),
    value(
        "step_metadata_dir",
        "directory for results, artifacts and exit code of the step",
    ),
    value("step_results", "comma-separated names of results of the step"),
    value(
        "termination_path",
        "file for the termination message (default \"/tekton/termination\")",
    ),
    value("timeout", "how long the command may run, for example 1h30m"),
    value(
        "wait_file",
        "comma-separated files to wait for before the command starts",
    ),
    switch("wait_file_content", "the awaited files must have content"),
    value(
        "when_expressions",
        "JSON list of the conditions under which the step runs",
    ),
];

impl EntrypointArgs {
    /// Parses a command line (without the name of the program).
    pub fn parse(argv: &[String]) -> Result<ParsedArgs, FlagError> {
        // A separator in the first place is none; the flag syntax then makes plain words of what follows.
        let separator = argv
            .iter()
            .position(|word| word == "--")
            .filter(|index| *index > 0);
        let (flags, command_args) = match separator.and_then(|index| argv.split_at_checked(index)) {
            Some((flags, rest)) => (flags, rest.get(1..).unwrap_or_default()),
            None => (argv, <&[String]>::default()),
        };
        let mut args = Self {
            command_args: command_args.to_vec(),
            ..Self::default()
        };
        let words = flags::scan(flags, FLAGS, |name, value| args.set(name, value))?;
        Ok(ParsedArgs { args, words })
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let owned = || Some(value.to_owned());
        let list = || value.split(',').map(str::to_owned).collect();
        let on = flags::switch(value) == Some(true);
        match name {
            "wait_file" => self.wait_files = list(),
            "wait_file_content" => self.wait_file_content = on,
            "post_file" => value.clone_into(&mut self.post_file),
            "termination_path" => self.termination_path = owned(),
            "step_metadata_dir" => value.clone_into(&mut self.step_metadata_dir),
            "enable_spire" => self.enable_spire = on,
            "spire_socket_path" => self.spire_socket_path = owned(),
            "result_from" => self.result_from = owned(),
            "compress_termination_message" => self.compress_termination_message = on,
            "on_error" => self.on_error = owned(),
            "timeout" => self.timeout = Some(value.parse().map_err(|_| "parse error".to_owned())?),
            "stdout_path" => self.stdout_path = owned(),
            "stderr_path" => self.stderr_path = owned(),
            "step_results" => self.step_results = Some(list()),
            "when_expressions" => self.when_expressions = owned(),
            "results" => self.results = Some(list()),
            "breakpoint_on_failure" => self.breakpoint_on_failure = on,
            "debug_before_step" => self.debug_before_step = on,
            "entrypoint" => self.entrypoint = owned(),
            _ => self
                .credentials
                .push(CredentialFlag::parse(name, value, &self.credentials)?),
        }
        Ok(())
    }

    /// The command line, without the name of the program. Always ends in `--` and the command's arguments.
    pub fn to_argv(&self) -> Vec<String> {
        self.clone().into_argv()
    }

    /// The same, consuming the flags: a pod has one command line for each step.
    pub fn into_argv(self) -> Vec<String> {
        let mut argv = Vec::with_capacity(24 + self.credentials.len() + self.command_args.len());
        let waits = (!self.wait_files.is_empty()).then(|| joined(self.wait_files));
        pair(&mut argv, "-wait_file", waits);
        switched(&mut argv, "-wait_file_content", self.wait_file_content);
        pair(&mut argv, "-post_file", Some(self.post_file));
        pair(&mut argv, "-termination_path", self.termination_path);
        pair(&mut argv, "-step_metadata_dir", Some(self.step_metadata_dir));
        switched(&mut argv, "-enable_spire", self.enable_spire);
        pair(&mut argv, "-spire_socket_path", self.spire_socket_path);
        argv.extend(self.credentials.iter().map(CredentialFlag::to_arg));
        pair(&mut argv, "-result_from", self.result_from);
        switched(
            &mut argv,
            "-compress_termination_message=true",
            self.compress_termination_message,
        );
        pair(&mut argv, "-on_error", self.on_error);
        pair(
            &mut argv,
            "-timeout",
            self.timeout.map(|timeout| timeout.to_string()),
        );
        pair(&mut argv, "-stdout_path", self.stdout_path);
        pair(&mut argv, "-stderr_path", self.stderr_path);
        pair(&mut argv, "-step_results", self.step_results.map(joined));
        pair(&mut argv, "--when_expressions", self.when_expressions);
        pair(&mut argv, "-results", self.results.map(joined));
        switched(&mut argv, "-breakpoint_on_failure", self.breakpoint_on_failure);
        switched(&mut argv, "-debug_before_step", self.debug_before_step);
        pair(&mut argv, "-entrypoint", self.entrypoint);
        argv.push("--".to_owned());
        argv.extend(self.command_args);
        argv
    }

    /// Where the termination message goes.
    pub fn termination_path(&self) -> &str {
        self.termination_path.as_deref().unwrap_or(paths::TERMINATION)
    }

    /// True if the entrypoint itself reports results and artifacts.
    pub fn reports_results(&self) -> bool {
        self.result_from.as_deref().unwrap_or(TERMINATION_MESSAGE) == TERMINATION_MESSAGE
    }
}

fn joined(names: Vec<String>) -> String {
    match <[String; 1]>::try_from(names) {
        Ok([name]) => name,
        Err(names) => names.join(","),
    }
}

fn pair(argv: &mut Vec<String>, flag: &str, value: Option<String>) {
    if let Some(value) = value {
        argv.extend([flag.to_owned(), value]);
    }
}

fn switched(argv: &mut Vec<String>, flag: &str, on: bool) {
    argv.extend(on.then(|| flag.to_owned()));
}

#[cfg(test)]
mod tests;
