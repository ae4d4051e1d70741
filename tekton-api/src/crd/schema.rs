//! From the JSON schema of a type to the structural schema of a resource definition.
//!
//! References are replaced by what they refer to, and what Kubernetes does not allow or upstream does not
//! state (titles, defaults, nullability) is dropped. `FACTS` adds what the types cannot tell: members that
//! must be given, and defaults and keys of Kubernetes' own types.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Pattern of quantities such as `500m` and `1Gi`.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Something about a type that its Rust definition does not tell.
enum Fact {
    /// Members that must be given.
    Required(&'static [&'static str]),
    /// A value a member takes when it is not given.
    Default(&'static str, DefaultValue),
    /// A list whose items are told apart by these members.
    Keys(&'static str, &'static [&'static str]),
    /// The whole struct is replaced at once.
    Atomic,
}

/// A default in a resource definition.
enum DefaultValue {
    Text(&'static str),
    False,
}

/// What is known about which type, by the last part of its name.
const FACTS: &[(&str, &[Fact])] = &[
    ("Authority", &[Fact::Required(&["name"])]),
    (
        "CloudEventDeliveryState",
        &[Fact::Required(&["message", "retryCount"])],
    ),
    ("Condition", &[Fact::Required(&["status", "type"])]),
    ("ConfigMapEnvSource", &[Fact::Atomic, EMPTY_NAME]),
    ("ConfigMapKeySelector", &[Fact::Atomic, EMPTY_NAME]),
    ("ConfigMapProjection", &[Fact::Atomic, EMPTY_NAME]),
    ("ConfigMapVolumeSource", &[Fact::Atomic, EMPTY_NAME]),
    (
        "ContainerPort",
        &[Fact::Default("protocol", DefaultValue::Text("TCP"))],
    ),
    ("CustomRunResult", &[Fact::Required(&["name", "value"])]),
    (
        "FileKeySelector",
        &[Fact::Atomic, Fact::Default("optional", DefaultValue::False)],
    ),
    ("GRPCAction", &[Fact::Default("service", DefaultValue::Text(""))]),
    ("LabelSelector", &[Fact::Atomic]),
    ("LocalObjectReference", &[Fact::Atomic, EMPTY_NAME]),
    ("ObjectFieldSelector", &[Fact::Atomic]),
    ("Param", &[Fact::Required(&["name", "value"])]),
    ("ParamSpec", &[Fact::Required(&["name"])]),
    ("PipelineDeclaredResource", &[Fact::Required(&["name", "type"])]),
    ("PipelineResourceResult", &[Fact::Required(&["key", "value"])]),
    ("PipelineResourceSpec", &[Fact::Required(&["params", "type"])]),
    ("PipelineResult", &[Fact::Required(&["name", "value"])]),
    ("PipelineRunResult", &[Fact::Required(&["name", "value"])]),
    (
        "PipelineTaskInputResource",
        &[Fact::Required(&["name", "resource"])],
    ),
    (
        "PipelineTaskOutputResource",
        &[Fact::Required(&["name", "resource"])],
    ),
    ("PipelineWorkspaceDeclaration", &[Fact::Required(&["name"])]),
    (
        "ResolutionRequestStatus",
        &[Fact::Required(&["data", "refSource", "source"])],
    ),
    ("ResourceDeclaration", &[Fact::Required(&["name", "type"])]),
    ("ResourceFieldSelector", &[Fact::Atomic]),
    ("ResourceParam", &[Fact::Required(&["name", "value"])]),
    ("ResourcePattern", &[Fact::Required(&["pattern"])]),
    ("ResourceRequirements", &[Fact::Keys("claims", &["name"])]),
    ("SecretEnvSource", &[Fact::Atomic, EMPTY_NAME]),
    ("SecretKeySelector", &[Fact::Atomic, EMPTY_NAME]),
    (
        "SecretParam",
        &[Fact::Required(&["fieldName", "secretKey", "secretName"])],
    ),
    ("SecretProjection", &[Fact::Atomic, EMPTY_NAME]),
    ("SecretReference", &[Fact::Atomic]),
    ("Sidecar", &[Fact::Required(&["name"]), PORT_KEYS]),
    ("SkippedTask", &[Fact::Required(&["name", "reason"])]),
    ("Step", &[Fact::Required(&["name"]), PORT_KEYS]),
    ("StepResult", &[Fact::Required(&["name"])]),
    ("StepTemplate", &[PORT_KEYS]),
    ("TaskResult", &[Fact::Required(&["name"])]),
    ("TaskRunResult", &[Fact::Required(&["name", "value"])]),
    (
        "TaskRunSidecarOverride",
        &[Fact::Required(&["name", "resources"])],
    ),
    (
        "TaskRunSidecarSpec",
        &[Fact::Required(&["computeResources", "name"])],
    ),
    ("TaskRunStatus", &[Fact::Required(&["podName"])]),
    ("TaskRunStepOverride", &[Fact::Required(&["name", "resources"])]),
    (
        "TaskRunStepSpec",
        &[Fact::Required(&["computeResources", "name"])],
    ),
    ("VerificationPolicy", &[Fact::Required(&["spec"])]),
    (
        "VerificationPolicySpec",
        &[Fact::Required(&["authorities", "resources"])],
    ),
    ("WorkspaceBinding", &[Fact::Required(&["name"])]),
    ("WorkspaceDeclaration", &[Fact::Required(&["name"])]),
    ("WorkspacePipelineTaskBinding", &[Fact::Required(&["name"])]),
    ("WorkspaceUsage", &[Fact::Required(&["mountPath", "name"])]),
];

const EMPTY_NAME: Fact = Fact::Default("name", DefaultValue::Text(""));
const PORT_KEYS: Fact = Fact::Keys("ports", &["containerPort", "protocol"]);

/// The structural schema of objects of type `T`.
pub(super) fn of<T: JsonSchema>() -> Option<JSONSchemaProps> {
    let mut root = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    let definitions = root.get_mut("$defs").map(Value::take).unwrap_or_default();
    let mut schema = structural(&root, &definitions, Origin::Tekton);
    frame(&mut schema);
    add_facts(&T::schema_name(), &mut schema);
    serde_json::from_value(schema).ok()
}

/// Adds the members every object has, and cuts the metadata, which the API server knows itself.
fn frame(schema: &mut Value) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let text = |description: &str| json!({"type": "string", "description": description});
    properties.insert(
        "apiVersion".into(),
        text("The group and version of this representation."),
    );
    properties.insert("kind".into(), text("The kind of this object."));
    properties.insert("metadata".into(), json!({"type": "object"}));
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
}

/// Where a type comes from: integers of Go's `int` have no format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Kubernetes,
    Tekton,
}

/// `schema` without references and without what a structural schema may not have.
fn structural(schema: &Value, definitions: &Value, origin: Origin) -> Value {
    let Some(schema) = schema.as_object() else {
        return json!({"x-kubernetes-preserve-unknown-fields": true});
    };
    if let Some(inner) = referred(schema) {
        return resolved(inner, schema, definitions);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(inner) = schema.get(choice).and_then(only_choice) {
            let mut found = structural(inner, definitions, origin);
            describe(&mut found, schema);
            return found;
        }
    }
    let mut out = Map::new();
    for (key, value) in schema {
        match key.as_str() {
            "type" => {
                out.insert(key.clone(), not_null(value));
            }
            "format" if keeps_format(value, origin) => {
                out.insert(key.clone(), value.clone());
            }
            "properties" => {
                let members = value.as_object().into_iter().flatten();
                let members =
                    members.map(|(name, member)| (name.clone(), structural(member, definitions, origin)));
                out.insert(key.clone(), Value::Object(members.collect()));
            }
            "items" => {
                out.insert(key.clone(), structural(value, definitions, origin));
            }
            "additionalProperties" if value.is_object() => {
                out.insert(key.clone(), structural(value, definitions, origin));
            }
            "additionalProperties" => {
                out.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
            }
            "description" | "required" => {
                out.insert(key.clone(), value.clone());
            }
            other if other.starts_with("x-kubernetes-") => {
                out.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
    Value::Object(out)
}

/// The name behind a reference.
fn referred(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// The only alternative to `null`.
fn only_choice(choices: &Value) -> Option<&Value> {
    let mut others = choices
        .as_array()?
        .iter()
        .filter(|choice| choice.get("type") != Some(&json!("null")));
    others.next().filter(|_| others.next().is_none())
}

/// A referred definition with the description of the place that refers to it, and with the known facts.
fn resolved(name: &str, place: &Map<String, Value>, definitions: &Value) -> Value {
    let (origin, short) = match name.rsplit_once('.') {
        Some((_, short)) => (Origin::Kubernetes, short),
        None => (Origin::Tekton, name),
    };
    let mut found = match short {
        "Quantity" => json!({
            "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": QUANTITY, "x-kubernetes-int-or-string": true,
        }),
        "IntOrString" => {
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true})
        }
        _ => definitions
            .get(name)
            .map(|inner| structural(inner, definitions, origin))
            .unwrap_or_default(),
    };
    describe(&mut found, place);
    add_facts(short, &mut found);
    found
}

/// Adds what is known about the type.
fn add_facts(name: &str, schema: &mut Value) {
    let facts = FACTS
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(&[][..], |(_, facts)| *facts);
    for fact in facts {
        apply(fact, schema);
    }
}

/// Adds one fact to a schema.
fn apply(fact: &Fact, schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    match fact {
        Fact::Required(names) => {
            let properties = object.get("properties");
            let there = |name: &&&str| properties.is_some_and(|properties| properties.get(**name).is_some());
            let names: Vec<_> = names.iter().filter(there).collect();
            object.insert("required".into(), json!(names));
        }
        Fact::Atomic => {
            object.insert("x-kubernetes-map-type".into(), "atomic".into());
        }
        Fact::Default(name, value) => {
            let value = match value {
                DefaultValue::Text(text) => json!(text),
                DefaultValue::False => json!(false),
            };
            if let Some(member) = member(object, name) {
                member.insert("default".into(), value);
            }
            if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|required| required != name);
            }
        }
        Fact::Keys(name, keys) => {
            if let Some(member) = member(object, name) {
                member.insert("x-kubernetes-list-type".into(), "map".into());
                member.insert("x-kubernetes-list-map-keys".into(), json!(keys));
            }
        }
    }
}

fn member<'a>(object: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut("properties")?.get_mut(name)?.as_object_mut()
}

/// Takes the description over from the place, if it has one.
fn describe(schema: &mut Value, place: &Map<String, Value>) {
    if let (Some(object), Some(description)) = (schema.as_object_mut(), place.get("description")) {
        object.insert("description".into(), description.clone());
    }
}

/// The type that is not `null`.
fn not_null(types: &Value) -> Value {
    let other = types
        .as_array()
        .and_then(|types| types.iter().find(|name| *name != &json!("null")));
    other.unwrap_or(types).clone()
}

fn keeps_format(format: &Value, origin: Origin) -> bool {
    match format.as_str() {
        Some("int32") => origin == Origin::Kubernetes,
        Some("int64" | "date-time" | "byte" | "double") => true,
        _ => false,
    }
}
