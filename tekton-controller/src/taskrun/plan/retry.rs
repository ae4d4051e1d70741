//! Puts a failed attempt on record and lets the next pass begin anew.
//!
//! Upstream counterpart: `retryTaskRun` in `pkg/reconciler/taskrun/taskrun.go`.

use tekton_api::v1::{TaskRun, TaskRunStatus};

/// Whether a failed run has attempts left.
pub(in crate::taskrun) fn is_possible(run: &TaskRun) -> bool {
    let used = run
        .status
        .as_ref()
        .map_or(0, |status| status.retries_status.len());
    let allowed = usize::try_from(run.spec.retries.unwrap_or_default()).unwrap_or_default();
    used < allowed
}

/// The status for a new attempt; the failed one is kept among the earlier ones. Steps and artifacts stay until
/// the next pod reports its own.
pub(in crate::taskrun) fn archived(status: &TaskRunStatus) -> TaskRunStatus {
    let attempt = TaskRunStatus {
        retries_status: Vec::new(),
        ..status.clone()
    };
    let mut next = status.clone();
    next.retries_status.push(attempt);
    next.start_time = None;
    next.completion_time = None;
    next.pod_name = String::new();
    next.results = Vec::new();
    next
}

/// The message of a run that is to be retried: upstream takes the old message for a format and fills in nothing,
/// so that every `%` in it leaves a mark.
pub(in crate::taskrun) fn message(old: &str) -> String {
    let mut out = String::with_capacity(old.len());
    let mut rest = old;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let mut cursor = Cursor {
            rest: after.trim_start_matches(['#', '0', '+', '-', ' ']),
            bad_index: false,
        };
        let mut indexed = cursor.index();
        if let Some(after) = cursor.rest.strip_prefix('*') {
            cursor.rest = after;
            out.push_str("%!(BADWIDTH)");
            indexed = false;
        } else {
            cursor.number();
        }
        if let Some(after) = cursor.rest.strip_prefix('.') {
            cursor.rest = after;
            indexed = cursor.index();
            if let Some(after) = cursor.rest.strip_prefix('*') {
                cursor.rest = after;
                out.push_str("%!(BADPREC)");
                indexed = false;
            } else {
                cursor.number();
            }
        }
        if !indexed {
            cursor.index();
        }
        let mut letters = cursor.rest.chars();
        match letters.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => {
                let mark = if cursor.bad_index { "BADINDEX" } else { "MISSING" };
                out.push_str("%!");
                out.push(verb);
                out.push('(');
                out.push_str(mark);
                out.push(')');
            }
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
    out
}

/// What follows a `%`.
struct Cursor<'a> {
    rest: &'a str,
    bad_index: bool,
}

impl Cursor<'_> {
    fn number(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }

    /// Skips an argument index such as `[1]`; there are no arguments, so any is bad. Says whether it was one.
    fn index(&mut self) -> bool {
        let Some(inner) = self.rest.strip_prefix('[') else {
            return false;
        };
        self.bad_index = true;
        let closed = inner.split_once(']').filter(|_| self.rest.len() >= 3);
        let (number, after) = closed.unwrap_or(("", inner));
        self.rest = after;
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    }
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn percent_signs_leave_marks() {
        assert_eq!(message("plain"), "plain");
        assert_eq!(message("100%"), "100%!(NOVERB)");
        assert_eq!(message("50% of 10%%"), "50%!o(MISSING)f 10%");
        assert_eq!(
            message("%5.2f|%[2]d|%*d"),
            "%!f(MISSING)|%!d(BADINDEX)|%!(BADWIDTH)%!d(MISSING)"
        );
    }
}
