//! Flags in the syntax of Go's `flag` package, which the programs of the steps have always understood.
//!
//! `-name value`, `-name=value` and the same with two dashes are equal; a boolean flag takes a value only
//! after `=`; the first word that is no flag ends the flags, and so does `--`.

use thiserror::Error;

/// Whether a flag needs a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FlagKind {
    /// Present or not, or with an explicit `=true` or `=false`.
    Switch,
    /// Takes the next word, or what follows `=`.
    Value,
}

/// A flag and the line about it in the usage text.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Name without dashes.
    pub name: &'static str,
    /// Whether it needs a value.
    pub kind: FlagKind,
    /// What it does.
    pub help: &'static str,
}

/// Why a command line is refused. Everything but [`FlagError::Help`] is a mistake of the caller (exit code 2).
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum FlagError {
    /// `-h` or `-help` was given.
    #[error("flag: help requested")]
    Help,
    /// There is no such flag.
    #[error("flag provided but not defined: -{0}")]
    Unknown(String),
    /// The word has dashes but no name.
    #[error("bad flag syntax: {0}")]
    Syntax(String),
    /// The value of a flag is missing.
    #[error("flag needs an argument: -{0}")]
    ValueMissing(String),
    /// The value of a switch is neither true nor false.
    #[error("invalid boolean value {value:?} for -{name}: parse error")]
    Boolean {
        /// Name of the flag.
        name: String,
        /// Value that was given.
        value: String,
    },
    /// The value does not fit the flag.
    #[error("invalid value {value:?} for flag -{name}: {cause}")]
    Invalid {
        /// Name of the flag.
        name: String,
        /// Value that was given.
        value: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// Hands each flag of `args` to `set` and returns the words behind the flags.
///
/// A switch without value is handed over as `true`. What `set` refuses is reported as [`FlagError::Invalid`].
pub fn scan(
    args: &[String],
    known: &[Flag],
    mut set: impl FnMut(&'static str, &str) -> Result<(), String>,
) -> Result<Vec<String>, FlagError> {
    let mut words = args.iter();
    loop {
        let rest = words.as_slice();
        let Some(word) = words.next() else {
            return Ok(Vec::new());
        };
        if word.len() < 2 || !word.starts_with('-') {
            return Ok(rest.to_vec());
        }
        if word == "--" {
            return Ok(words.as_slice().to_vec());
        }
        let body = word
            .strip_prefix("--")
            .or_else(|| word.strip_prefix('-'))
            .unwrap_or_default();
        if body.is_empty() || body.starts_with(['-', '=']) {
            return Err(FlagError::Syntax(word.clone()));
        }
        let (name, given) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let Some(flag) = known.iter().find(|flag| flag.name == name) else {
            return Err(if matches!(name, "h" | "help") {
                FlagError::Help
            } else {
                FlagError::Unknown(name.to_owned())
            });
        };
        let value = match (flag.kind, given) {
            (_, Some(value)) => value,
            (FlagKind::Switch, None) => "true",
            (FlagKind::Value, None) => words
                .next()
                .map(String::as_str)
                .ok_or_else(|| FlagError::ValueMissing(name.to_owned()))?,
        };
        if flag.kind == FlagKind::Switch && switch(value).is_none() {
            return Err(FlagError::Boolean {
                name: name.to_owned(),
                value: value.to_owned(),
            });
        }
        set(flag.name, value).map_err(|cause| FlagError::Invalid {
            name: name.to_owned(),
            value: value.to_owned(),
            cause,
        })?;
    }
}

/// The spellings of true and false.
pub fn switch(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// The usage text: one entry for each flag.
pub fn usage(program: &str, known: &[Flag]) -> String {
    let mut text = format!("Usage of {program}:\n");
    for flag in known {
        let value = if flag.kind == FlagKind::Value {
            " value"
        } else {
            ""
        };
        text.push_str(&format!("  -{}{value}\n    \t{}\n", flag.name, flag.help));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Flag] = &[
        Flag {
            name: "on",
            kind: FlagKind::Switch,
            help: "",
        },
        Flag {
            name: "name",
            kind: FlagKind::Value,
            help: "",
        },
    ];

    fn check(args: &[&str], flags: &str, rest: Result<&[&str], &str>) {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let mut seen = Vec::new();
        let outcome = scan(&args, KNOWN, |name, value| {
            seen.push(format!("{name}={value}"));
            Ok(())
        });
        assert_eq!(seen.join(" "), flags, "{args:?}");
        match rest {
            Ok(rest) => assert_eq!(outcome.unwrap(), rest, "{args:?}"),
            Err(text) => assert_eq!(outcome.unwrap_err().to_string(), text, "{args:?}"),
        }
    }

    #[test]
    fn syntax_is_that_of_go() {
        check(&[], "", Ok(&[]));
        check(
            &["-on", "-name", "x", "a", "-on"],
            "on=true name=x",
            Ok(&["a", "-on"]),
        );
        check(
            &["--on=F", "--name=a=b", "--", "-x"],
            "on=F name=a=b",
            Ok(&["-x"]),
        );
        check(&["-", "-on"], "", Ok(&["-", "-on"]));
        check(&["-name", "-on"], "name=-on", Ok(&[]));
        check(&["-on", "-name"], "on=true", Err("flag needs an argument: -name"));
        check(&["-what"], "", Err("flag provided but not defined: -what"));
        check(&["---on"], "", Err("bad flag syntax: ---on"));
        check(&["-=x"], "", Err("bad flag syntax: -=x"));
        check(
            &["-on=perhaps"],
            "",
            Err("invalid boolean value \"perhaps\" for -on: parse error"),
        );
        check(&["-h"], "", Err("flag: help requested"));
    }
}
