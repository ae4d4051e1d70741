//! Puts a StepAction in the place of the step that refers to it.
//!
//! Params of the StepAction come, in this order, from the step, from defaults that refer to other params, and
//! from plain defaults; a param whose value is the result of an earlier step keeps referring to it.
//! Upstream counterpart: `applyStepActionParameters` in `pkg/reconciler/taskrun/resources/apply.go`.

use std::collections::BTreeMap;

use regex::Regex;

use super::{container, params};
use crate::result_ref::ResultRef;
use crate::substitute::{Replacements, scan};
use crate::v1::{Param, ParamSpec, ParamType, ParamValue, Step};
use crate::v1beta1::StepActionSpec;

/// Why a step and its StepAction do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepActionError {
    /// The step passes params that the StepAction does not know.
    #[error("extra params passed by Step to StepAction: [{}]", .0.join(" "))]
    Extra(Vec<String>),
    /// The step does not pass params that have no default.
    #[error("non-existent params in Step: [{}]", .0.join(" "))]
    Missing(Vec<String>),
    /// A default refers to a param that does not exist.
    #[error("parameter \"{param}\" references non-existent parameter \"{other}\"")]
    UnknownReference {
        /// The param with the default.
        param: String,
        /// The one referred to.
        other: String,
    },
    /// Defaults refer to each other in a circle.
    #[error("circular dependency detected in parameter references")]
    Circle,
    /// A value looks like the result of a step but is not one.
    #[error(
        "must be one of the form 1). \"steps.<stepName>.results.<resultName>\"; \
         2). \"steps.<stepName>.results.<objectResultName>.<individualAttribute>\""
    )]
    StepResult,
    /// Default and given value have different types.
    #[error(
        "invalid parameter substitution: {0}. Please check the types of the default value and the passed value"
    )]
    Type(String),
}

/// The step with everything the StepAction says filled in, and without reference and params.
pub fn step_action(
    step: &Step,
    action: &StepActionSpec,
    task_params: &[ParamSpec],
    run_params: &[Param],
) -> Result<Step, StepActionError> {
    check_params(&step.params, &action.params)?;
    let mut given = step.params.clone();
    if !given.is_empty() {
        let of_task = params::of_run(run_params, task_params);
        for param in &mut given {
            param.value = of_task.param_value(&param.value);
        }
    }
    let mut filled = Step {
        image: action.image.clone(),
        command: action.command.clone(),
        args: action.args.clone(),
        working_dir: action.working_dir.clone(),
        script: action.script.clone(),
        env: action.env.clone(),
        volume_mounts: action.volume_mounts.clone(),
        security_context: action.security_context.clone(),
        results: action.results.clone(),
        ..Step::default()
    };
    let known = variables(&filled, &given, &action.params)?;
    container::step(&mut filled, &known);
    Ok(merged(step, filled))
}

fn merged(step: &Step, filled: Step) -> Step {
    let mut merged = Step {
        image: filled.image,
        security_context: filled.security_context,
        working_dir: filled.working_dir,
        ref_: None,
        params: Vec::new(),
        ..step.clone()
    };
    if !filled.command.is_empty() {
        merged.command = filled.command;
    }
    if !filled.args.is_empty() {
        merged.args = filled.args;
    }
    if filled.script.as_deref().is_some_and(|script| !script.is_empty()) {
        merged.script = filled.script;
    }
    if !filled.env.is_empty() {
        merged.env = filled.env;
    }
    if !filled.volume_mounts.is_empty() {
        merged.volume_mounts = filled.volume_mounts;
    }
    if !filled.results.is_empty() {
        merged.results = filled.results;
    }
    merged
}

fn check_params(given: &[Param], declared: &[ParamSpec]) -> Result<(), StepActionError> {
    let is_declared = |param: &&Param| declared.iter().any(|spec| spec.name == param.name);
    let extra: Vec<String> = given
        .iter()
        .filter(|param| !is_declared(param))
        .map(|param| param.name.clone())
        .collect();
    if !extra.is_empty() {
        return Err(StepActionError::Extra(extra));
    }
    let is_given = |spec: &&ParamSpec| given.iter().any(|param| param.name == spec.name);
    let missing: Vec<String> = declared
        .iter()
        .filter(|spec| spec.default.is_none() && !is_given(spec))
        .map(|spec| spec.name.clone())
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(StepActionError::Missing(missing))
    }
}

