//! The builder: an ordered list of stages from a TaskRun and its specification to a pod.
//!
//! Pure: equal input gives an equal pod, byte for byte. Nothing is looked up here; [`crate::needs`] says
//! what has to be in the input.
//! Upstream counterpart: `Builder.Build` in `pkg/pod/pod.go`.

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use tekton_api::v1::PodTemplate;

use crate::draft::{SidecarDraft, StepDraft};
use crate::error::BuildError;
use crate::input::PodInput;
use crate::settings::Settings;
use crate::stages::mounts::Mounts;
use crate::stages::{
    assemble, compute_resources, credentials, env, image_command, metadata, mounts, native_sidecars, order,
    prepare, results_sidecar, scripts, spire, step_template, volumes, working_dirs,
};
use crate::transform;

/// Builds the pod that runs a TaskRun.
///
/// Steps become containers that wait for each other, scripts become files that an init container places,
/// and everything that Tekton needs for itself is added. Errors are documented at [`BuildError`].
pub fn build_pod(input: &PodInput<'_>) -> Result<Pod, BuildError> {
    let settings = Settings::of(input);
    let no_template = PodTemplate::default();
    let template = input.pod_template.unwrap_or(&no_template);
    let credentials = if settings.credentials {
        credentials::mount_secrets(input.lookups, settings.require_known_hosts)?
    } else {
        credentials::Credentials::default()
    };

    let mut steps = steps_with_resources(input);
    let (mut sidecars, results_from_logs) = sidecars(input, &settings, &steps)?;

    let mut init = init_containers(input, &settings, &mut steps, &mut sidecars);
    let places_scripts = init.iter().any(|container| container.name == scripts::CONTAINER);
    image_command::resolve(&mut steps, input.lookups)?;
    let wait_for_sidecars = settings.waits_for_sidecars(!sidecars.is_empty());
    let chain = order::Chain {
        credentials: &credentials.flags,
        results: &input.spec.results,
        spire: settings.spire,
        results_from_logs,
        compress: settings.compress,
        breakpoints: settings.breakpoints,
        wait_for_sidecars,
        keep_on_cancel: settings.keep_on_cancel,
    };
    order::apply(&mut steps, &chain)?;
    env::add(
        &mut steps,
        &template.env,
        settings.forbidden_env,
        settings.hermetic,
    );

    let shared = Mounts::new(steps.len(), credentials.mounts);
    mounts::add(&mut steps, &shared, settings.credentials);
    if results_from_logs {
        results_sidecar::mount_into(&mut sidecars, &shared);
    }

    let wanted = volumes::Wanted {
        scripts: places_scripts,
        debug: settings.breakpoints.any(),
        downward: wait_for_sidecars || settings.keep_on_cancel,
        cancel: settings.keep_on_cancel,
        credentials_home: settings.credentials,
        steps: steps.len(),
    };
    let declared = [input.spec.volumes.as_slice(), template.volumes.as_slice()];
    let mut all_volumes = volumes::all(&wanted, credentials.volumes, declared);
    assemble::check_volumes(&all_volumes)?;

    let mut containers = order::named_containers(steps);
    if settings.spire {
        all_volumes.push(spire::volume());
        containers.iter_mut().chain(&mut init).for_each(spire::mount_into);
    }
    let native = settings.native_sidecars(input.lookups)?;
    let sidecars = sidecars.into_iter().map(|sidecar| sidecar.container).collect();
    native_sidecars::place(sidecars, native, &mut init, &mut containers);

    let deadline = metadata::active_deadline(settings.timeout);
    let account = Some(input.run.spec.service_account_name.clone()).filter(|name| !name.is_empty());
    let mut spec = assemble::pod_spec(template, account, init, containers, all_volumes, deadline);
    transform_spec(&mut spec, input, &settings);
    Ok(Pod {
        metadata: metadata::object(input.run, settings.managed_by, input.release, !wait_for_sidecars),
        spec: Some(spec),
        status: None,
    })
}

/// The containers that run before the steps: the entrypoint is copied, scripts are placed, working
/// directories are made. Steps and sidecars with a script get the command that runs it.
fn init_containers(
    input: &PodInput<'_>,
    settings: &Settings<'_>,
    steps: &mut [StepDraft<'_>],
    sidecars: &mut [SidecarDraft<'_>],
) -> Vec<Container> {
    let security_context = || settings.own_security_context();
    let images = input.images;
    let prepare = prepare::init_container(&images.entrypoint, steps, security_context());
    let scripts = scripts::place(settings.shell(input), steps, sidecars, settings.breakpoints);
    let dirs = working_dirs::init_container(&images.working_dir_init, steps, security_context());
    [Some(prepare), scripts, dirs].into_iter().flatten().collect()
}

fn steps_with_resources<'a>(input: &PodInput<'a>) -> Vec<StepDraft<'a>> {
    let run = &input.run.spec;
    let mut steps = step_template::steps(&input.spec.steps, input.spec.step_template.as_ref());
    step_template::override_steps(&mut steps, &run.step_specs);
    if let Some(whole) = &run.compute_resources {
        compute_resources::divide(&mut steps, whole);
    }
    steps
}

/// The sidecars of the task and, if results are taken from logs, the one that writes them. Also says
/// whether that one is there.
fn sidecars<'a>(
    input: &PodInput<'a>,
    settings: &Settings<'_>,
    steps: &[StepDraft<'_>],
) -> Result<(Vec<SidecarDraft<'a>>, bool), BuildError> {
    let mut sidecars = step_template::sidecars(&input.spec.sidecars);
    let from_logs = settings.sidecar_logs && results_sidecar::is_needed(input.spec, steps);
    if from_logs {
        let container = results_sidecar::container(
            input.spec,
            steps,
            &input.images.sidecar_log_results,
            settings.polling_interval.clone(),
            settings.own_security_context(),
        )?;
        sidecars.push(SidecarDraft {
            script: "",
            container,
        });
    }
    step_template::override_sidecars(&mut sidecars, &input.run.spec.sidecar_specs);
    Ok((sidecars, from_logs))
}

fn transform_spec(spec: &mut PodSpec, input: &PodInput<'_>, settings: &Settings<'_>) {
    transform::default_resources::apply(spec, settings.default_resources);
    transform::limit_range::apply(spec, &input.lookups.limit_ranges);
    transform::affinity::apply(spec, input.run.metadata.annotations.as_ref());
}
