//! Keys for git servers: `.ssh` with keys, `config` and `known_hosts`, and rewritten addresses in `.gitconfig`.
//!
//! A key for one repository gets an alias of the host, since ssh chooses keys by host alone.
//! Upstream counterpart: `pkg/credentials/gitcreds/ssh.go`.

use std::fmt::Write as _;
use std::path::Path;

use super::secret;
use crate::outcome::make_dirs;

const DEFAULT_PORT: &str = "22";

/// The keys for one address.
pub(super) struct Host {
    address: String,
    keys: Vec<Key>,
}

struct Key {
    secret: String,
    private: Vec<u8>,
    known_hosts: Vec<u8>,
}

/// Adds the key of a secret to those for its address.
pub(super) fn add(hosts: &mut Vec<Host>, name: &str, secret: &Path, address: &str) -> Result<(), String> {
    let private = secret::read(&secret.join("ssh-privatekey"))?;
    let known_hosts = secret::read(&secret.join("known_hosts")).unwrap_or_default();
    let key = Key {
        secret: name.to_owned(),
        private,
        known_hosts,
    };
    match hosts.iter_mut().find(|host| host.address == address) {
        Some(host) => host.keys.push(key),
        None => hosts.push(Host {
            address: address.to_owned(),
            keys: vec![key],
        }),
    }
    Ok(())
}

/// Writes all files; none if there is no key. Whole hosts come before single repositories.
pub(super) fn write(hosts: &[Host], directory: &Path) -> Result<(), String> {
    if hosts.is_empty() {
        return Ok(());
    }
    let ssh = directory.join(".ssh");
    make_dirs(&ssh)?;
    let mut ordered: Vec<(&Host, Address<'_>)> = hosts
        .iter()
        .map(|host| (host, Address::parse(&host.address)))
        .collect();
    ordered.sort_by_key(|(_, address)| !address.path.is_empty());
    let (mut config, mut rewrites) = (String::new(), String::new());
    let mut known_hosts: Vec<&[u8]> = Vec::new();
    for (host, address) in &ordered {
        rewrites.push_str(&address.rewrites());
        let Address { host: name, port, .. } = address;
        let _ = write!(
            config,
            "Host {}\n    HostName {name}\n    Port {port}\n",
            address.alias()
        );
        for key in &host.keys {
            let file = ssh.join(format!("id_{}", key.secret));
            secret::write(&file, &key.private)?;
            let _ = writeln!(config, "    IdentityFile {}", file.display());
            if !key.known_hosts.is_empty() {
                known_hosts.push(&key.known_hosts);
            }
        }
    }
    secret::write(&ssh.join("config"), config.as_bytes())?;
    if !known_hosts.is_empty() {
        secret::write(&ssh.join("known_hosts"), &known_hosts.join(&b"\n"[..]))?;
    }
    if rewrites.is_empty() {
        Ok(())
    } else {
        secret::append(&directory.join(".gitconfig"), rewrites.as_bytes())
    }
}

/// `HOST`, `HOST:PORT`, `HOST/REPOSITORY` or all three.
struct Address<'a> {
    host: &'a str,
    port: &'a str,
    path: &'a str,
}

impl<'a> Address<'a> {
    fn parse(text: &'a str) -> Self {
        let (server, path) = text.split_at(text.find('/').unwrap_or(text.len()));
        let (host, port) = split_port(server).unwrap_or((server, DEFAULT_PORT));
        Self { host, port, path }
    }

    fn repository(&self) -> &'a str {
        self.path.strip_prefix('/').unwrap_or(self.path)
    }

    fn alias(&self) -> String {
        if self.path.is_empty() {
            return self.host.to_owned();
        }
        format!("{}--{}", self.host, self.repository().replace('/', "--"))
    }

    /// The ending `.git` keeps a repository apart from others whose names begin the same.
    fn rewrites(&self) -> String {
        if self.path.is_empty() {
            return String::new();
        }
        let (alias, host, repository) = (self.alias(), self.host, self.repository());
        let port = if self.port == DEFAULT_PORT {
            String::new()
        } else {
            format!(":{}", self.port)
        };
        format!(
            "[url \"git@{alias}:{repository}.git\"]\n\tinsteadOf = git@{host}:{repository}.git\n\
             [url \"ssh://{alias}/{repository}.git\"]\n\tinsteadOf = ssh://{host}{port}/{repository}.git\n"
        )
    }
}

/// Host and port; nothing if there is no port, or it is not clear where it begins.
fn split_port(server: &str) -> Option<(&str, &str)> {
    let (host, port) = server.rsplit_once(':')?;
    match host.strip_prefix('[') {
        Some(bracketed) => bracketed
            .strip_suffix(']')
            .filter(|host| !host.contains(['[', ']']))
            .map(|host| (host, port)),
        None => (!host.contains([':', '[', ']']) && !port.contains(['[', ']'])).then_some((host, port)),
    }
}
