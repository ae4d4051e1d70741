//! Durations in Go's notation, such as `1h30m0s`.
//!
//! Upstream counterpart: Go's `time.ParseDuration` and `Duration.String`, behind `metav1.Duration`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A span of time in nanoseconds, possibly negative.
///
/// ```
/// use tekton_api::duration::Duration;
///
/// let hour: Duration = "60m".parse()?;
/// assert_eq!(hour, Duration::from_secs(3600));
/// assert_eq!(hour.to_string(), "1h0m0s");
/// # Ok::<(), tekton_api::duration::ParseDurationError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(i64);

/// Why a text is not a duration; the text is Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseDurationError {
    /// Not of the form `[-+](NUMBER UNIT)+`, or too long a span.
    #[error("time: invalid duration {}", quoted(.0))]
    Invalid(String),
    /// A number without a unit.
    #[error("time: missing unit in duration {}", quoted(.0))]
    MissingUnit(String),
    /// A unit other than ns, us, ms, s, m, h.
    #[error("time: unknown unit {} in duration {}", quoted(.unit), quoted(.text))]
    UnknownUnit {
        /// The unit found.
        unit: String,
        /// The whole text.
        text: String,
    },
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of so many nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A span of so many seconds, cut to the longest one that Go knows (292 years).
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// Length in nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whole seconds, rounded towards zero.
    pub const fn as_secs(self) -> i64 {
        self.0 / 1_000_000_000
    }

    /// Length in seconds.
    #[expect(clippy::cast_precision_loss, reason = "Go's Duration.Seconds loses the same")]
    pub fn as_secs_f64(self) -> f64 {
        let second = 1_000_000_000;
        (self.0 / second) as f64 + (self.0 % second) as f64 / 1e9
    }

    /// Whether the span is empty.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether the span points back in time.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// The sum, cut to the longest span.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, cut to the longest span.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The standard library's duration, zero for negative spans.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(u64::try_from(self.0).unwrap_or(0))
    }
}

impl From<std::time::Duration> for Duration {
    fn from(duration: std::time::Duration) -> Self {
        Self(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl From<Duration> for jiff::SignedDuration {
    fn from(duration: Duration) -> Self {
        Self::from_nanos(duration.0)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let nanos = self.0.unsigned_abs();
        if nanos < NANOS_PER_SECOND {
            let (unit, digits) = match nanos {
                0..1_000 => ("ns", 0),
                1_000..1_000_000 => ("µs", 3),
                _ => ("ms", 6),
            };
            return write!(f, "{}{unit}", decimal(nanos, digits));
        }
        let minutes = nanos / (60 * NANOS_PER_SECOND);
        let (hours, minutes, rest) = (minutes / 60, minutes % 60, nanos % (60 * NANOS_PER_SECOND));
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if hours > 0 || minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        write!(f, "{}s", decimal(rest, 9))
    }
}

/// `value` with the decimal point `digits` from the right, without trailing zeros.
fn decimal(value: u64, digits: u32) -> String {
    let unit = 10_u64.pow(digits);
    let (whole, fraction) = (value / unit, value % unit);
    if fraction == 0 {
        return whole.to_string();
    }
    let fraction = format!("{fraction:0width$}", width = digits as usize);
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

impl FromStr for Duration {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || ParseDurationError::Invalid(text.to_owned());
        let (negative, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        if rest == "0" {
            return Ok(Self::ZERO);
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (value, after) = component(text, rest)?;
            total = total
                .checked_add(value)
                .filter(|total| *total <= 1 << 63)
                .ok_or_else(invalid)?;
            rest = after;
        }
        if negative {
            return Ok(Self(0_i64.saturating_sub_unsigned(total)));
        }
        i64::try_from(total).map(Self).map_err(|_| invalid())
    }
}

/// The first number with its unit in nanoseconds, and what follows it.
fn component<'a>(text: &str, rest: &'a str) -> Result<(u64, &'a str), ParseDurationError> {
    let invalid = || ParseDurationError::Invalid(text.to_owned());
    let (whole, rest) = digits(rest);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let end = rest
        .find(|c: char| c == '.' || c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let nanos: u64 = match unit {
        "" => return Err(ParseDurationError::MissingUnit(text.to_owned())),
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS_PER_SECOND,
        "m" => 60 * NANOS_PER_SECOND,
        "h" => 3600 * NANOS_PER_SECOND,
        _ => {
            return Err(ParseDurationError::UnknownUnit {
                unit: unit.to_owned(),
                text: text.to_owned(),
            });
        }
    };
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| invalid())?
    };
    let value = whole
        .checked_mul(nanos)
        .filter(|value| *value <= 1 << 63)
        .ok_or_else(invalid)?;
    let value = value
        .checked_add(fraction_of(fraction, nanos))
        .filter(|value| *value <= 1 << 63)
        .ok_or_else(invalid)?;
    Ok((value, rest))
}

/// The leading ASCII digits and what follows them.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The part of `unit` given by the digits behind the point, cut to whole nanoseconds. As in Go the
/// product is computed in floating point, and digits that no longer fit 63 bits are ignored.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "this is Go's arithmetic, and the result is less than the unit"
)]
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1_f64);
    for digit in digits.bytes() {
        if value > ((1 << 63) - 1) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > 1 << 63 {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// `text` in quotes as Go's time package writes it: quotes and backslashes are escaped, and so is every
/// byte outside printable ASCII.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            ' '..='~' => quoted.push(c),
            other => {
                let mut buffer = [0; 4];
                quoted.extend(
                    other
                        .encode_utf8(&mut buffer)
                        .bytes()
                        .map(|byte| format!("\\x{byte:02x}")),
                );
            }
        }
    }
    quoted.push('"');
    quoted
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_go() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (245_000_000_000, "4m5s"),
            (245_001_000_000, "4m5.001s"),
            (18_367_001_000_000, "5h6m7.001s"),
            (480_000_000_001, "8m0.000000001s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(Duration::from_nanos(nanos).to_string(), text);
            assert_eq!(text.parse(), Ok(Duration::from_nanos(nanos)));
        }
    }

    #[test]
    fn parses_as_go() {
        let nanos = |text: &str| text.parse::<Duration>().map(Duration::as_nanos);
        assert_eq!(nanos("-.5s"), Ok(-500_000_000));
        assert_eq!(nanos("+1h1m1.5s"), Ok(3_661_500_000_000));
        assert_eq!(nanos("1.0000000000000000000000001h"), Ok(3_600_000_000_000));
        assert_eq!(nanos("0"), Ok(0));
        assert_eq!(nanos("").unwrap_err().to_string(), "time: invalid duration \"\"");
        assert_eq!(
            nanos("3").unwrap_err().to_string(),
            "time: missing unit in duration \"3\""
        );
        assert_eq!(
            nanos("3d").unwrap_err().to_string(),
            "time: unknown unit \"d\" in duration \"3d\""
        );
        assert_eq!(
            nanos("9999999999h").unwrap_err().to_string(),
            "time: invalid duration \"9999999999h\""
        );
    }
}
