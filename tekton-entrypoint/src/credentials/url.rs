//! Addresses of git servers: whether they have a path, and how a login is put into them.
//!
//! As much of URLs as Go's `net/url` makes of such addresses; what it prints otherwise is printed so here.

use std::fmt::Write as _;

/// An address, taken apart.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Url {
    scheme: String,
    host: String,
    path: String,
    rest: String,
}

impl Url {
    /// Takes an address apart. Refused if it has control characters or a broken scheme.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let refused = |words: &str| Err(format!("parse {text:?}: {words}"));
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return refused("net/url: invalid control character in URL");
        }
        let (scheme, after) = match split_scheme(text) {
            Err(words) => return refused(words),
            Ok(split) => split,
        };
        let (before, rest) = after.split_at(after.find(['?', '#']).unwrap_or(after.len()));
        let (host, path) = match before.strip_prefix("//") {
            Some(authority) => {
                let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
                let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
                (host, path)
            }
            None => ("", before),
        };
        if scheme.is_empty()
            && host.is_empty()
            && path.split('/').next().is_some_and(|first| first.contains(':'))
        {
            return refused("first path segment in URL cannot contain colon");
        }
        Ok(Self {
            scheme,
            host: host.to_owned(),
            path: path.to_owned(),
            rest: rest.to_owned(),
        })
    }

    /// True if the address is that of something on the server.
    pub(super) fn has_path(&self) -> bool {
        !matches!(self.path.as_str(), "" | "/")
    }

    /// The address with a login in it.
    pub(super) fn with_login(&self, user: &[u8], password: &[u8]) -> String {
        let scheme = if self.scheme.is_empty() {
            String::new()
        } else {
            format!("{}:", self.scheme)
        };
        let slash = if self.path.is_empty() || self.path.starts_with('/') {
            ""
        } else {
            "/"
        };
        let (user, password) = (escape(user), escape(password));
        format!(
            "{scheme}//{user}:{password}@{}{slash}{}{}",
            self.host, self.path, self.rest
        )
    }
}

fn split_scheme(text: &str) -> Result<(String, &str), &'static str> {
    for (index, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' if index == 0 => return Err("missing protocol scheme"),
            ':' => {
                let (scheme, rest) = text.split_at(index);
                return Ok((scheme.to_ascii_lowercase(), rest.get(1..).unwrap_or_default()));
            }
            _ => break,
        }
    }
    Ok((String::new(), text))
}

/// Escapes what may not stand in a login.
fn escape(text: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b'$'
            | b'&'
            | b'+'
            | b','
            | b';'
            | b'=' => {
                escaped.push(char::from(*byte));
            }
            other => {
                let _ = write!(escaped, "%{other:02X}");
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::Config;

    use super::*;

    /// `TEKTON_PROPTEST_CASES` sets the number of inputs.
    fn config() -> Config {
        let cases = std::env::var("TEKTON_PROPTEST_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok())
            .unwrap_or(512);
        Config {
            cases,
            failure_persistence: None,
            ..Config::default()
        }
    }

    fn unescape(text: &str) -> Vec<u8> {
        let mut parts = text.split('%');
        let mut bytes = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend_from_slice(&part.as_bytes()[2..]);
        }
        bytes
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn logins_can_be_read_back(
            host in "[a-z]{1,9}(:[0-9]{1,4})?",
            path in "(/[a-z]{0,5}){0,3}",
            user in prop::collection::vec(any::<u8>(), 0..20),
            password in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let with_login = Url::parse(&format!("https://{host}{path}")).unwrap().with_login(&user, &password);
            let (login, rest) = with_login.strip_prefix("https://").unwrap().split_once('@').unwrap();
            prop_assert_eq!(rest, format!("{host}{path}"));
            let (found_user, found_password) = login.split_once(':').unwrap();
            prop_assert_eq!(unescape(found_user), user);
            prop_assert_eq!(unescape(found_password), password);
        }

        #[test]
        fn any_address_is_parsed_or_refused(text in ".*", login in ".{0,9}") {
            if let Ok(url) = Url::parse(&text) {
                let with_login = url.with_login(login.as_bytes(), login.as_bytes());
                prop_assert!(!with_login.contains('\n'));
            }
        }
    }

    #[test]
    fn logins_go_in_front_of_the_host() {
        for (url, with_login, has_path) in [
            ("https://g.test", "https://a%40b:c%2Fd@g.test", false),
            ("https://g.test/", "https://a%40b:c%2Fd@g.test/", false),
            (
                "https://old@g.test:8443/team/app?x=1",
                "https://a%40b:c%2Fd@g.test:8443/team/app?x=1",
                true,
            ),
            ("HTTP://G.test/x", "http://a%40b:c%2Fd@G.test/x", true),
            ("g.test", "//a%40b:c%2Fd@/g.test", true),
        ] {
            let parsed = Url::parse(url).unwrap();
            assert_eq!(
                (parsed.with_login(b"a@b", b"c/d").as_str(), parsed.has_path()),
                (with_login, has_path),
                "{url}"
            );
        }
        for url in ["https://a\nb", ":x", "g.test:8443/x:y"] {
            let _ = Url::parse(url);
        }
        assert!(Url::parse("a\nb").is_err());
        assert!(Url::parse("1g:80").is_err());
    }
}
