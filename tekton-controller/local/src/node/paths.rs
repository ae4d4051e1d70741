//! Replaces paths of a container by those of the host, for containers that share the host's root.
//!
//! A path is replaced where it stands alone in a text: at its start, after a blank, quote, `=`, `:` and the like, or
//! right behind a one-letter option, and followed by `/` or the end of a path. System directories are never replaced.

use std::path::{Path, PathBuf};

/// Mounting a volume over one of these would hide programs and libraries of the host; they stay what they are.
const SYSTEM: [&str; 20] = [
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/var",
];

/// Paths of a container and the places of the host that stand for them.
#[derive(Clone, Debug, Default)]
pub(super) struct PathMap {
    /// Everything lies below it, so that no directory above may be replaced.
    home: PathBuf,
    /// Longest path first.
    entries: Vec<(String, String)>,
}

impl PathMap {
    /// A map to places below `home`.
    pub(super) fn below(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            entries: Vec::new(),
        }
    }

    /// Adds a pair; refuses a system directory and one in which the places themselves are. The first place given for a path stays.
    pub(super) fn add(&mut self, path: &Path, place: &Path) -> bool {
        let text = path.to_string_lossy();
        let text = if text.len() > 1 {
            text.trim_end_matches('/')
        } else {
            &text
        };
        if !text.starts_with('/') || SYSTEM.contains(&text) || self.home.starts_with(text) {
            return false;
        }
        if !self.entries.iter().any(|(known, _)| known == text) {
            self.entries
                .push((text.to_owned(), place.to_string_lossy().into_owned()));
            self.entries
                .sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        }
        true
    }

    /// The place that stands for a path.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        let found = self
            .entries
            .iter()
            .find_map(|(known, place)| Some((path.strip_prefix(known).ok()?, place)));
        match found {
            Some((rest, place)) if rest.as_os_str().is_empty() => PathBuf::from(place),
            Some((rest, place)) => Path::new(place).join(rest),
            None => path.to_owned(),
        }
    }

    /// A text with each of its paths replaced.
    pub(super) fn text(&self, text: &str) -> String {
        let mut done = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(slash) = rest.find('/') {
            let (before, from) = rest.split_at(slash);
            done.push_str(before);
            let hit = self.entries.iter().find(|(path, _)| {
                from.strip_prefix(path.as_str())
                    .is_some_and(|after| !after.starts_with(continues_name))
            });
            rest = match hit {
                Some((path, place)) if starts_path(&done) => {
                    done.push_str(place);
                    from.get(path.len()..).unwrap_or_default()
                }
                _ => {
                    done.push('/');
                    from.get(1..).unwrap_or_default()
                }
            };
        }
        done.push_str(rest);
        done
    }

    /// The same for bytes that may be no text; nothing if there is nothing to replace.
    pub(super) fn bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(bytes).ok()?;
        let replaced = self.text(text);
        (replaced != text).then(|| replaced.into_bytes())
    }
}

/// Whether a character behind a path makes it a different, longer name.
fn continues_name(next: char) -> bool {
    next.is_alphanumeric() || matches!(next, '_' | '-' | '.' | '+' | '~' | '%' | '@')
}

/// Whether a `/` behind this text begins a path.
fn starts_path(before: &str) -> bool {
    if before.ends_with("://") {
        return true;
    }
    // `${NAME:-/path}`: a shell's default value.
    if before.ends_with(":-") {
        return true;
    }
    let Some(last) = before.chars().next_back() else {
        return true;
    };
    if matches!(
        last,
        '.' | '_' | '-' | '}' | ')' | ']' | '*' | '~' | '/' | '%' | '?' | '+'
    ) {
        return false;
    }
    if !last.is_alphanumeric() {
        return true;
    }
    // `-I/path`: the letter of an option.
    let mut back = before.chars().rev().skip(1);
    last.is_ascii_alphabetic()
        && back.next() == Some('-')
        && back
            .next()
            .is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> PathMap {
        let mut map = PathMap::below(Path::new("/p"));
        for (path, place) in [
            ("/workspace", "/p/ws"),
            ("/workspace/src", "/p/src"),
            ("/tekton", "/p/t"),
            ("/etc/conf", "/p/c"),
        ] {
            assert!(map.add(Path::new(path), Path::new(place)));
        }
        map
    }

    #[test]
    fn replaces_whole_paths_only() {
        let map = map();
        for (text, want) in [
            ("/workspace", "/p/ws"),
            ("/workspace/", "/p/ws/"),
            ("/workspace/src/x", "/p/src/x"),
            ("/workspace/srcs", "/p/ws/srcs"),
            ("/workspaces", "/workspaces"),
            ("/workspace-2/x", "/workspace-2/x"),
            ("/workspace.old", "/workspace.old"),
            ("a /tekton/run/0/out b", "a /p/t/run/0/out b"),
            ("x=/workspace:/tekton", "x=/p/ws:/p/t"),
            ("'/workspace'\"/tekton/a\"", "'/p/ws'\"/p/t/a\""),
            ("home/workspace", "home/workspace"),
            ("./workspace ../tekton", "./workspace ../tekton"),
            (
                "$HOME/workspace ${X}/tekton $(pwd)/tekton",
                "$HOME/workspace ${X}/tekton $(pwd)/tekton",
            ),
            ("\"${url:-/workspace/x}\"", "\"${url:-/p/ws/x}\""),
            ("-I/workspace/include", "-I/p/ws/include"),
            ("--x=/workspace", "--x=/p/ws"),
            ("@/workspace/body", "@/p/ws/body"),
            ("file:///workspace/a", "file:///p/ws/a"),
            ("https://host/workspace", "https://host/workspace"),
            ("cat>/workspace/x</tekton/y;", "cat>/p/ws/x</p/t/y;"),
            ("/etc/conf/a /etc/config", "/p/c/a /etc/config"),
            ("a//workspace", "a//workspace"),
            ("é/workspace ü /workspace", "é/workspace ü /p/ws"),
            ("", ""),
        ] {
            assert_eq!(map.text(text), want, "{text}");
        }
    }

    #[test]
    fn leaves_system_directories_alone() {
        let mut map = map();
        for path in ["/", "/etc", "/usr/", "/usr/bin", "relative", "/p"] {
            assert!(!map.add(Path::new(path), Path::new("/p/x")), "{path}");
        }
        assert_eq!(map.text("/usr/bin/env /etc/passwd"), "/usr/bin/env /etc/passwd");
        assert_eq!(map.path(Path::new("/workspace/src")), Path::new("/p/src"));
        assert_eq!(map.path(Path::new("/var/x")), Path::new("/var/x"));
    }

    #[test]
    fn binary_files_are_not_touched() {
        assert_eq!(map().bytes(b"\x7fELF\xff /workspace"), None);
        assert_eq!(map().bytes(b"#!/bin/sh\necho"), None);
        assert_eq!(
            map().bytes(b"#!/bin/sh\ncd /workspace\n"),
            Some(b"#!/bin/sh\ncd /p/ws\n".to_vec())
        );
    }
}
