//! Lexical path cleaning as Go's `filepath` does it on Unix; mount paths and working directories are
//! compared and printed in this form. Purely textual: no file system is looked at.

use std::borrow::Cow;

/// The shortest path lexically equal to `path`; `.` for the empty one.
pub(crate) fn clean(path: &str) -> Cow<'_, str> {
    if is_clean(path) {
        return Cow::Borrowed(path);
    }
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if rooted => {}
            element => kept.push(element),
        }
    }
    let joined = kept.join("/");
    Cow::Owned(match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    })
}

/// Says yes only to absolute paths that cleaning would leave alone; the common case of mount paths.
fn is_clean(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| {
        rest.is_empty() || rest.split('/').all(|element| !matches!(element, "" | "." | ".."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_like_go() {
        for (path, cleaned) in [
            ("", "."),
            ("/", "/"),
            ("//a//b/", "/a/b"),
            ("/../a", "/a"),
            ("a/../..", ".."),
            ("../../a/.", "../../a"),
            ("./x", "x"),
            ("/workspace/./s/..", "/workspace"),
        ] {
            assert_eq!(clean(path), cleaned, "{path}");
        }
    }
}
