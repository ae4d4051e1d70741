//! User and password for git servers: `.gitconfig` and `.git-credentials`.
//!
//! Upstream counterpart: `pkg/credentials/gitcreds/basic.go`.

use std::path::Path;

use tekton_pod::contract::json;

use super::secret;
use super::url::Url;

/// A login for one address.
pub(super) struct Login {
    address: String,
    url: Url,
    user: Vec<u8>,
    password: Vec<u8>,
}

impl Login {
    pub(super) fn load(secret: &Path, address: &str) -> Result<Self, String> {
        let (user, password) = secret::login(secret)?;
        Ok(Self {
            url: Url::parse(address)?,
            address: address.to_owned(),
            user,
            password,
        })
    }

    fn config(&self) -> String {
        let user = json::text(self.user.clone()).replace('\\', "\\\\");
        let by_path = if self.url.has_path() {
            "\tuseHttpPath = true\n"
        } else {
            ""
        };
        format!("[credential {:?}]\n\tusername = {user}\n{by_path}", self.address)
    }
}

/// Writes both files; none if there is no login. Logins for whole servers come first in the one with passwords,
/// where they serve what no longer address matches.
pub(super) fn write(logins: &[Login], directory: &Path) -> Result<(), String> {
    if logins.is_empty() {
        return Ok(());
    }
    let config: String = logins.iter().map(Login::config).collect();
    secret::write(
        &directory.join(".gitconfig"),
        format!("[credential]\n\thelper = store\n{config}").as_bytes(),
    )?;
    let mut ordered: Vec<&Login> = logins.iter().collect();
    ordered.sort_by_key(|login| login.url.has_path());
    let lines: String = ordered
        .iter()
        .map(|login| login.url.with_login(&login.user, &login.password) + "\n")
        .collect();
    secret::write(&directory.join(".git-credentials"), lines.as_bytes())
}
