//! Asks for what the pod builder needs to know, in the order in which failures count, and creates the pod.
//!
//! Upstream counterparts: `pkg/pod/creds_init.go`, `pkg/pod/entrypoint_lookup.go`.

use k8s_openapi::api::core::v1::{LimitRange, ServiceAccount};
use serde_json::Value;
use tekton_api::duration::Duration;
use tekton_api::v1::{TaskRun, TaskSpec};
use tekton_pod::{ImageCommands, LookupFailure, Lookups, PlatformCommand, ServerVersion, needs};

use crate::image_config::ImageConfig;
use crate::images::Images;
use crate::plan::{Answer, Answers, ApiFailure, Ask, ObjectRef, PassInput, Waiting, decode};

/// Everything that decides what the pod looks like besides the run.
pub(super) fn look_up(
    run: &TaskRun,
    spec: &TaskSpec,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Lookups, Waiting> {
    let namespace = run.metadata.namespace.clone().unwrap_or_default();
    let needed = needs::needs(run, spec, input.config);
    let mut found = Lookups::default();
    if let Some(name) = &needed.service_account {
        let account = answers.ask(Ask::Get(ObjectRef::new("v1", "ServiceAccount", &namespace, name)))?;
        let account: Result<ServiceAccount, LookupFailure> = read(account);
        if let Ok(account) = &account {
            let names = needs::secrets(account);
            let asks = names
                .iter()
                .map(|name| Ask::Get(ObjectRef::new("v1", "Secret", &namespace, *name)));
            let secrets = answers.all(&asks.collect::<Vec<_>>())?;
            found.secrets = names
                .iter()
                .zip(secrets)
                .map(|(name, secret)| ((*name).to_owned(), read(secret)))
                .collect();
        }
        let failed = account.is_err();
        found.service_account = Some(account);
        if failed {
            return Ok(found);
        }
    }
    if needed.server_version {
        found.server_version = Some(match answers.ask(Ask::ServerVersion)? {
            Ok(version) => Ok(server_version(version)),
            Err(failure) => Err(lookup_failure(failure)),
        });
    }
    let template = run.spec.pod_template.as_ref();
    let pull_secrets: Vec<String> = template
        .and_then(|template| template.image_pull_secrets.as_ref())
        .into_iter()
        .flatten()
        .map(|secret| secret.name.clone())
        .collect();
    for need in &needed.images {
        let config: Result<ImageConfig, LookupFailure> = read(answers.ask(Ask::ImageConfig {
            image: need.image.clone(),
            namespace: namespace.clone(),
            service_account: run.spec.service_account_name.clone(),
            pull_secrets: pull_secrets.clone(),
        })?);
        let commands = config.map(|config| commands(&config, need.has_args));
        found.images.insert(need.image.clone(), commands);
    }
    let ranges = answers.ask(Ask::List {
        api_version: "v1".to_owned(),
        kind: "LimitRange".to_owned(),
        namespace,
        labels: String::new(),
    })?;
    let ranges = ranges
        .as_ref()
        .ok()
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    found.limit_ranges = ranges
        .filter_map(|object| decode::<LimitRange>(object).ok())
        .collect();
    Ok(found)
}

/// The controller's images in the words of the builder.
pub(super) fn images(images: &Images) -> tekton_pod::Images {
    tekton_pod::Images {
        entrypoint: images.entrypoint.clone(),
        nop: images.nop.clone(),
        shell: images.shell.clone(),
        shell_win: images.shell_win.clone(),
        sidecar_log_results: images.sidecar_log_results.clone(),
        working_dir_init: images.working_dir_init.clone(),
    }
}

/// Creates the pod. Where the configuration says so, a webhook that took too long is given further chances.
pub(super) fn create(object: Value, input: &PassInput<'_>, answers: &Answers) -> Result<Answer, Waiting> {
    let first = Ask::Create {
        object,
        dry_run: false,
    };
    let mut answer = answers.ask(first.clone())?;
    if !input.config.features.enable_wait_exponential_backoff {
        return Ok(answer.clone());
    }
    let backoff = &input.config.backoff;
    let (mut pause, mut left, mut attempt) = (backoff.duration, backoff.steps, 0);
    while answer.as_ref().is_err_and(is_webhook_timeout) {
        if left <= 1 {
            return Ok(Err(ApiFailure {
                code: 0,
                reason: String::new(),
                message: "timed out waiting for the condition".to_owned(),
                details: Value::Null,
            }));
        }
        let next = longer(pause, backoff.factor);
        // A pause that would grow beyond the cap is the last one, and nothing is tried after it.
        left = if !backoff.cap.is_zero() && next > backoff.cap {
            0
        } else {
            left - 1
        };
        if left > 0 {
            attempt += 1;
            answer = answers.ask(Ask::Again {
                attempt,
                after: pause.to_std(),
                ask: Box::new(first.clone()),
            })?;
            pause = next;
        }
    }
    Ok(answer.clone())
}

/// The next pause; the same one if there is no factor.
fn longer(pause: Duration, factor: f64) -> Duration {
    if factor == 0.0 {
        return pause;
    }
    let longer = std::time::Duration::try_from_secs_f64(pause.as_secs_f64() * factor);
    longer.map_or(pause, Duration::from)
}

fn is_webhook_timeout(failure: &ApiFailure) -> bool {
    failure.code == 500 && failure.message.contains("timeout")
}

fn read<T: serde::de::DeserializeOwned>(answer: &Answer) -> Result<T, LookupFailure> {
    match answer {
        Ok(object) => decode(object).map_err(|failure| lookup_failure(&failure)),
        Err(failure) => Err(lookup_failure(failure)),
    }
}

fn lookup_failure(failure: &ApiFailure) -> LookupFailure {
    LookupFailure {
        not_found: failure.is_not_found(),
        message: failure.message.clone(),
    }
}

fn server_version(version: &Value) -> ServerVersion {
    let text = |key: &str| {
        version
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    ServerVersion {
        major: text("major"),
        minor: text("minor"),
    }
}

fn commands(config: &ImageConfig, has_args: bool) -> ImageCommands {
    let platforms = config.platforms.iter().map(|platform| PlatformCommand {
        os: &platform.os,
        architecture: &platform.architecture,
        variant: &platform.variant,
        entrypoint: &platform.entrypoint,
        cmd: &platform.cmd,
    });
    ImageCommands::from_platforms(&config.digest, platforms, has_args)
}