fn variables(step: &Step, given: &[Param], declared: &[ParamSpec]) -> Result<Replacements, StepActionError> {
    let mut known = params::of_defaults(declared);
    params::extend(&mut known, params::of_values(&values(given, declared)?));
    for param in given {
        let Some(reference) = param.value.as_str().filter(|text| text.starts_with("$(steps.")) else {
            continue;
        };
        let result =
            ResultRef::parse_step(scan::strip_expression(reference)).ok_or(StepActionError::StepResult)?;
        for spec in declared.iter().filter(|spec| spec.name == param.name) {
            known
                .strings
                .extend(step_result_variables(step, spec, reference, &result));
        }
    }
    match known.strings.keys().find(|name| known.arrays.contains_key(*name)) {
        Some(name) => Err(StepActionError::Type(param_of_variable(name))),
        None => Ok(known),
    }
}

/// The value of every param that has one.
fn values(given: &[Param], declared: &[ParamSpec]) -> Result<Vec<Param>, StepActionError> {
    let mut settled: Vec<Param> = Vec::new();
    let mut open: BTreeMap<&str, (&str, Vec<String>)> = BTreeMap::new();
    for spec in declared {
        if let Some(param) = given.iter().rev().find(|param| param.name == spec.name) {
            settled.push(Param {
                name: spec.name.clone(),
                value: param.value.clone(),
            });
            continue;
        }
        match &spec.default {
            Some(ParamValue::String(text)) if text.contains("$(params.") => {
                let others = scan::variable_expressions(text, "params")
                    .into_iter()
                    .map(|expression| {
                        let other = expression.strip_prefix("$(params.").unwrap_or(&expression);
                        other.strip_suffix(')').unwrap_or(other).to_owned()
                    });
                open.insert(&spec.name, (text, others.collect()));
            }
            Some(value) => settled.push(Param {
                name: spec.name.clone(),
                value: value.clone(),
            }),
            None => {}
        }
    }
    while !open.is_empty() {
        let is_settled = |name: &String| settled.iter().any(|param| param.name == *name);
        let ready = open
            .iter()
            .find(|(_, (_, others))| others.iter().all(is_settled))
            .map(|(name, _)| *name);
        let Some((name, (text, others))) = ready.and_then(|name| Some((name, open.remove(name)?))) else {
            return Err(unsettled(&open, &settled, declared));
        };
        let mut resolved = text.to_owned();
        for other in &others {
            let value = settled
                .iter()
                .find(|param| param.name == *other)
                .and_then(|param| param.value.as_str());
            resolved = resolved.replace(&format!("$(params.{other})"), value.unwrap_or_default());
        }
        settled.push(Param::new(name, resolved));
    }
    Ok(settled)
}

fn unsettled(
    open: &BTreeMap<&str, (&str, Vec<String>)>,
    settled: &[Param],
    declared: &[ParamSpec],
) -> StepActionError {
    let unknown = open.iter().find_map(|(param, (_, others))| {
        let other = others
            .iter()
            .find(|other| !settled.iter().any(|param| param.name == **other))?;
        let exists = declared.iter().any(|spec| spec.name == *other);
        (!exists).then(|| StepActionError::UnknownReference {
            param: (*param).to_owned(),
            other: other.clone(),
        })
    });
    unknown.unwrap_or(StepActionError::Circle)
}

/// Variables by which a param that holds the result of a step refers to that result.
fn step_result_variables(
    step: &Step,
    spec: &ParamSpec,
    reference: &str,
    result: &ResultRef,
) -> BTreeMap<String, String> {
    let target = format!("steps.{}.results.{}", result.pipeline_task, result.result);
    match spec.type_ {
        Some(ParamType::Object) => spec
            .properties
            .iter()
            .flat_map(BTreeMap::keys)
            .map(|key| {
                (
                    format!("params.{}.{key}", spec.name),
                    format!("$({target}.{key})"),
                )
            })
            .collect(),
        Some(ParamType::Array) => {
            let whole =
                params::names(&spec.name).map(|name| (format!("{name}[*]"), format!("$({target}[*])")));
            whole
                .into_iter()
                .chain(indexed_variables(step, &spec.name, &target))
                .collect()
        }
        _ => params::names(&spec.name)
            .into_iter()
            .map(|name| (name, reference.to_owned()))
            .collect(),
    }
}

