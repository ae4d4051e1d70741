//! Arithmetic on Kubernetes resource quantities: parse, compare, divide, print.
//!
//! Values are exact to a billionth, as in Kubernetes; text that is no quantity counts as zero, because
//! the API server has refused it long before a pod is built.
//! Upstream counterpart: `k8s.io/apimachinery/pkg/api/resource`.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

const NANO: i128 = 1_000_000_000;
const MILLI: i128 = 1_000_000;

/// The notation in which a quantity was written and is printed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Notation {
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
pub(crate) struct Amount {
    nanos: i128,
    notation: Notation,
}

impl Amount {
    /// Reads a quantity; zero if it is not one.
    pub(crate) fn of(quantity: &Quantity) -> Self {
        parse(&quantity.0).unwrap_or_default()
    }

    /// True for nothing at all.
    pub(crate) fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// The larger one; `self` if equal.
    pub(crate) fn max(self, other: Self) -> Self {
        if other.nanos > self.nanos { other } else { self }
    }

    /// Compares by value.
    pub(crate) fn exceeds(self, other: Self) -> bool {
        self.nanos > other.nanos
    }

    /// The share of one of `parts` in whole units, after rounding the amount up to whole units.
    pub(crate) fn whole_share(self, parts: usize) -> Self {
        self.share(parts, NANO)
    }

    /// The share of one of `parts` in thousandths, after rounding the amount up to thousandths.
    pub(crate) fn milli_share(self, parts: usize) -> Self {
        self.share(parts, MILLI)
    }

    fn share(self, parts: usize, unit: i128) -> Self {
        let Ok(parts) = i128::try_from(parts) else {
            return self;
        };
        let units = ceil_div(self.nanos, unit);
        Self {
            nanos: units.checked_div(parts).unwrap_or_default() * unit,
            notation: self.notation,
        }
    }

    /// Prints in the canonical form of its notation.
    pub(crate) fn quantity(self) -> Quantity {
        if self.is_zero() {
            return Quantity("0".to_owned());
        }
        let small = self.nanos.abs() < 1024 * NANO;
        Quantity(match self.notation {
            Notation::Binary if !small => print_binary(ceil_div(self.nanos, NANO)),
            Notation::Exponent => print_decimal(self.nanos, |power| format!("e{power}")),
            Notation::Binary | Notation::Decimal => print_decimal(self.nanos, decimal_suffix),
        })
    }
}

/// Division that rounds away from zero.
fn ceil_div(value: i128, by: i128) -> i128 {
    value / by + (value % by).signum()
}

fn parse(text: &str) -> Option<Amount> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number_end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at_checked(number_end)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let (multiplier, power, notation) = scale(suffix)?;
    let digits: i128 = match format!("{whole}{fraction}").trim_start_matches('0') {
        "" => 0,
        digits if digits.len() > 30 => i128::from(i64::MAX),
        digits => digits.parse().ok()?,
    };
    let shift = power + 9 - i32::try_from(fraction.len()).ok()?;
    let nanos = scaled(digits.checked_mul(multiplier)?, shift).min(i128::from(i64::MAX) * NANO);
    Some(Amount {
        nanos: if text.starts_with('-') { -nanos } else { nanos },
        notation,
    })
}

/// `value` times ten to the `power`, rounded up.
fn scaled(value: i128, power: i32) -> i128 {
    let factor = 10_i128.checked_pow(power.unsigned_abs());
    match (factor, power < 0) {
        (Some(factor), false) => value.saturating_mul(factor),
        (Some(factor), true) => ceil_div(value, factor),
        (None, false) if value != 0 => i128::MAX,
        (None, true) => value.signum(),
        (None, false) => 0,
    }
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
            Some((1, power.clamp(-100, 100), Notation::Exponent))
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

fn decimal_suffix(power: i32) -> String {
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
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(text: &str, parts: usize, whole: bool) -> String {
        let amount = Amount::of(&Quantity(text.to_owned()));
        if whole {
            amount.whole_share(parts)
        } else {
            amount.milli_share(parts)
        }
        .quantity()
        .0
    }

    #[test]
    fn shares_keep_their_notation() {
        assert_eq!(shared("2Mi", 2, true), "1Mi");
        assert_eq!(shared("1Gi", 3, true), "357913941");
        assert_eq!(shared("1k", 3, true), "333");
        assert_eq!(shared("1e3", 2, true), "500");
        assert_eq!(shared("1", 3, false), "333m");
        assert_eq!(shared("500m", 2, false), "250m");
        assert_eq!(shared("2000", 2, false), "1k");
        assert_eq!(shared("1Ki", 2, true), "512");
    }

    #[test]
    fn odd_text_is_harmless() {
        for text in [
            "",
            "x",
            "1..2",
            ".",
            "1e999999",
            "-1e-400",
            "9999999999999999999999999999999999999999E",
            "1e-",
            "-",
        ] {
            let _ = Amount::of(&Quantity(text.to_owned())).whole_share(0).quantity();
        }
        assert!(Amount::of(&Quantity("one".to_owned())).is_zero());
        assert_eq!(Amount::of(&Quantity("-1500m".to_owned())).quantity().0, "-1500m");
    }

    #[test]
    fn compares_by_value() {
        let amount = |text: &str| Amount::of(&Quantity(text.to_owned()));
        assert!(amount("1Ki").exceeds(amount("1k")));
        assert!(!amount("1").exceeds(amount("1000m")));
        assert_eq!(amount("1").max(amount("1000m")).quantity().0, "1");
    }
}
