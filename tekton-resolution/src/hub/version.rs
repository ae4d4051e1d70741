//! Versions and constraints as the hub resolver understands them (HashiCorp's rules).
//!
//! Upstream counterpart: `github.com/hashicorp/go-version`, used by `pkg/resolution/resolver/hub`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

const VERSION: &str = r"v?([0-9]+(?:\.[0-9]+)*?)(?:-([0-9]+[0-9A-Za-z\-~]*(?:\.[0-9A-Za-z\-~]+)*)|-?([A-Za-z\-~]+[0-9A-Za-z\-~]*(?:\.[0-9A-Za-z\-~]+)*))?(?:\+([0-9A-Za-z\-~]+(?:\.[0-9A-Za-z\-~]+)*))?";
static WHOLE_VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("^{VERSION}$")).ok());
static CONSTRAINT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"^\s*(=|!=|>|<|>=|<=|~>)?\s*({VERSION})\s*$")).ok());

/// A parsed version: at least three numbers, perhaps a prerelease and metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    segments: Vec<i64>,
    given: usize,
    prerelease: String,
    metadata: String,
}

impl Version {
    /// Parses a version; `None` if it is malformed or a number is too large.
    pub fn parse(text: &str) -> Option<Self> {
        let captures = WHOLE_VERSION.as_ref()?.captures(text)?;
        let group = |index: usize| {
            captures
                .get(index)
                .map(|group| group.as_str())
                .unwrap_or_default()
        };
        let mut segments = group(1)
            .split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<Vec<i64>>>()?;
        let given = segments.len();
        while segments.len() < 3 {
            segments.push(0);
        }
        let prerelease = if group(2).is_empty() { group(3) } else { group(2) };
        Some(Self {
            segments,
            given,
            prerelease: prerelease.to_owned(),
            metadata: group(4).to_owned(),
        })
    }

    fn compare(&self, other: &Self) -> Ordering {
        let longest = self.segments.len().max(other.segments.len());
        let padded = |version: &Self| {
            let mut segments = version.segments.clone();
            segments.resize(longest, 0);
            segments
        };
        padded(self)
            .cmp(&padded(other))
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }

    /// Whether this version is newer.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        self.compare(other) == Ordering::Greater
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.segments.iter().map(i64::to_string).collect();
        f.write_str(&numbers.join("."))?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

fn compare_prereleases(one: &str, other: &str) -> Ordering {
    match (one.is_empty(), other.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut ones, mut others) = (one.split('.'), other.split('.'));
    loop {
        let order = match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (Some(_), None) => return Ordering::Greater,
            (None, Some(_)) => return Ordering::Less,
            (Some(a), Some(b)) => match (a.parse::<i64>(), b.parse::<i64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Pessimistic,
}

/// A list of constraints, all of which must hold.
#[derive(Clone, Debug)]
pub struct Constraints(Vec<(Operator, Version)>);

impl Constraints {
    /// Parses constraints separated by commas; `None` if one is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        text.split(',')
            .map(constraint)
            .collect::<Option<Vec<_>>>()
            .map(Self)
    }

    /// Whether a version satisfies all of them.
    pub fn allow(&self, version: &Version) -> bool {
        self.0
            .iter()
            .all(|(operator, wanted)| allows(*operator, wanted, version))
    }
}

fn constraint(text: &str) -> Option<(Operator, Version)> {
    let captures = CONSTRAINT.as_ref()?.captures(text)?;
    let operator = match captures.get(1).map(|group| group.as_str()).unwrap_or_default() {
        "" | "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        "<" => Operator::Less,
        ">=" => Operator::GreaterEqual,
        "<=" => Operator::LessEqual,
        _ => Operator::Pessimistic,
    };
    Some((operator, Version::parse(captures.get(2)?.as_str())?))
}

fn allows(operator: Operator, wanted: &Version, version: &Version) -> bool {
    let order = version.compare(wanted);
    match operator {
        Operator::Equal => order == Ordering::Equal && version.metadata == wanted.metadata,
        Operator::NotEqual => order != Ordering::Equal || version.metadata != wanted.metadata,
        Operator::Greater => prerelease_fits(version, wanted) && order == Ordering::Greater,
        Operator::Less => prerelease_fits(version, wanted) && order == Ordering::Less,
        Operator::GreaterEqual => prerelease_fits(version, wanted) && order != Ordering::Less,
        Operator::LessEqual => prerelease_fits(version, wanted) && order != Ordering::Greater,
        Operator::Pessimistic => pessimistic(version, wanted),
    }
}

/// A prerelease satisfies only constraints that name a prerelease of the same numbers.
fn prerelease_fits(version: &Version, wanted: &Version) -> bool {
    match (version.prerelease.is_empty(), wanted.prerelease.is_empty()) {
        (false, false) => version.segments == wanted.segments,
        (false, true) => false,
        (true, _) => true,
    }
}

/// `~> 1.2.3` allows 1.2.x from 1.2.3 on: all but the last given number are fixed.
fn pessimistic(version: &Version, wanted: &Version) -> bool {
    let fixed = wanted.given.saturating_sub(1);
    prerelease_fits(version, wanted)
        && (wanted.prerelease.is_empty() || !version.prerelease.is_empty())
        && version.compare(wanted) != Ordering::Less
        && wanted.segments.len() <= version.segments.len()
        && version
            .segments
            .iter()
            .take(fixed)
            .eq(wanted.segments.iter().take(fixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(constraint: &str, version: &str) -> bool {
        Constraints::parse(constraint)
            .unwrap()
            .allow(&Version::parse(version).unwrap())
    }

    #[test]
    fn constraints() {
        assert!(allows(">= 0.1, < 0.3", "0.2.5") && !allows(">= 0.1, < 0.3", "0.3.0"));
        assert!(allows("~> 1.2.3", "1.2.9") && !allows("~> 1.2.3", "1.3.0"));
        assert!(allows("0.1", "0.1.0") && !allows("> 0", "1.0.0-rc1"));
        assert!(Constraints::parse("latest").is_none() && Constraints::parse(">= x").is_none());
    }

    #[test]
    fn versions() {
        assert_eq!(Version::parse("v1.2").unwrap().to_string(), "1.2.0");
        assert!(
            Version::parse("1.0.0")
                .unwrap()
                .is_newer_than(&Version::parse("1.0.0-rc.1").unwrap())
        );
        assert!(Version::parse("next").is_none() && Version::parse("99999999999999999999").is_none());
    }
}
