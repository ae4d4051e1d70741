//! Checks that resolved data is a Tekton object.
//!
//! Upstream counterpart: `ValidateResolvedResource` in `pkg/resolution/resolver/framework/interface.go`.

use serde_json::Value;

use crate::ResolveError;

/// Kinds that a resolver may deliver, in any version of the group.
pub const ACCEPTED_KINDS: &[&str] = &[
    "PipelineRun",
    "Pipeline",
    "TaskRun",
    "Task",
    "Run",
    "CustomRun",
    "StepAction",
];
/// Their group.
pub const ACCEPTED_GROUP: &str = "tekton.dev";

/// Refuses data that is no YAML mapping of an accepted group and kind.
pub fn accept(data: &[u8]) -> Result<(), ResolveError> {
    let undecodable = |text: &str| ResolveError::new(format!("decoding error: {text}"));
    let text = std::str::from_utf8(data).map_err(|error| undecodable(&error.to_string()))?;
    let mut documents = tekton_api::yaml::documents(text).map_err(|error| undecodable(&error.to_string()))?;
    let object = if documents.is_empty() {
        Value::Null
    } else {
        documents.swap_remove(0)
    };
    if !object.is_null() && !object.is_object() {
        return Err(undecodable("the document is not a mapping"));
    }
    let field = |name: &str| match find(&object, name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(undecodable(&format!("{name} is not a string"))),
    };
    let (api_version, kind) = (field("apiVersion")?, field("kind")?);
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if group == ACCEPTED_GROUP && !api_version.ends_with('/') && ACCEPTED_KINDS.contains(&kind) {
        return Ok(());
    }
    Err(ResolveError::new(format!(
        "resolved data is not of a supported type, must be of Group: {ACCEPTED_GROUP}, Kinds: [{}]",
        ACCEPTED_KINDS.join(" ")
    )))
}

/// Go finds fields whatever their case.
fn find<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    let members = object.as_object()?;
    members.get(name).or_else(|| {
        members
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tekton_objects_are_accepted_and_nothing_else() {
        assert!(accept(b"apiVersion: tekton.dev/v1\nkind: Task\n").is_ok());
        assert!(accept(b"apiVersion: tekton.dev/v9\nkind: TaskRun\n").is_ok());
        let refused = accept(b"kind: Nothing\n").unwrap_err().to_string();
        assert!(
            refused.ends_with("Kinds: [PipelineRun Pipeline TaskRun Task Run CustomRun StepAction]"),
            "{refused}"
        );
        assert!(
            accept(b"just text")
                .unwrap_err()
                .to_string()
                .starts_with("decoding error: ")
        );
        assert!(accept(b"").is_err() && accept(&[0xff]).is_err());
    }
}
