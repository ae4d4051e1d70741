//! Image references as the registry look-up reads them: enough to pin an image to a digest.
//!
//! Upstream counterpart: `github.com/google/go-containerregistry/pkg/name` with weak validation.

const DEFAULT_REGISTRY: &str = "index.docker.io";

/// `REGISTRY/REPOSITORY` of an image reference with or without tag or digest; `None` if it is not a
/// reference at all.
pub(crate) fn repository(image: &str) -> Option<String> {
    with_tag(image).or_else(|| with_digest(image))
}

fn with_tag(image: &str) -> Option<String> {
    let base = match image.rsplit_once(':') {
        Some((base, tag)) if !tag.contains('/') => {
            let fits = (1..=128).contains(&tag.len());
            (fits
                && tag
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)))
            .then_some(base)?
        }
        _ => image,
    };
    full_name(base)
}

fn with_digest(image: &str) -> Option<String> {
    let (base, digest) = image.split_once('@')?;
    let hex = digest.strip_prefix("sha256:")?;
    let valid = hex.len() == 64 && hex.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    valid.then_some(())?;
    with_tag(base).or_else(|| full_name(base))
}

fn full_name(base: &str) -> Option<String> {
    let (registry, repository) = match base.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        _ => ("", base),
    };
    let length = repository.chars().count();
    let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c);
    ((2..=255).contains(&length) && repository.chars().all(valid) && valid_registry(registry))
        .then_some(())?;
    Some(match registry {
        "" | "docker.io" | DEFAULT_REGISTRY if !repository.contains('/') => {
            format!("{DEFAULT_REGISTRY}/library/{repository}")
        }
        "" | "docker.io" => format!("{DEFAULT_REGISTRY}/{repository}"),
        registry => format!("{registry}/{repository}"),
    })
}

/// What Go's URL parser takes as a host and gives back unchanged.
fn valid_registry(registry: &str) -> bool {
    let (host, port) = match registry.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (registry, ""),
    };
    let valid_host =
        |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || "-._~!$&'()*+,;=:[]\"<>".contains(c);
    port.chars().all(|c| c.is_ascii_digit()) && host.chars().all(valid_host)
}

#[cfg(test)]
mod tests {
    use super::repository;

    #[test]
    fn names_are_completed() {
        let digest = format!("reg.example:5000/a/b:1@sha256:{}", "0".repeat(64));
        for (image, name) in [
            ("busybox", "index.docker.io/library/busybox"),
            ("docker.io/library/busybox:1.2", "index.docker.io/library/busybox"),
            ("org/tool", "index.docker.io/org/tool"),
            ("reg.example/tool:1", "reg.example/tool"),
            ("localhost/tool", "localhost/tool"),
            (digest.as_str(), "reg.example:5000/a/b"),
        ] {
            assert_eq!(repository(image).as_deref(), Some(name), "{image}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for image in [
            "",
            "NOT a ref",
            "a",
            "tool:",
            "Tool",
            "tool@sha256:12",
            "reg.example:x/tool",
        ] {
            assert_eq!(repository(image), None, "{image}");
        }
    }
}
