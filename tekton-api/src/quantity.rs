//! Kubernetes resource quantities: parse, compare, print in canonical form.
//!
//! Values are exact to a billionth and cut at the largest 64-bit number, as in Kubernetes.
//! Upstream counterpart: `k8s.io/apimachinery/pkg/api/resource`.

use std::cmp::Ordering;

const NANO: i128 = 1_000_000_000;
const LARGEST: i128 = 9_223_372_036_854_775_807 * NANO;

/// The notation in which a quantity was written and is printed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// `1k`, `500m`
    #[default]
    Decimal,
    /// `1Ki`
    Binary,
    /// `1e3`
    Exponent,
}

/// A resource amount.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amount {
    /// Billionths.
    pub nanos: i128,
    /// How it is written.
    pub notation: Notation,
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Amount {}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Amount {
    /// Reads a quantity; nothing if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at_checked(end)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let (multiplier, power, notation) = scale(suffix)?;
        let fraction = fraction.trim_end_matches('0');
        let nanos = match format!("{whole}{fraction}").trim_start_matches('0') {
            "" => 0,
            digits => {
                let shift = i64::from(power) + 9 - i64::try_from(fraction.len()).ok()?;
                scaled(digits, multiplier, shift)
            }
        };
        let nanos = if text.starts_with('-') { -nanos } else { nanos };
        Some(Self { nanos, notation })
    }

    /// The canonical text in its notation.
    pub fn canonical(self) -> String {
        if self.nanos == 0 {
            return "0".to_owned();
        }
        let small = self.nanos.abs() < 1024 * NANO;
        match self.notation {
            Notation::Binary if !small => print_binary(ceil_div(self.nanos, NANO)),
            Notation::Exponent => print_decimal(self.nanos, |power| format!("e{power}")),
            Notation::Binary | Notation::Decimal => {
                print_decimal(self.nanos, |power| decimal_suffix(power).to_owned())
            }
        }
    }
}

/// The canonical form of a quantity; nothing if the text is not one.
///
/// ```
/// assert_eq!(tekton_api::quantity::canonical("1000m").as_deref(), Some("1"));
/// assert_eq!(tekton_api::quantity::canonical("lots"), None);
/// ```
pub fn canonical(text: &str) -> Option<String> {
    Amount::parse(text).map(Amount::canonical)
}

/// Division that rounds away from zero.
fn ceil_div(value: i128, by: i128) -> i128 {
    value / by + (value % by).signum()
}

/// The number of these digits times `multiplier` times ten to the `power`, rounded up and cut.
fn scaled(digits: &str, multiplier: i128, power: i64) -> i128 {
    // More than 30 digits before the point are beyond the largest value; behind it they only round up.
    let (head, dropped) = digits.split_at(digits.len().min(30));
    let Ok(value) = head.parse::<i128>() else {
        return LARGEST;
    };
    let Some(value) = value.checked_mul(multiplier) else {
        return LARGEST;
    };
    let power = power.saturating_add(i64::try_from(dropped.len()).unwrap_or(i64::MAX));
    let factor = u32::try_from(power.unsigned_abs())
        .ok()
        .and_then(|power| 10_i128.checked_pow(power));
    let value = match (factor, power < 0) {
        (Some(factor), false) => value.saturating_mul(factor),
        (Some(factor), true) => ceil_div(value, factor),
        (None, false) => LARGEST,
        (None, true) => 1,
    };
    value.min(LARGEST)
}

/// Binary multiplier, power of ten and notation of a suffix.
fn scale(suffix: &str) -> Option<(i128, i32, Notation)> {
    let decimal = |power| Some((1, power, Notation::Decimal));
    let binary = |power: u32| Some((1_i128 << (10 * power), 0, Notation::Binary));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            Some((1, power, Notation::Exponent))
        }
    }
}

fn print_binary(value: i128) -> String {
    let (mut value, mut unit) = (value, 0);
    while value % 1024 == 0 && unit < 6 {
        value /= 1024;
        unit += 1;
    }
    let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(unit).unwrap_or(&"");
    format!("{value}{suffix}")
}

fn print_decimal(nanos: i128, suffix: impl Fn(i32) -> String) -> String {
    let (mut value, mut power) = (nanos, -9);
    while value % 1000 == 0 && power < 18 {
        value /= 1000;
        power += 3;
    }
    if power == 0 {
        value.to_string()
    } else {
        format!("{value}{}", suffix(power))
    }
}

fn decimal_suffix(power: i32) -> &'static str {
    match power {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_forms() {
        for (text, expected) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1.5Gi", "1536Mi"),
            ("2000", "2k"),
            ("1e3", "1e3"),
            ("1Ki", "1Ki"),
            ("0.5Ki", "512"),
            ("100Mi", "100Mi"),
            ("0", "0"),
            ("-1500m", "-1500m"),
            ("1.10", "1100m"),
            ("+1", "1"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn odd_texts_are_harmless() {
        for text in ["", "x", "1..2", ".", "1e-", "-", "1 "] {
            assert_eq!(canonical(text), None, "{text}");
        }
        for text in ["1e999999", "-1e-400", "9999999999999999999999999999999999999999E"] {
            assert!(canonical(text).is_some(), "{text}");
        }
    }

    #[test]
    fn compares_by_value() {
        let amount = |text| Amount::parse(text).unwrap();
        assert!(amount("1Ki") > amount("1k"));
        assert_eq!(amount("1"), amount("1000m"));
    }
}
