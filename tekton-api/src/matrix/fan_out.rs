//! Combinations of a matrix, and their number.

use std::collections::BTreeMap;

use crate::v1::{Matrix, Param};

/// Values by the name of their parameter.
type Combination = BTreeMap<String, String>;

impl Matrix {
    /// The parameters of each run, in the order of the runs; within a run they are sorted by name.
    ///
    /// The first parameter varies fastest. A combination under `include` extends every generated one that it
    /// does not contradict, and becomes one of its own if it shares no value with any.
    ///
    /// ```
    /// use tekton_api::v1::{Matrix, Param};
    ///
    /// let matrix = Matrix { params: vec![Param::new("os", ["linux", "mac"])], include: vec![] };
    /// assert_eq!(matrix.fan_out(), [[Param::new("os", "linux")], [Param::new("os", "mac")]]);
    /// ```
    pub fn fan_out(&self) -> Vec<Vec<Param>> {
        let included = self.included();
        if !self.has_params() {
            return params(included);
        }
        let mut combinations = Vec::new();
        for param in &self.params {
            combinations = distributed(&combinations, param);
        }
        for combination in &mut combinations {
            for extension in &included {
                if !contradicts(combination, extension) {
                    combination.extend(extension.clone());
                }
            }
        }
        for combination in included {
            if !combination.is_empty() && !combinations.iter().any(|other| shares_value(other, &combination))
            {
                combinations.push(combination);
            }
        }
        params(combinations)
    }

    /// The number of combinations announced, which admission and the results of matrixed tasks rely on. It
    /// counts combinations under `include` more coarsely than [`Matrix::fan_out`] makes them.
    pub fn count_combinations(&self) -> i64 {
        let length = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        if !self.has_params() {
            return length(self.include.len());
        }
        let generated = self
            .params
            .iter()
            .map(|param| param.value.as_array().map_or(0, <[String]>::len))
            .filter(|items| *items > 0)
            .fold(1_i64, |count, items| count.saturating_mul(length(items)));
        generated.saturating_add(length(self.announced_from_include()))
    }

    /// All parameters: those combined and those of each combination under `include`.
    pub fn all_params(&self) -> impl Iterator<Item = &Param> {
        self.params
            .iter()
            .chain(self.include.iter().flat_map(|include| &include.params))
    }

    /// How many values under `include` are new to their parameter, up to the first known one of each
    /// combination.
    fn announced_from_include(&self) -> usize {
        let values: BTreeMap<&str, &[String]> = self
            .params
            .iter()
            .map(|param| (param.name.as_str(), param.value.as_array().unwrap_or_default()))
            .collect();
        let new_values = |params: &[Param]| {
            params
                .iter()
                .filter_map(|param| {
                    values
                        .get(param.name.as_str())
                        .map(|values| (values, text(param)))
                })
                .take_while(|(values, value)| !values.contains(value))
                .count()
        };
        self.include
            .iter()
            .map(|include| new_values(&include.params))
            .sum()
    }

    fn included(&self) -> Vec<Combination> {
        let combination = |params: &[Param]| {
            params
                .iter()
                .map(|param| (param.name.clone(), text(param)))
                .collect()
        };
        self.include
            .iter()
            .map(|include| combination(&include.params))
            .collect()
    }
}

/// The parameter's text; lists and maps count as empty.
fn text(param: &Param) -> String {
    param.value.as_str().unwrap_or_default().to_owned()
}

/// One copy of the combinations for each item of the parameter.
fn distributed(combinations: &[Combination], param: &Param) -> Vec<Combination> {
    let with = |combination: &Combination, item: &String| {
        let mut extended = combination.clone();
        extended.insert(param.name.clone(), item.clone());
        extended
    };
    let items = param.value.as_array().unwrap_or_default();
    if combinations.is_empty() {
        return items.iter().map(|item| with(&Combination::new(), item)).collect();
    }
    items
        .iter()
        .flat_map(|item| {
            combinations
                .iter()
                .map(move |combination| with(combination, item))
        })
        .collect()
}

fn contradicts(combination: &Combination, extension: &Combination) -> bool {
    extension
        .iter()
        .any(|(name, value)| combination.get(name).is_some_and(|other| other != value))
}

fn shares_value(combination: &Combination, other: &Combination) -> bool {
    other
        .iter()
        .any(|(name, value)| combination.get(name) == Some(value))
}

fn params(combinations: Vec<Combination>) -> Vec<Vec<Param>> {
    let params = |combination: Combination| {
        combination
            .into_iter()
            .map(|(name, value)| Param::new(name, value))
            .collect()
    };
    combinations.into_iter().map(params).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::v1::ParamValue;

    #[test]
    fn huge_matrices_are_counted_without_overflow() {
        let items = vec!["x".to_owned(); 1000];
        let params = (0..10)
            .map(|index| Param::new(format!("p{index}"), items.clone()))
            .collect();
        assert_eq!(
            Matrix {
                params,
                include: vec![]
            }
            .count_combinations(),
            i64::MAX
        );
    }

    proptest! {
        #[test]
        fn plain_matrices_have_as_many_combinations_as_announced(sizes in prop::collection::vec(1_usize..4, 1..4)) {
            let params = sizes.iter().enumerate().map(|(index, size)| {
                let items: Vec<String> = (0..*size).map(|item| item.to_string()).collect();
                Param { name: format!("p{index}"), value: ParamValue::Array(items) }
            });
            let matrix = Matrix { params: params.collect(), include: vec![] };
            let mut combinations = matrix.fan_out();
            prop_assert_eq!(i64::try_from(combinations.len()).unwrap(), matrix.count_combinations());
            combinations.dedup();
            prop_assert_eq!(combinations.len(), sizes.iter().product::<usize>());
        }
    }
}
