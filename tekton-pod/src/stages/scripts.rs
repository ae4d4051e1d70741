//! Turns `script` of steps and sidecars into files that an init container places, and into commands that
//! run them.
//!
//! Input: merged steps and sidecars; output: the same with commands, plus at most one init container.
//! Windows scripts are in `scripts_windows`, breakpoints in `debug_scripts`.
//! Upstream counterpart: `pkg/pod/script.go`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Container;
use tekton_api::names;

use super::debug_scripts::{self, Breakpoints};
use super::security_context::SecurityContextConfig;
use super::volumes::{self, mount, read_only_mount};
use super::{scripts_windows, volumes::SCRIPTS};
use crate::contract::paths;
use crate::draft::{SidecarDraft, StepDraft};

/// Name of the init container.
pub(crate) const CONTAINER: &str = "place-scripts";
/// First lines of a script that does not say what runs it.
const PREAMBLE: &str = "#!/bin/sh\nset -e\n";

/// What the init container is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shell<'a> {
    /// Image with a POSIX shell.
    pub(crate) image: &'a str,
    /// Image with PowerShell; empty where Windows scripts are not enabled.
    pub(crate) windows_image: &'a str,
    /// Security context of the container.
    pub(crate) security: SecurityContextConfig,
    /// Random text in file names.
    pub(crate) suffix: &'a str,
}

/// Gives steps and sidecars with a script a command; the init container places the files. It is absent
/// where there is nothing to place.
pub(crate) fn place(
    shell: Shell<'_>,
    steps: &mut [StepDraft<'_>],
    sidecars: &mut [SidecarDraft<'_>],
    breakpoints: Breakpoints<'_>,
) -> Option<Container> {
    let scripts = || {
        steps
            .iter()
            .map(StepDraft::script)
            .chain(sidecars.iter().map(|sidecar| sidecar.script))
    };
    let windows = scripts().any(scripts_windows::is_windows);
    let wanted = breakpoints.any() || scripts().any(|script| !script.is_empty());
    let mut lines = String::with_capacity(scripts().map(|script| script.len() * 3 / 2 + 256).sum());

    for (index, step) in steps.iter_mut().enumerate() {
        let script = step.script();
        convert(
            &mut step.container,
            script,
            "script",
            index,
            shell.suffix,
            &mut lines,
        );
    }
    if breakpoints.any() {
        debug_scripts::mount_into(steps);
        lines.push_str(&debug_scripts::directives(breakpoints, steps, shell.suffix));
    }
    for (index, sidecar) in sidecars.iter_mut().enumerate() {
        convert(
            &mut sidecar.container,
            sidecar.script,
            "sidecar-script",
            index,
            shell.suffix,
            &mut lines,
        );
    }
    wanted.then(|| init_container(shell, windows, breakpoints, lines))
}

fn init_container(shell: Shell<'_>, windows: bool, breakpoints: Breakpoints<'_>, lines: String) -> Container {
    let (image, program, flag) = if windows {
        (shell.windows_image, "pwsh", "-Command")
    } else {
        (shell.image, "sh", "-c")
    };
    let mut mounts = vec![
        mount(SCRIPTS, paths::SCRIPTS_DIR),
        mount(volumes::BIN, paths::BIN_DIR),
    ];
    if breakpoints.any() {
        mounts.push(mount(volumes::DEBUG_SCRIPTS, paths::DEBUG_SCRIPTS_DIR));
    }
    Container {
        name: CONTAINER.to_owned(),
        image: Some(image.to_owned()),
        command: Some(vec![program.to_owned()]),
        args: Some(vec![flag.to_owned(), lines]),
        volume_mounts: Some(mounts),
        security_context: shell.security.context(windows),
        ..Container::default()
    }
}

fn convert(
    container: &mut Container,
    script: &str,
    kind: &str,
    index: usize,
    suffix: &str,
    lines: &mut String,
) {
    if script.is_empty() {
        return;
    }
    let file = format!(
        "{}/{}",
        paths::SCRIPTS_DIR,
        names::with_suffix(&format!("{kind}-{index}"), suffix)
    );
    if scripts_windows::is_windows(script) {
        let placed = scripts_windows::take_apart(script, file);
        for part in [
            "@\"\n",
            &placed.text,
            "\n\"@ | Out-File -FilePath ",
            &placed.file,
            "\n",
        ] {
            lines.push_str(part);
        }
        let own = container.args.take().unwrap_or_default();
        container.command = Some(placed.command);
        container.args = Some(placed.args.into_iter().chain(own).collect());
    } else {
        push_posix(lines, script, &file);
        container.command = Some(vec![file]);
    }
    container
        .volume_mounts
        .get_or_insert_default()
        .push(read_only_mount(SCRIPTS, paths::SCRIPTS_DIR));
}

/// Lines that place a script. It is encoded, because the kubelet expands `$(…)` in arguments.
fn push_posix(lines: &mut String, script: &str, file: &str) {
    lines.push_str("scriptfile=\"");
    lines.push_str(file);
    lines.push_str("\"\ntouch ${scriptfile} && chmod +x ${scriptfile}\ncat > ${scriptfile} << '_EOF_'\n");
    if script.trim().starts_with("#!") {
        STANDARD.encode_string(script, lines);
    } else {
        STANDARD.encode_string(format!("{PREAMBLE}{script}"), lines);
    }
    lines.push_str("\n_EOF_\n/tekton/bin/entrypoint decode-script \"${scriptfile}\"\n");
}
