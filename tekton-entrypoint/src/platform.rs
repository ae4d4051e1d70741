//! Chooses the command of a step by platform, for images that exist for several.
//!
//! Upstream counterparts: `selectCommandForPlatform` in `cmd/entrypoint/main.go`, `pkg/platforms`.

use std::collections::BTreeMap;
use std::env::consts;

use tekton_pod::contract::json;

/// Variable with a JSON object: platform to command.
pub(crate) const VARIABLE: &str = "TEKTON_PLATFORM_COMMANDS";

/// The command for this machine.
pub(crate) fn command(variable: &str) -> Result<Vec<String>, String> {
    let commands =
        serde_json::from_value::<Option<BTreeMap<String, Option<Vec<String>>>>>(json::parse(variable)?)
            .map_err(|error| error.to_string())?
            .unwrap_or_default();
    select(&commands, &platform())
}

fn select(commands: &BTreeMap<String, Option<Vec<String>>>, platform: &str) -> Result<Vec<String>, String> {
    let without_variant = platform.rsplit_once('/').map_or(platform, |(rest, _)| rest);
    let found = commands.get(platform).or_else(|| commands.get(without_variant));
    let found = found.ok_or_else(|| format!("could not find command for platform {platform:?}"))?;
    Ok(found.clone().unwrap_or_default())
}

/// Operating system, processor and variant, under the names that image indexes use.
fn platform() -> String {
    let (processor, variant) = match consts::ARCH {
        "x86_64" => ("amd64", ""),
        "x86" => ("386", ""),
        "aarch64" => ("arm64", "/v8"),
        "arm" => ("arm", "/v7"),
        "powerpc64" if cfg!(target_endian = "little") => ("ppc64le", ""),
        "loongarch64" => ("loong64", ""),
        other => (other, ""),
    };
    format!("{}/{processor}{variant}", consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_platform_comes_first() {
        let of = |name: &str| Some(vec![name.to_owned()]);
        let commands: BTreeMap<_, _> = [
            ("linux/arm64/v8".to_owned(), of("exact")),
            ("linux/arm64".to_owned(), of("any")),
        ]
        .into();
        assert_eq!(select(&commands, "linux/arm64/v8").unwrap(), ["exact"]);
        assert_eq!(select(&commands, "linux/arm64/v9").unwrap(), ["any"]);
        assert_eq!(
            select(&commands, "linux/s390x").unwrap_err(),
            "could not find command for platform \"linux/s390x\""
        );
    }
}
