//! Whether a text is a regular expression for Go.
//!
//! The syntax is nearly that of the `regex` crate, whose errors are told in Go's words.
//! Upstream counterpart: Go's `regexp/syntax`.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, ErrorKind, RepetitionKind, RepetitionRange, Visitor, visit};

/// Go repeats a thing no more often than this.
const MOST_REPETITIONS: u32 = 1_000;

/// Refuses repetitions that Go does not know.
struct Repetitions<'a> {
    pattern: &'a str,
}

impl<'a> Visitor for Repetitions<'a> {
    type Output = ();
    type Err = (&'static str, &'a str);

    fn finish(self) -> Result<(), Self::Err> {
        Ok(())
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        let Ast::Repetition(outer) = ast else {
            return Ok(());
        };
        let part = |start: usize, end: usize| self.pattern.get(start..end).unwrap_or_default();
        let operator = outer.op.span;
        if let Ast::Repetition(inner) = &*outer.ast {
            let both = part(inner.op.span.start.offset, operator.end.offset);
            return Err(("invalid nested repetition operator", both));
        }
        let most = match &outer.op.kind {
            RepetitionKind::Range(RepetitionRange::Exactly(count) | RepetitionRange::AtLeast(count)) => {
                *count
            }
            RepetitionKind::Range(RepetitionRange::Bounded(_, most)) => *most,
            _ => 0,
        };
        if most > MOST_REPETITIONS {
            return Err((
                "invalid repeat count",
                part(operator.start.offset, operator.end.offset),
            ));
        }
        Ok(())
    }
}

/// Whether Go takes for plain text, or quotes, what the `regex` crate stumbles over.
fn is_fine_for_go(pattern: &str, kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::RepetitionCountUnclosed
        | ErrorKind::RepetitionCountDecimalEmpty
        | ErrorKind::DecimalEmpty => true,
        ErrorKind::EscapeUnrecognized => pattern.contains("\\Q"),
        ErrorKind::ClassUnclosed => Parser::new().parse(&with_plain_brackets(pattern)).is_ok(),
        _ => false,
    }
}

/// The pattern with every bracket inside a class escaped, for Go knows no classes within classes.
fn with_plain_brackets(pattern: &str) -> String {
    let mut plain = String::new();
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                plain.push(c);
                plain.extend(chars.next());
                continue;
            }
            '[' if in_class && chars.peek() != Some(&':') => plain.push('\\'),
            '[' if !in_class => {
                in_class = true;
                plain.push(c);
                if chars.peek() == Some(&'^') {
                    plain.extend(chars.next());
                }
                // A bracket that comes first is plain text.
                if chars.peek() == Some(&']') {
                    plain.push('\\');
                    plain.extend(chars.next());
                }
                continue;
            }
            ']' => in_class = false,
            _ => {}
        }
        plain.push(c);
    }
    plain
}

/// Checks a pattern; the error is Go's.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    let error = match Parser::new().parse(pattern) {
        Ok(ast) => {
            if let Err((problem, span)) = visit(&ast, Repetitions { pattern }) {
                return Err(format!("error parsing regexp: {problem}: `{span}`"));
            }
            return match regex_syntax::parse(pattern) {
                Ok(_) => Ok(()),
                Err(error) => Err(format!("error parsing regexp: {error}")),
            };
        }
        Err(error) if is_fine_for_go(pattern, error.kind()) => return Ok(()),
        Err(error) => error,
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
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("a\\", "trailing backslash at end of expression: ``"),
        ] {
            assert_eq!(
                check(pattern),
                Err(format!("error parsing regexp: {problem}")),
                "{pattern}"
            );
        }
        for pattern in [
            "^https://.*$",
            "a{",
            "a{,2}",
            "[[]",
            "[a[b]",
            "\\Qa(\\E",
            "(?i)a+?",
        ] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
    }
}
