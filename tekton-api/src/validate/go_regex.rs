//! Whether a text is a regular expression for Go.
//!
//! The syntax is nearly that of the `regex` crate, whose errors are told in Go's words.
//! Upstream counterpart: Go's `regexp/syntax`.

use regex_syntax::ast::ErrorKind;

/// Checks a pattern; the error is Go's.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    let Err(error) = regex_syntax::ast::parse::Parser::new().parse(pattern) else {
        return match regex_syntax::parse(pattern) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("error parsing regexp: {error}")),
        };
    };
    let span = error.span();
    let from = |start: usize, end: usize| pattern.get(start..end).unwrap_or_default();
    let (start, end) = (span.start.offset, span.end.offset);
    let (problem, part) = match error.kind() {
        ErrorKind::GroupUnclosed => ("missing closing )", pattern),
        ErrorKind::GroupUnopened => ("unexpected )", pattern),
        ErrorKind::ClassUnclosed => ("missing closing ]", from(start, pattern.len())),
        ErrorKind::ClassRangeInvalid | ErrorKind::ClassRangeLiteral => {
            ("invalid character class range", from(start, end))
        }
        ErrorKind::RepetitionMissing => (
            "missing argument to repetition operator",
            repetition(pattern, start),
        ),
        ErrorKind::RepetitionCountInvalid => ("invalid repeat count", from(start, end)),
        ErrorKind::EscapeUnexpectedEof => ("trailing backslash at end of expression", ""),
        ErrorKind::EscapeUnrecognized | ErrorKind::UnsupportedBackreference => {
            ("invalid escape sequence", from(start, end))
        }
        ErrorKind::GroupNameInvalid | ErrorKind::GroupNameEmpty | ErrorKind::GroupNameUnexpectedEof => {
            ("invalid named capture", from(start, end))
        }
        ErrorKind::UnsupportedLookAround | ErrorKind::FlagUnrecognized | ErrorKind::FlagUnexpectedEof => {
            ("invalid or unsupported Perl syntax", from(start, end))
        }
        ErrorKind::NestLimitExceeded(_) => ("expression nests too deeply", pattern),
        _ => {
            return Err(format!(
                "error parsing regexp: {}: `{}`",
                error.kind(),
                from(start, end)
            ));
        }
    };
    Err(format!("error parsing regexp: {problem}: `{part}`"))
}

/// The operator that starts at an offset.
fn repetition(pattern: &str, start: usize) -> &str {
    let rest = pattern.get(start..).unwrap_or_default();
    match rest.chars().next() {
        Some('{') => rest.find('}').and_then(|end| rest.get(..=end)).unwrap_or(rest),
        Some(c) => rest.get(..c.len_utf8()).unwrap_or_default(),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn errors_are_those_of_go() {
        for (pattern, problem) in [
            ("a(", "missing closing ): `a(`"),
            ("a)", "unexpected ): `a)`"),
            ("a[b", "missing closing ]: `[b`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a\\", "trailing backslash at end of expression: ``"),
        ] {
            assert_eq!(
                check(pattern),
                Err(format!("error parsing regexp: {problem}")),
                "{pattern}"
            );
        }
        assert_eq!(check("^https://.*$"), Ok(()));
    }
}
