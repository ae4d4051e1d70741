//! Steps, sidecars and the template of steps.
//!
//! Upstream counterpart: `container_conversion.go`.

use crate::{v1, v1beta1};

/// A step of v1; deprecated fields are dropped.
pub(super) fn step_up(step: v1beta1::Step) -> v1::Step {
    v1::Step {
        name: step.name,
        display_name: step.display_name,
        image: step.image,
        command: step.command,
        args: step.args,
        working_dir: step.working_dir,
        env_from: step.env_from,
        env: step.env,
        compute_resources: step.resources,
        volume_mounts: step.volume_mounts,
        volume_devices: step.volume_devices,
        image_pull_policy: step.image_pull_policy,
        security_context: step.security_context,
        script: step.script,
        timeout: step.timeout,
        workspaces: step.workspaces,
        on_error: step.on_error,
        stdout_config: step.stdout_config,
        stderr_config: step.stderr_config,
        ref_: step.ref_,
        params: step.params,
        results: step.results,
        when: step.when,
    }
}

/// A step of v1beta1.
pub(super) fn step_down(step: v1::Step) -> v1beta1::Step {
    v1beta1::Step {
        name: step.name,
        display_name: step.display_name,
        image: step.image,
        command: step.command,
        args: step.args,
        working_dir: step.working_dir,
        env_from: step.env_from,
        env: step.env,
        resources: step.compute_resources,
        volume_mounts: step.volume_mounts,
        volume_devices: step.volume_devices,
        image_pull_policy: step.image_pull_policy,
        security_context: step.security_context,
        script: step.script,
        timeout: step.timeout,
        workspaces: step.workspaces,
        on_error: step.on_error,
        stdout_config: step.stdout_config,
        stderr_config: step.stderr_config,
        ref_: step.ref_,
        params: step.params,
        results: step.results,
        when: step.when,
        ..v1beta1::Step::default()
    }
}

/// A template of v1; deprecated fields are dropped.
pub(super) fn template_up(template: v1beta1::StepTemplate) -> v1::StepTemplate {
    v1::StepTemplate {
        image: template.image,
        command: template.command,
        args: template.args,
        working_dir: template.working_dir,
        env_from: template.env_from,
        env: template.env,
        compute_resources: template.resources,
        volume_mounts: template.volume_mounts,
        volume_devices: template.volume_devices,
        image_pull_policy: template.image_pull_policy,
        security_context: template.security_context,
    }
}

/// A template of v1beta1.
pub(super) fn template_down(template: v1::StepTemplate) -> v1beta1::StepTemplate {
    v1beta1::StepTemplate {
        image: template.image,
        command: template.command,
        args: template.args,
        working_dir: template.working_dir,
        env_from: template.env_from,
        env: template.env,
        resources: template.compute_resources,
        volume_mounts: template.volume_mounts,
        volume_devices: template.volume_devices,
        image_pull_policy: template.image_pull_policy,
        security_context: template.security_context,
        ..v1beta1::StepTemplate::default()
    }
}

/// A sidecar of v1.
pub(super) fn sidecar_up(sidecar: v1beta1::Sidecar) -> v1::Sidecar {
    v1::Sidecar {
        name: sidecar.name,
        image: sidecar.image,
        command: sidecar.command,
        args: sidecar.args,
        working_dir: sidecar.working_dir,
        ports: sidecar.ports,
        env_from: sidecar.env_from,
        env: sidecar.env,
        compute_resources: sidecar.resources,
        volume_mounts: sidecar.volume_mounts,
        volume_devices: sidecar.volume_devices,
        liveness_probe: sidecar.liveness_probe,
        readiness_probe: sidecar.readiness_probe,
        startup_probe: sidecar.startup_probe,
        lifecycle: sidecar.lifecycle,
        termination_message_path: sidecar.termination_message_path,
        termination_message_policy: sidecar.termination_message_policy,
        image_pull_policy: sidecar.image_pull_policy,
        security_context: sidecar.security_context,
        stdin: sidecar.stdin,
        stdin_once: sidecar.stdin_once,
        tty: sidecar.tty,
        script: sidecar.script,
        workspaces: sidecar.workspaces,
        restart_policy: sidecar.restart_policy,
    }
}

/// A sidecar of v1beta1.
pub(super) fn sidecar_down(sidecar: v1::Sidecar) -> v1beta1::Sidecar {
    v1beta1::Sidecar {
        name: sidecar.name,
        image: sidecar.image,
        command: sidecar.command,
        args: sidecar.args,
        working_dir: sidecar.working_dir,
        ports: sidecar.ports,
        env_from: sidecar.env_from,
        env: sidecar.env,
        resources: sidecar.compute_resources,
        volume_mounts: sidecar.volume_mounts,
        volume_devices: sidecar.volume_devices,
        liveness_probe: sidecar.liveness_probe,
        readiness_probe: sidecar.readiness_probe,
        startup_probe: sidecar.startup_probe,
        lifecycle: sidecar.lifecycle,
        termination_message_path: sidecar.termination_message_path,
        termination_message_policy: sidecar.termination_message_policy,
        image_pull_policy: sidecar.image_pull_policy,
        security_context: sidecar.security_context,
        stdin: sidecar.stdin,
        stdin_once: sidecar.stdin_once,
        tty: sidecar.tty,
        script: sidecar.script,
        workspaces: sidecar.workspaces,
        restart_policy: sidecar.restart_policy,
    }
}
