//! Durations in Go's text form (`1h2m3.5s`), as the flags of the steps carry them.
//!
//! Upstream counterpart: `time.ParseDuration` and `time.Duration.String`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

const SECOND: u64 = 1_000_000_000;

/// A span of time in nanoseconds, which may be negative.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct GoDuration(pub i64);

/// The text is no duration.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("invalid duration")]
pub struct InvalidDuration;

impl GoDuration {
    /// The duration, if it is above zero.
    pub fn positive(self) -> Option<Duration> {
        u64::try_from(self.0)
            .ok()
            .filter(|nanos| *nanos > 0)
            .map(Duration::from_nanos)
    }
}

impl FromStr for GoDuration {
    type Err = InvalidDuration;

    fn from_str(text: &str) -> Result<Self, InvalidDuration> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits == "0" {
            return Ok(Self(0));
        }
        if digits.is_empty() {
            return Err(InvalidDuration);
        }
        let (mut rest, mut total) = (digits, 0_u64);
        while !rest.is_empty() {
            let (nanos, tail) = component(rest)?;
            total = total
                .checked_add(nanos)
                .filter(|total| *total <= 1 << 63)
                .ok_or(InvalidDuration)?;
            rest = tail;
        }
        let total = i128::from(total);
        i64::try_from(if negative { -total } else { total })
            .map(Self)
            .map_err(|_| InvalidDuration)
    }
}

/// The first number with its unit, and what follows.
fn component(text: &str) -> Result<(u64, &str), InvalidDuration> {
    let number_end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or(InvalidDuration)?;
    let (number, rest) = text.split_at(number_end);
    let unit_end = rest
        .find(|c: char| c.is_ascii_digit() || c == '.')
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(InvalidDuration);
    }
    let unit: u64 = match unit {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        _ => return Err(InvalidDuration),
    };
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| InvalidDuration)?
    };
    let (part, power) = fraction
        .bytes()
        .take(18)
        .fold((0_u128, 1_u128), |(part, power), digit| {
            (part * 10 + u128::from(digit - b'0'), power * 10)
        });
    let part = u64::try_from(part * u128::from(unit) / power).map_err(|_| InvalidDuration)?;
    let nanos = whole
        .checked_mul(unit)
        .and_then(|nanos| nanos.checked_add(part))
        .ok_or(InvalidDuration)?;
    Ok((nanos, rest))
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.unsigned_abs();
        if nanos == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        if nanos < SECOND {
            return match nanos {
                0..1_000 => write!(f, "{nanos}ns"),
                1_000..1_000_000 => write!(f, "{}\u{b5}s", decimal(nanos, 1_000)),
                _ => write!(f, "{}ms", decimal(nanos, 1_000_000)),
            };
        }
        let (minutes, rest) = (nanos / (60 * SECOND), nanos % (60 * SECOND));
        let (hours, minutes) = (minutes / 60, minutes % 60);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if hours > 0 || minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        write!(f, "{}s", decimal(rest, SECOND))
    }
}

/// `value / unit` without trailing zeros.
fn decimal(value: u64, unit: u64) -> String {
    let (whole, rest) = (value / unit, value % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_go() {
        for (text, nanos, printed) in [
            ("0", 0, "0s"),
            ("1s", 1_000_000_000, "1s"),
            ("90m", 5_400_000_000_000, "1h30m0s"),
            ("1.5h", 5_400_000_000_000, "1h30m0s"),
            ("-1.25ms", -1_250_000, "-1.25ms"),
            ("+3us", 3_000, "3\u{b5}s"),
            (".5s", 500_000_000, "500ms"),
            ("1h2m3.004s", 3_723_004_000_000, "1h2m3.004s"),
            ("7ns", 7, "7ns"),
        ] {
            let parsed: GoDuration = text.parse().unwrap();
            assert_eq!(
                (parsed.0, parsed.to_string().as_str()),
                (nanos, printed),
                "{text}"
            );
        }
        for text in ["", "-", "1", "s", ".s", "1.2.3s", "1d", "99999999999h", "1 s"] {
            assert_eq!(text.parse::<GoDuration>(), Err(InvalidDuration), "{text}");
        }
    }
}