/// `params.NAME[i]` wherever command, arguments or environment of the step use it.
fn indexed_variables(step: &Step, name: &str, target: &str) -> Vec<(String, String)> {
    let name = regex::escape(name);
    let patterns = [
        format!(r"\$\((params\.{name}\[([0-9]+)\])\)"),
        format!(r#"\$\((params\["{name}"\]\[([0-9]+)\])\)"#),
        format!(r"\$\((params\['{name}'\]\[([0-9]+)\])\)"),
    ];
    let patterns: Vec<Regex> = patterns
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect();
    let environment = step.env.iter().filter_map(|variable| variable.value.as_ref());
    let texts = step.command.iter().chain(&step.args).chain(environment);
    let mut found = Vec::new();
    for text in texts {
        for captures in patterns.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            if let (Some(variable), Some(index)) = (captures.get(1), captures.get(2)) {
                found.push((
                    variable.as_str().to_owned(),
                    format!("$({target}[{}])", index.as_str()),
                ));
            }
        }
    }
    found
}

/// The param behind the name of a variable, for messages.
fn param_of_variable(name: &str) -> String {
    let is_word =
        |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let inner = name
        .strip_prefix("params.")
        .filter(is_word)
        .or_else(|| name.strip_prefix("params[\"")?.strip_suffix("\"]"))
        .or_else(|| name.strip_prefix("params['")?.strip_suffix("']"))
        .or_else(|| name.strip_prefix("inputs.params.").filter(is_word));
    inner.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, default: Option<&str>) -> ParamSpec {
        ParamSpec {
            name: name.into(),
            default: default.map(Into::into),
            ..ParamSpec::default()
        }
    }

    fn args(
        action: &[&str],
        declared: &[ParamSpec],
        given: &[Param],
    ) -> Result<Vec<String>, StepActionError> {
        let action = StepActionSpec {
            args: action.iter().map(|arg| (*arg).to_owned()).collect(),
            params: declared.to_vec(),
            ..StepActionSpec::default()
        };
        let step = Step {
            params: given.to_vec(),
            ..Step::default()
        };
        step_action(&step, &action, &[], &[]).map(|step| step.args)
    }

    #[test]
    fn defaults_may_refer_to_given_params() {
        let declared = [
            spec("a", Some("x")),
            spec("b", Some("<$(params.a)>")),
            spec("c", Some("$(params.b)!")),
        ];
        assert_eq!(
            args(&["$(params.c)"], &declared, &[Param::new("a", "y")]).unwrap(),
            ["<y>!"]
        );
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let circle = [spec("a", Some("$(params.b)")), spec("b", Some("$(params.a)"))];
        assert_eq!(args(&[], &circle, &[]), Err(StepActionError::Circle));
        let unknown = args(&[], &[spec("a", Some("$(params.z)"))], &[]).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "parameter \"a\" references non-existent parameter \"z\""
        );
        let missing = args(&[], &[spec("a", None), spec("b", None)], &[]).unwrap_err();
        assert_eq!(missing.to_string(), "non-existent params in Step: [a b]");
        let types = args(&[], &[spec("a", Some("x"))], &[Param::new("a", ["y"])]).unwrap_err();
        assert_eq!(types, StepActionError::Type("a".into()));
    }

    #[test]
    fn results_of_steps_stay_references() {
        let array = ParamSpec {
            type_: Some(ParamType::Array),
            ..spec("l", None)
        };
        let given = [Param::new("l", "$(steps.one.results.r)")];
        let filled = args(&["$(params.l[*])", "$(params['l'][2])"], &[array], &given).unwrap();
        assert_eq!(filled, ["$(steps.one.results.r[*])", "$(steps.one.results.r[2])"]);
    }
}
