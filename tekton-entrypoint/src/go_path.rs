//! Paths joined and cleaned as text, without a look at the file system, the way Go's `filepath` does it.

/// The shortest path that is lexically the same; `.` for an empty one.
pub(crate) fn clean(path: &str) -> String {
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
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Path below a directory; an empty directory is left out.
pub(crate) fn join(directory: &str, rest: &str) -> String {
    if directory.is_empty() {
        clean(rest)
    } else {
        clean(&format!("{directory}/{rest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaning_is_that_of_go() {
        for (path, cleaned) in [
            ("", "."),
            ("/", "/"),
            ("a/./b//c/..", "a/b"),
            ("/../x", "/x"),
            ("../../x", "../../x"),
            ("a/..", "."),
        ] {
            assert_eq!(clean(path), cleaned, "{path}");
        }
        assert_eq!(join("", "results"), "results");
        assert_eq!(join("/a/", "../b"), "/b");
    }
}
