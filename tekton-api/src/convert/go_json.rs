//! Details of Go's JSON: order and escapes of what is written, words for what cannot be read.

use serde_json::Value;

/// Members of steps, probes, ports and hooks in the order in which Go writes them. Members that are in none
/// of these structs come last, by name.
const ORDER: &[&str] = &[
    "deprecatedSteps",
    "deprecatedStepTemplate",
    "name",
    "ports",
    "hostPort",
    "containerPort",
    "protocol",
    "hostIP",
    "resources",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "postStart",
    "preStop",
    "stopSignal",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "stdin",
    "stdinOnce",
    "tty",
    "exec",
    "httpGet",
    "tcpSocket",
    "grpc",
    "sleep",
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
    "terminationGracePeriodSeconds",
    "command",
    "path",
    "port",
    "host",
    "scheme",
    "httpHeaders",
    "value",
    "service",
    "seconds",
];

/// The JSON of a value whose members stand in Go's order; those of the value itself stand by name.
pub(super) fn ordered(value: &Value) -> String {
    let mut text = String::new();
    write(value, true, &mut text);
    escaped(&text)
}

fn write(value: &Value, by_name: bool, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if !by_name {
                let rank = |name: &str| {
                    ORDER
                        .iter()
                        .position(|known| *known == name)
                        .unwrap_or(ORDER.len())
                };
                members.sort_by_key(|(name, _)| rank(name));
            }
            text.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(member, false, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, false, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// JSON with those characters escaped that Go escapes because of HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escaped.push_str(&format_escape(c)),
            c => escaped.push(c),
        }
    }
    escaped
}

fn format_escape(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

/// What Go says about a text that is not JSON; nothing if it is.
pub(super) fn syntax_error(text: &str) -> Option<String> {
    let mut reader = Reader { rest: text };
    reader.document().err().map(|error| match error {
        Problem::End => "unexpected end of JSON input".to_owned(),
        Problem::At(c, place) => format!("invalid character {} {place}", quoted(c)),
        Problem::Depth => "exceeded max depth".to_owned(),
    })
}

/// Where a text stops being JSON.
enum Problem {
    End,
    At(char, String),
    Depth,
}

/// A character as Go shows it.
fn quoted(c: char) -> String {
    match c {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        c => {
            let text = crate::quote::quote(&c.to_string());
            let inner = text
                .strip_prefix('"')
                .and_then(|text| text.strip_suffix('"'))
                .unwrap_or(&text);
            format!("'{inner}'")
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

/// Deepest nesting that Go reads.
const DEEPEST: usize = 10_000;
/// Deepest nesting that is followed here; anything deeper is refused.
const FOLLOWED: usize = 120;

impl Reader<'_> {
    fn document(&mut self) -> Result<(), Problem> {
        self.value(0)?;
        self.space();
        match self.rest.chars().next() {
            None => Ok(()),
            Some(c) => Err(at(c, "after top-level value")),
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn next(&mut self) -> Result<char, Problem> {
        let mut chars = self.rest.chars();
        let c = chars.next().ok_or(Problem::End)?;
        self.rest = chars.as_str();
        Ok(c)
    }

    fn value(&mut self, depth: usize) -> Result<(), Problem> {
        if depth > FOLLOWED.min(DEEPEST) {
            return Err(Problem::Depth);
        }
        self.space();
        match self.next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' => self.string(),
            't' => self.literal("true", "rue"),
            'f' => self.literal("false", "alse"),
            'n' => self.literal("null", "ull"),
            '-' => match self.next()? {
                c @ '0'..='9' => self.number(c),
                c => Err(at(c, "in numeric literal")),
            },
            c @ '0'..='9' => self.number(c),
            c => Err(at(c, "looking for beginning of value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Problem> {
        self.space();
        if let Some(rest) = self.rest.strip_prefix('}') {
            self.rest = rest;
            return Ok(());
        }
        loop {
            self.space();
            match self.next()? {
                '"' => self.string()?,
                c => return Err(at(c, "looking for beginning of object key string")),
            }
            self.space();
            match self.next()? {
                ':' => self.value(depth + 1)?,
                c => return Err(at(c, "after object key")),
            }
            self.space();
            match self.next()? {
                ',' => {}
                '}' => return Ok(()),
                c => return Err(at(c, "after object key:value pair")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Problem> {
        self.space();
        if let Some(rest) = self.rest.strip_prefix(']') {
            self.rest = rest;
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            self.space();
            match self.next()? {
                ',' => {}
                ']' => return Ok(()),
                c => return Err(at(c, "after array element")),
            }
        }
    }

    fn string(&mut self) -> Result<(), Problem> {
        loop {
            match self.next()? {
                '"' => return Ok(()),
                '\\' => match self.next()? {
                    'b' | 'f' | 'n' | 'r' | 't' | '\\' | '/' | '"' => {}
                    'u' => {
                        for _ in 0..4 {
                            let c = self.next()?;
                            if !c.is_ascii_hexdigit() {
                                return Err(at(c, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    c => return Err(at(c, "in string escape code")),
                },
                c if c < ' ' => return Err(at(c, "in string literal")),
                _ => {}
            }
        }
    }

    fn literal(&mut self, word: &str, rest: &str) -> Result<(), Problem> {
        for wanted in rest.chars() {
            let c = self.next()?;
            if c != wanted {
                return Err(Problem::At(
                    c,
                    format!("in literal {word} (expecting {})", quoted(wanted)),
                ));
            }
        }
        Ok(())
    }

    fn number(&mut self, first: char) -> Result<(), Problem> {
        if first != '0' {
            self.digits();
        }
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if let Some(rest) = self.rest.strip_prefix(['e', 'E']) {
            self.rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn digits(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }

    fn some_digits(&mut self, place: &str) -> Result<(), Problem> {
        match self.next()? {
            '0'..='9' => {
                self.digits();
                Ok(())
            }
            c => Err(at(c, place)),
        }
    }
}

fn at(c: char, place: &str) -> Problem {
    Problem::At(c, place.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn problems_are_told_in_go_words() {
        for (text, problem) in [
            (
                "{oops",
                "invalid character 'o' looking for beginning of object key string",
            ),
            ("", "unexpected end of JSON input"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            (
                "{\"a\":1 \"b\"}",
                "invalid character '\"' after object key:value pair",
            ),
            ("nul1", "invalid character '1' in literal null (expecting 'l')"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("-x", "invalid character 'x' in numeric literal"),
        ] {
            assert_eq!(syntax_error(text).as_deref(), Some(problem), "{text}");
        }
    }

    #[test]
    fn members_stand_in_the_order_of_go() {
        let steps =
            json!({"tpl": {"deprecatedSteps": [{"tty": true, "resources": {}, "name": "<"}]}, "name": {}});
        assert_eq!(
            ordered(&steps),
            r#"{"name":{},"tpl":{"deprecatedSteps":[{"name":"\u003c","resources":{},"tty":true}]}}"#
        );
    }

    proptest! {
        #[test]
        fn agrees_with_serde_on_what_is_json(text in "[\\[\\]{}:,\"a1.e\\\\ -]{0,12}|[{]\"[a-z]{1,3}\":[0-9tfn\\[\\]]{0,4}[}]") {
            // Numbers that do not fit are JSON all the same.
            let numbers = text.contains('e') || text.len() > 300;
            prop_assume!(!numbers);
            prop_assert_eq!(syntax_error(&text).is_none(), serde_json::from_str::<Value>(&text).is_ok());
        }
    }
}
