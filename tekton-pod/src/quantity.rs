//! Arithmetic on Kubernetes resource quantities: compare, divide, print.
//!
//! Text that is no quantity counts as zero, because the API server has refused it long before a pod is built.
//! Upstream counterpart: `k8s.io/apimachinery/pkg/api/resource`.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use tekton_api::quantity;

const NANO: i128 = 1_000_000_000;
const MILLI: i128 = 1_000_000;

/// A resource amount.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amount(quantity::Amount);

impl Amount {
    /// Reads a quantity; zero if it is not one.
    pub(crate) fn of(quantity: &Quantity) -> Self {
        Self(quantity::Amount::parse(&quantity.0).unwrap_or_default())
    }

    /// True for nothing at all.
    pub(crate) fn is_zero(self) -> bool {
        self.0.nanos == 0
    }

    /// The larger one; `self` if equal.
    pub(crate) fn max(self, other: Self) -> Self {
        if other.exceeds(self) { other } else { self }
    }

    /// Compares by value.
    pub(crate) fn exceeds(self, other: Self) -> bool {
        self.0 > other.0
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
        let units = self.0.nanos / unit + (self.0.nanos % unit).signum();
        Self(quantity::Amount {
            nanos: units.checked_div(parts).unwrap_or_default() * unit,
            notation: self.0.notation,
        })
    }

    /// Prints in the canonical form of its notation.
    pub(crate) fn quantity(self) -> Quantity {
        Quantity(self.0.canonical())
    }
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
