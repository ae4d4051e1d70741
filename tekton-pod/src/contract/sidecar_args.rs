//! The command line of the results sidecar, typed, in both directions.
//!
//! Upstream counterparts: `createResultsSidecar` in `pkg/pod/pod.go`, `cmd/sidecarlogresults/main.go`.

use std::collections::BTreeMap;

use super::flags::{self, Flag, FlagError, FlagKind};
use super::json;
use super::paths;

/// What the results sidecar is told to report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SidecarArgs {
    /// Directory of the Task's results (`-results-dir`).
    pub results_dir: String,
    /// Results of the Task (`-result-names`).
    pub result_names: Vec<String>,
    /// Containers of steps that may leave artifacts (`-step-names`).
    pub step_names: Vec<String>,
    /// Results of steps (`-step-results`) as JSON, an object of lists; it must be given.
    pub step_results: String,
    /// Stay until told to end (`-kubernetes-sidecar-mode`).
    pub kubernetes_sidecar_mode: bool,
}

impl Default for SidecarArgs {
    fn default() -> Self {
        Self {
            results_dir: paths::RESULTS_DIR.to_owned(),
            result_names: Vec::new(),
            step_names: Vec::new(),
            step_results: String::new(),
            kubernetes_sidecar_mode: false,
        }
    }
}

/// All flags of the results sidecar.
pub const FLAGS: &[Flag] = &[
    Flag {
        name: "kubernetes-sidecar-mode",
        kind: FlagKind::Switch,
        help: "wait for SIGTERM or SIGINT when everything is reported",
    },
    Flag {
        name: "result-names",
        kind: FlagKind::Value,
        help: "comma-separated names of results of the Task",
    },
    Flag {
        name: "results-dir",
        kind: FlagKind::Value,
        help: "directory of the Task's results (default \"/tekton/results\")",
    },
    Flag {
        name: "step-names",
        kind: FlagKind::Value,
        help: "comma-separated names of containers that may leave artifacts",
    },
    Flag {
        name: "step-results",
        kind: FlagKind::Value,
        help: "JSON object: step to list of its results",
    },
];

impl SidecarArgs {
    /// Parses a command line (without the name of the program). Words behind the flags are ignored.
    pub fn parse(argv: &[String]) -> Result<Self, FlagError> {
        let mut args = Self::default();
        let list = |value: &str| {
            if value.is_empty() {
                Vec::new()
            } else {
                value.split(',').map(str::to_owned).collect()
            }
        };
        flags::scan(argv, FLAGS, |name, value| {
            match name {
                "results-dir" => value.clone_into(&mut args.results_dir),
                "result-names" => args.result_names = list(value),
                "step-names" => args.step_names = list(value),
                "step-results" => value.clone_into(&mut args.step_results),
                _ => args.kubernetes_sidecar_mode = flags::switch(value) == Some(true),
            }
            Ok(())
        })?;
        Ok(args)
    }

    /// The command line, without the name of the program.
    pub fn to_argv(&self) -> Vec<String> {
        let mut argv: Vec<String> = [
            "-results-dir",
            &self.results_dir,
            "-result-names",
            &self.result_names.join(","),
            "-step-names",
            &self.step_names.join(","),
            "-step-results",
            &self.step_results,
        ]
        .map(str::to_owned)
        .to_vec();
        if self.kubernetes_sidecar_mode {
            argv.extend(["-kubernetes-sidecar-mode".to_owned(), "true".to_owned()]);
        }
        argv
    }

    /// Results of steps: step to names. The error is Go's sentence.
    pub fn step_result_names(&self) -> Result<BTreeMap<String, Vec<String>>, String> {
        let value = json::parse(&self.step_results)?;
        Ok(serde_json::from_value::<Option<_>>(value)
            .map_err(|error| error.to_string())?
            .unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let args = SidecarArgs {
            result_names: vec!["a".into(), "b".into()],
            step_names: vec!["step-x".into()],
            step_results: "{\"x\":[\"r\"]}".into(),
            ..SidecarArgs::default()
        };
        assert_eq!(SidecarArgs::parse(&args.to_argv()), Ok(args.clone()));
        assert_eq!(args.step_result_names().unwrap()["x"], ["r"]);
        assert_eq!(
            SidecarArgs::default().step_result_names().unwrap_err(),
            "unexpected end of JSON input"
        );
    }
}
