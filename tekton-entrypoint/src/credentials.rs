//! Credentials for git servers and registries: made of secrets, left in one place, copied to the home directory.
//!
//! Secrets are read while the flags are, since a missing one is a mistake in the flags; what cannot be written
//! is only logged. Upstream counterparts: `pkg/credentials/{gitcreds,dockercreds,writer}`.

mod basic;
mod docker;
mod home;
mod secret;
mod ssh;
mod url;

use std::path::Path;

use tekton_pod::contract::args::CredentialFlag;
use tekton_pod::contract::flags::FlagError;

use crate::log::log;
use crate::places::Places;

pub(crate) use home::copy_to_home;

/// What the secrets say.
#[derive(Default)]
pub(crate) struct Credentials {
    docker: docker::Docker,
    git: Vec<basic::Login>,
    ssh: Vec<ssh::Host>,
}

impl Credentials {
    /// Reads the secrets.
    pub(crate) fn load(flags: &[CredentialFlag], places: &Places) -> Result<Self, FlagError> {
        let mut credentials = Self::default();
        for flag in flags {
            credentials.add(flag, places).map_err(|cause| {
                let arg = flag.to_arg();
                let (name, value) = arg.split_once('=').unwrap_or((&arg, ""));
                FlagError::Invalid {
                    name: name.trim_start_matches('-').to_owned(),
                    value: value.to_owned(),
                    cause,
                }
            })?;
        }
        Ok(credentials)
    }

    fn add(&mut self, flag: &CredentialFlag, places: &Places) -> Result<(), String> {
        match flag {
            CredentialFlag::BasicDocker { secret, url } => {
                self.docker.add_login(&places.credential_secret(secret), url)?;
            }
            CredentialFlag::DockerConfig(secret) => {
                self.docker.configs.push(places.credential_secret(secret));
            }
            CredentialFlag::DockerCfg(secret) => {
                self.docker.old_configs.push(places.credential_secret(secret));
            }
            CredentialFlag::BasicGit { secret, url } => {
                self.git
                    .push(basic::Login::load(&places.credential_secret(secret), url)?);
            }
            CredentialFlag::SshGit { secret, url } => {
                ssh::add(&mut self.ssh, secret, &places.credential_secret(secret), url)?;
            }
        }
        Ok(())
    }

    /// Writes the files that git, ssh and registry clients look for.
    pub(crate) fn write(&self, directory: &Path) {
        let outcomes = [
            self.docker.write(directory),
            basic::write(&self.git, directory).and_then(|()| ssh::write(&self.ssh, directory)),
        ];
        for error in outcomes.into_iter().filter_map(Result::err) {
            log!("Error initializing credentials: {error}");
        }
    }
}
