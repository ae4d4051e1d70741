//! How Go's JSON rules are met by serde attributes.
//!
//! Go treats `null` as "not given", leaves out empty optional values when it writes, and reads a
//! `null` list element as an empty one. The functions below are named in the `serde` attributes of
//! the types; `open_enum!`, `wire_struct!` and `resource!` declare the recurring shapes.

pub(crate) mod kubernetes;

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer};

/// Reads a value; `null` gives the default.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a list; `null` gives an empty one, a `null` element a default one.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(optional_list(deserializer)?.unwrap_or_default())
}

/// Reads a list of which Go tells the absent from the empty one.
pub(crate) fn optional_list<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let list = Option::<Vec<Option<T>>>::deserialize(deserializer)?;
    Ok(list.map(|list| list.into_iter().map(Option::unwrap_or_default).collect()))
}

/// Reads a map; `null` gives an empty one, a `null` value a default one.
pub(crate) fn map<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(optional_map(deserializer)?.unwrap_or_default())
}

/// Reads a map of which Go tells the absent from the empty one.
pub(crate) fn optional_map<'de, D, T>(deserializer: D) -> Result<Option<BTreeMap<String, T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let map = Option::<BTreeMap<String, Option<T>>>::deserialize(deserializer)?;
    Ok(map.map(|map| {
        map.into_iter()
            .map(|(key, value)| (key, value.unwrap_or_default()))
            .collect()
    }))
}

/// Reads a scalar of which Go does not tell the absent from the zero value (`""`, `0`, `false`).
pub(crate) fn nonzero<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Zero,
{
    Ok(Option::<T>::deserialize(deserializer)?.filter(|value| !value.is_zero()))
}

/// Whether an optional scalar is left out when written.
#[expect(clippy::ref_option, reason = "serde hands out a reference to the member")]
pub(crate) fn absent<T: Zero>(value: &Option<T>) -> bool {
    value.as_ref().is_none_or(Zero::is_zero)
}

/// Whether an optional list is left out when written.
#[expect(clippy::ref_option, reason = "serde hands out a reference to the member")]
pub(crate) fn no_items<T>(value: &Option<Vec<T>>) -> bool {
    value.as_ref().is_none_or(Vec::is_empty)
}

/// Whether an optional map is left out when written.
#[expect(clippy::ref_option, reason = "serde hands out a reference to the member")]
pub(crate) fn no_entries<T>(value: &Option<BTreeMap<String, T>>) -> bool {
    value.as_ref().is_none_or(BTreeMap::is_empty)
}

/// Values that have a zero, which `omitempty` leaves out.
pub(crate) trait Zero {
    /// Whether this is the zero value of Go.
    fn is_zero(&self) -> bool;
}

impl Zero for String {
    fn is_zero(&self) -> bool {
        self.is_empty()
    }
}

impl Zero for bool {
    fn is_zero(&self) -> bool {
        !*self
    }
}

impl Zero for i32 {
    fn is_zero(&self) -> bool {
        *self == 0
    }
}

impl Zero for i64 {
    fn is_zero(&self) -> bool {
        *self == 0
    }
}

/// Declares a string type with known values that keeps unknown ones as given.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$vmeta:meta])* $variant:ident = $text:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$vmeta])* $variant, )+
            /// A value Tekton does not know, as it was written.
            Other(String),
        }

        impl $name {
            /// The values Tekton knows.
            pub const KNOWN: &'static [$name] = &[$( $name::$variant, )+];

            /// The text in YAML and JSON.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )+
                    Self::Other(text) => text,
                }
            }

            /// Whether Tekton knows this value.
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Other(_))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $( $text => Self::$variant, )+
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::from(text.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::convert::Infallible;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(text))
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Self::from(<std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?.as_ref()))
            }
        }

        impl $crate::wire::Zero for $name {
            fn is_zero(&self) -> bool {
                self.as_str().is_empty()
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string"})
            }

            fn inline_schema() -> bool {
                true
            }
        }
    };
}
pub(crate) use open_enum;

/// Declares a struct whose members are read by Go's rules: names in camelCase, all of them optional.
macro_rules! wire_struct {
    ( $(#[$meta:meta])* pub struct $name:ident { $($body:tt)* } ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($body)* }
    };
}
pub(crate) use wire_struct;

/// Implements serde and [`kube::Resource`] for an object with `metadata`, `spec` and perhaps `status`.
/// As in Go, an absent status is written as an empty one.
macro_rules! resource {
    ($name:ident: $group:literal, $version:literal, $plural:literal, $scope:ident, $spec:ty $(, status $status:ty)?) => {
        const _: () = {
            #[derive(Default, serde::Deserialize)]
            #[serde(rename_all = "camelCase", default)]
            struct Wire {
                api_version: serde::de::IgnoredAny,
                kind: serde::de::IgnoredAny,
                #[serde(deserialize_with = "crate::wire::or_default")]
                metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
                #[serde(deserialize_with = "crate::wire::or_default")]
                spec: $spec,
                $( status: Option<$status>, )?
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let wire = Wire::deserialize(deserializer)?;
                    Ok(Self {
                        metadata: wire.metadata,
                        spec: wire.spec,
                        $( status: { let status: Option<$status> = wire.status; status }, )?
                    })
                }
            }

            impl serde::Serialize for $name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::SerializeStruct as _;
                    let mut object = serializer.serialize_struct(stringify!($name), 5)?;
                    object.serialize_field("apiVersion", &<Self as kube::Resource>::api_version(&()))?;
                    object.serialize_field("kind", &<Self as kube::Resource>::kind(&()))?;
                    object.serialize_field("metadata", &self.metadata)?;
                    object.serialize_field("spec", &self.spec)?;
                    $(
                        match &self.status {
                            Some(status) => object.serialize_field("status", status)?,
                            None => object.serialize_field("status", &<$status>::default())?,
                        }
                    )?
                    object.end()
                }
            }
        };

        impl kube::Resource for $name {
            type DynamicType = ();
            type Scope = kube::core::$scope;

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                stringify!($name).into()
            }

            fn group((): &()) -> std::borrow::Cow<'_, str> {
                $group.into()
            }

            fn version((): &()) -> std::borrow::Cow<'_, str> {
                $version.into()
            }

            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
pub(crate) use resource;

/// Schema of members whose content the resource definitions do not describe.
#[cfg(feature = "schema")]
pub(crate) struct Anything;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Anything {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Anything".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"x-kubernetes-preserve-unknown-fields": true})
    }

    fn inline_schema() -> bool {
        true
    }
}
