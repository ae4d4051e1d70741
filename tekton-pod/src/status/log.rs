//! Step results in the log of the results sidecar.

use super::error::StatusError;
use crate::contract::frames;
use crate::contract::result::{ResultType, RunResult};

/// The step results of one container among the entries: names are `CONTAINER.RESULT`.
pub(super) fn of_container(entries: &[RunResult], container: &str) -> (Vec<RunResult>, Option<StatusError>) {
    let mut own = Vec::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.result_type == ResultType::Step)
    {
        match frames::split_step_result(&entry.key) {
            Ok((step, result)) if step == container => {
                own.push(RunResult {
                    key: result.to_owned(),
                    ..entry.clone()
                });
            }
            Ok(_) => {}
            Err(error) => return (Vec::new(), Some(StatusError::Frame(error))),
        }
    }
    (own, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_results_belong_to_a_container() {
        let entry = |key: &str| RunResult::new(key, "", ResultType::Step);
        let (own, error) = of_container(&[entry("step-a.r.s"), entry("step-b.t")], "step-a");
        assert_eq!(
            own.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(),
            ["r.s"]
        );
        assert_eq!(error, None);
        assert!(of_container(&[entry("odd")], "step-a").1.is_some());
    }
}
