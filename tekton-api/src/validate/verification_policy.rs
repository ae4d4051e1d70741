//! Checks on VerificationPolicies.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1alpha1/verificationpolicy_validation.go`.

use super::{Context, Validate, go_regex, names, text};
use crate::field_errors::FieldErrors;
use crate::v1alpha1::{HashAlgorithm, KeyRef, ModeType, VerificationPolicy};

impl Validate for VerificationPolicy {
    fn validate(&self, _: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let spec = &self.spec;
        let mut errors = names::object_metadata(&self.metadata);
        if spec.resources.is_empty() {
            errors.add(FieldErrors::missing(&["resources"]));
        }
        for resource in &spec.resources {
            if let Err(problem) = go_regex::check(&resource.pattern) {
                let details = format!("resourcePattern cannot be compiled by regex: {problem}");
                errors.add(FieldErrors::invalid_value_because(
                    &resource.pattern,
                    "ResourcePattern",
                    &details,
                ));
            }
        }
        if spec.authorities.is_empty() {
            errors.add(FieldErrors::missing(&["authorities"]));
        }
        for (index, authority) in spec.authorities.iter().enumerate() {
            if let Some(key) = &authority.key {
                errors.add(self::key(key).via_field_index("key", index));
            }
        }
        match &spec.mode {
            Some(ModeType::Other(mode)) if !mode.is_empty() => {
                let message = format!(
                    "available values are: {}, {}, but got: {mode}",
                    ModeType::Enforce,
                    ModeType::Warn
                );
                errors.add(FieldErrors::invalid_value(message, "mode"));
            }
            _ => {}
        }
        errors
    }
}

fn key(key: &KeyRef) -> FieldErrors {
    let given = [
        !text(key.data.as_ref()).is_empty(),
        key.secret_ref.is_some(),
        !text(key.kms.as_ref()).is_empty(),
    ];
    let fields = ["data", "kms", "secretref"];
    let errors = match given.into_iter().filter(|is_given| *is_given).count() {
        0 => FieldErrors::missing_one_of(&fields),
        1 => FieldErrors::none(),
        _ => FieldErrors::multiple_one_of(&fields),
    };
    let algorithm = key.hash_algorithm.as_ref().map_or("", HashAlgorithm::as_str);
    let is_known = algorithm.is_empty() || HashAlgorithm::from(algorithm.to_lowercase()).is_known();
    if is_known {
        return errors;
    }
    errors.and(FieldErrors::invalid_value(algorithm, "HashAlgorithm"))
}
