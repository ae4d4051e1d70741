//! From a golden trace to the input of the builder.

use std::collections::BTreeMap;

use serde_json::Value;
use tekton_api::config::Config;
use tekton_api::v1::{TaskRun, TaskSpec};
use tekton_pod::{ImageCommands, Images, LookupFailure, Lookups, PlatformCommand, ServerVersion, needs};

/// The images that the traces use.
pub(crate) fn images() -> Images {
    let named = |name: &str| format!("img.example/{name}:v1");
    Images {
        entrypoint: named("entrypoint"),
        nop: named("nop"),
        shell: named("shell"),
        shell_win: named("shell-win"),
        sidecar_log_results: named("sidecarlogresults"),
        working_dir_init: named("workingdirinit"),
    }
}

/// The configuration of a trace.
pub(crate) fn config(case: &Value) -> Config {
    let maps: Option<BTreeMap<String, BTreeMap<String, String>>> =
        serde_json::from_value(case["input"]["config"].clone()).unwrap();
    Config::from_config_maps(&maps.unwrap_or_default()).unwrap()
}

/// Objects of a kind in the cluster of a trace.
pub(crate) fn objects<'a>(case: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    case["input"]["objects"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(move |object| object["kind"] == kind)
}

/// Everything the builder wants to know about the cluster.
pub(crate) fn lookups(case: &Value, run: &TaskRun, spec: &TaskSpec, config: &Config) -> Lookups {
    let needed = needs::needs(run, spec, config);
    let find = |kind: &'static str, name: &str| {
        let found = objects(case, kind)
            .find(|object| object["metadata"]["name"] == name)
            .cloned();
        let message = format!("{}s {name:?} not found", kind.to_lowercase());
        found.ok_or(LookupFailure {
            not_found: true,
            message,
        })
    };
    let mut lookups = Lookups::default();
    if let Some(name) = needed.service_account {
        let account = find("ServiceAccount", &name).map(|object| serde_json::from_value(object).unwrap());
        if let Ok(account) = &account {
            for secret in needs::secrets(account) {
                let found = find("Secret", secret).map(|object| serde_json::from_value(object).unwrap());
                lookups.secrets.insert(secret.to_owned(), found);
            }
        }
        lookups.service_account = Some(account);
    }
    for need in needed.images {
        let found = image(&case["input"]["imageConfigs"][&need.image], need.has_args);
        lookups.images.insert(need.image, found);
    }
    let limit_ranges = objects(case, "LimitRange").cloned();
    lookups.limit_ranges = limit_ranges
        .map(|object| serde_json::from_value(object).unwrap())
        .collect();
    let (major, minor) = case["input"]["kubernetesVersion"]
        .as_str()
        .unwrap()
        .split_once('.')
        .unwrap();
    lookups.server_version = Some(Ok(ServerVersion {
        major: major.to_owned(),
        minor: minor.to_owned(),
    }));
    lookups
}

fn image(config: &Value, has_args: bool) -> Result<ImageCommands, LookupFailure> {
    if let Some(message) = config["error"].as_str() {
        return Err(LookupFailure {
            not_found: false,
            message: message.to_owned(),
        });
    }
    let text = |value: &Value, default: &str| value.as_str().unwrap_or(default).to_owned();
    let texts = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap_or_default() };
    let single = vec![config.clone()];
    let platforms = config["platforms"]
        .as_array()
        .unwrap_or(&single)
        .iter()
        .map(|entry| {
            let names = [
                text(&entry["os"], "linux"),
                text(&entry["architecture"], "amd64"),
                text(&entry["variant"], ""),
            ];
            (names, texts(&entry["entrypoint"]), texts(&entry["cmd"]))
        });
    let platforms: Vec<_> = platforms.collect();
    let platforms = platforms
        .iter()
        .map(|([os, architecture, variant], entrypoint, cmd)| PlatformCommand {
            os,
            architecture,
            variant,
            entrypoint,
            cmd,
        });
    Ok(ImageCommands::from_platforms(
        config["digest"].as_str().unwrap_or_default(),
        platforms,
        has_args,
    ))
}
