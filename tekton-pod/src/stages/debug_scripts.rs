//! Scripts with which a person lets a step go on that is held at a breakpoint.
//!
//! Input: the breakpoints and the number of steps; output: lines for `place-scripts` and two mounts a
//! step. What the scripts write is read by the entrypoint's breakpoint code.
//! Upstream counterpart: `pkg/pod/script.go`, `scripts_constants.go`.

use k8s_openapi::api::core::v1::VolumeMount;
use tekton_api::names;
use tekton_api::v1::{BREAKPOINT_ENABLED, TaskRunDebug};

use super::volumes::{self, mount, read_only_mount};
use crate::contract::paths;
use crate::draft::StepDraft;

/// Breakpoints in force, looked up once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Breakpoints<'a> {
    /// Hold a step that failed.
    pub(crate) on_failure: bool,
    before_steps: &'a [String],
}

impl<'a> Breakpoints<'a> {
    /// The breakpoints of a run; none if debugging is not switched on.
    pub(crate) fn of(debug: Option<&'a TaskRunDebug>) -> Self {
        let Some(breakpoints) = debug.and_then(|debug| debug.breakpoints.as_ref()) else {
            return Self::default();
        };
        Self {
            on_failure: breakpoints.on_failure.as_deref() == Some(BREAKPOINT_ENABLED),
            before_steps: &breakpoints.before_steps,
        }
    }

    /// True if there is any breakpoint.
    pub(crate) fn any(self) -> bool {
        self.on_failure || !self.before_steps.is_empty()
    }

    /// True if the step is to be held before it starts.
    pub(crate) fn before(self, step: &str) -> bool {
        self.before_steps.iter().any(|name| name == step)
    }
}

/// Mounts the debug directories into every step.
pub(crate) fn mount_into(steps: &mut [StepDraft<'_>]) {
    for (index, step) in steps.iter_mut().enumerate() {
        let info: VolumeMount = mount(volumes::DEBUG_INFO, format!("{}/{index}", paths::DEBUG_INFO_DIR));
        step.mounts().extend([
            read_only_mount(volumes::DEBUG_SCRIPTS, paths::DEBUG_SCRIPTS_DIR),
            info,
        ]);
    }
}

/// Shell lines that write the debug scripts the breakpoints need.
pub(crate) fn directives(breakpoints: Breakpoints<'_>, steps: &[StepDraft<'_>], suffix: &str) -> String {
    let before_step = steps.iter().any(|step| breakpoints.before(&step.container.name));
    let mut lines = String::new();
    let mut place = |name: &str, file: &str, code: u8, mark: Option<(&str, &str)>, note: &str| {
        let heredoc = names::with_suffix(&format!("debug-{name}-heredoc-randomly-generated"), suffix);
        let body = body(steps.len(), file, code, mark, note);
        let file = format!("{}/debug-{name}", paths::DEBUG_SCRIPTS_DIR);
        for part in [
            "tmpfile=\"",
            &file,
            "\"\ntouch ${tmpfile} && chmod +x ${tmpfile}\ncat > ${tmpfile} << '",
            &heredoc,
        ] {
            lines.push_str(part);
        }
        for part in ["'\n", &body, "\n", &heredoc, "\n"] {
            lines.push_str(part);
        }
    };
    if breakpoints.on_failure {
        place("continue", "out.breakpointexit", 0, Some(("out", "success")), "");
        place(
            "fail-continue",
            "out.breakpointexit",
            1,
            Some(("out.err", "a failure")),
            "",
        );
    }
    if before_step {
        place(
            "beforestep-continue",
            "out.beforestepexit",
            0,
            None,
            "before step ",
        );
        place(
            "beforestep-fail-continue",
            "out.beforestepexit.err",
            1,
            None,
            "before step ",
        );
    }
    lines
}

/// One script: finds the held step by its entry in the info directory and leaves it an answer.
fn body(steps: usize, answer: &str, code: u8, mark: Option<(&str, &str)>, kind: &str) -> String {
    let mark = mark.map(|(file, outcome)| {
        format!("\ttouch \"${{run}}/${{step}}/{file}\" # the step counts as {outcome}\n")
    });
    format!(
        "#!/bin/sh\nset -e\n\nsteps={steps}\nrun={run}\n\nstep=\"$(ls {info} | grep -E '^[0-9]+$' | sort -n | tail -1)\"\n\n\
         if [ \"${{step:-{steps}}}\" -lt \"${{steps}}\" ]; then\n{mark}\
         \techo \"{code}\" > \"${{run}}/${{step}}/{answer}\"\n\techo \"Executing step ${{step}}...\"\n\
         else\n\techo \"No step is left to go on with, {kind}breakpoint exiting !\"\n\texit 0\nfi",
        run = paths::RUN_DIR,
        info = paths::DEBUG_INFO_DIR,
        mark = mark.unwrap_or_default(),
    )
}
