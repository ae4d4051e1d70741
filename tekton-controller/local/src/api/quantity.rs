//! Amounts like `500m` or `64Mi`, for comparing and adding.

/// The amount in thousandths, rounded up; `None` for what is no amount.
pub(crate) fn milli(text: &str) -> Option<i128> {
    let split = text
        .find(|letter: char| !(letter.is_ascii_digit() || "+-.".contains(letter)))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let (factor, divisor): (i128, i128) = match suffix {
        "n" => (1, 1_000_000),
        "u" => (1, 1000),
        "m" => (1, 1),
        "" => (1000, 1),
        "k" => (1_000_000, 1),
        "M" => (1_000_000_000, 1),
        "G" => (1_000_000_000_000, 1),
        "T" => (1_000_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000_000, 1),
        "Ki" => (1000 << 10, 1),
        "Mi" => (1000 << 20, 1),
        "Gi" => (1000 << 30, 1),
        "Ti" => (1000 << 40, 1),
        "Pi" => (1000 << 50, 1),
        "Ei" => (1000 << 60, 1),
        exponent => {
            let power: u32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            (10_i128.checked_pow(power)?.checked_mul(1000)?, 1)
        }
    };
    let negative = number.starts_with('-');
    let (whole, fraction) = number
        .trim_start_matches(['+', '-'])
        .split_once('.')
        .unwrap_or((number.trim_start_matches(['+', '-']), ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 18 {
        return None;
    }
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_i128
        .checked_pow(u32::try_from(fraction.len()).ok()?)?
        .checked_mul(divisor)?;
    let scaled = digits.checked_mul(factor)?;
    let rounded = scaled.div_euclid(scale) + i128::from(scaled.rem_euclid(scale) != 0);
    Some(if negative { -rounded } else { rounded })
}

#[cfg(test)]
mod tests {
    use super::milli;

    #[test]
    fn amounts_are_compared_across_suffixes() {
        assert_eq!(milli("500m"), Some(500));
        assert_eq!(milli("0.5"), Some(500));
        assert_eq!(milli("1Ki"), Some(1_024_000));
        assert_eq!(milli("1.5Gi"), milli("1536Mi"));
        assert_eq!(milli("1e3"), milli("1k"));
        assert_eq!(milli("-1"), Some(-1000));
        assert_eq!(milli("abc"), None);
        assert_eq!(milli(""), None);
    }
}
