//! Reads API objects from JSON values the way Go's decoder does.
//!
//! Field names match ignoring case, an unknown field is refused or ignored, quantities may be numbers.
//! serde tells a deserializer the field names of each struct, so no schema is needed.
//! Upstream counterparts: `encoding/json` with `DisallowUnknownFields`, and `sigs.k8s.io/yaml`.

mod kubernetes;

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde_json::Value;

use crate::quantity;
use crate::quote::quote;

/// Why a value is no object of the kind wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A field that its struct does not have.
    #[error("json: unknown field {}", quote(.0))]
    UnknownField(String),
    /// A text that is no quantity.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Quantity,
    /// A value of the wrong type.
    #[error("{0}")]
    Mismatch(String),
}

impl serde::de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Mismatch(message.to_string())
    }
}

/// How what does not fit is treated.
#[derive(Clone, Copy, Debug)]
struct Mode {
    /// Unknown fields are refused.
    strict: bool,
    /// Numbers and booleans are taken for texts where a text is wanted.
    loose_texts: bool,
}

/// Reads an API object; unknown fields are refused, but for those inside its metadata.
///
/// # Errors
/// The first field that is unknown or has a value of the wrong type.
pub fn object<T: DeserializeOwned>(value: &Value) -> Result<T, DecodeError> {
    let mode = Mode {
        strict: true,
        loose_texts: false,
    };
    T::deserialize(Reader {
        value,
        mode,
        depth: 0,
    })
}

/// Reads a value written in YAML by hand: unknown fields are ignored, and texts need no quotes.
///
/// # Errors
/// The first value of the wrong type.
pub fn lenient<T: DeserializeOwned>(value: &Value) -> Result<T, DecodeError> {
    let mode = Mode {
        strict: false,
        loose_texts: true,
    };
    T::deserialize(Reader {
        value,
        mode,
        depth: 0,
    })
}

#[derive(Clone, Copy)]
struct Reader<'de> {
    value: &'de Value,
    mode: Mode,
    /// Number of structs around this value.
    depth: usize,
}

impl<'de> Reader<'de> {
    fn child(self, value: &'de Value) -> Self {
        Self { value, ..self }
    }

    fn mismatch(self, wanted: &str) -> DecodeError {
        let found = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        DecodeError::Mismatch(format!(
            "json: cannot unmarshal {found} into Go value of type {wanted}"
        ))
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Number(number) if self.mode.loose_texts => visitor.visit_string(number.to_string()),
            Value::Bool(flag) if self.mode.loose_texts => visitor.visit_string(flag.to_string()),
            Value::Null => visitor.visit_str(""),
            _ => Err(self.mismatch("string")),
        }
    }

    /// The members by the names that the struct knows. In a struct of Kubernetes, those that Go would not
    /// write are left out.
    fn fields(
        self,
        name: &'static str,
        known: &'static [&'static str],
        is_kubernetes: bool,
    ) -> Result<Vec<(&'static str, Reader<'de>)>, DecodeError> {
        let Value::Object(members) = self.value else {
            return Err(self.mismatch("struct"));
        };
        let mut found: BTreeMap<&'static str, Reader<'de>> = BTreeMap::new();
        for (key, value) in members {
            let exact = known.iter().find(|field| *field == key);
            let field = exact.or_else(|| known.iter().find(|field| same_ignoring_case(field, key)));
            let Some(field) = field else {
                if self.mode.strict {
                    return Err(DecodeError::UnknownField(key.clone()));
                }
                continue;
            };
            let mut child = Reader {
                value,
                mode: self.mode,
                depth: self.depth + 1,
            };
            if self.depth == 0 && *field == "metadata" {
                child.mode.strict = false;
            }
            if is_kubernetes && kubernetes::is_left_out(name, field, value) {
                continue;
            }
            if exact.is_some() || !found.contains_key(field) {
                found.insert(field, child);
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// Compares as Go does, which folds two letters beyond ASCII into ASCII ones.
fn same_ignoring_case(field: &str, name: &str) -> bool {
    let folded = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    field.chars().map(folded).eq(name.chars().map(folded))
}

/// Forwards the methods for numbers.
macro_rules! numbers {
    ($( $method:ident )+) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
                match self.value {
                    Value::Number(number) => number
                        .$method(visitor)
                        .map_err(DecodeError::custom),
                    Value::Null => visitor.visit_u64(0),
                    _ => Err(self.mismatch("number")),
                }
            }
        )+
    };
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => number.deserialize_any(visitor).map_err(DecodeError::custom),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.value {
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Null => visitor.visit_bool(false),
            _ => Err(self.mismatch("bool")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name != "Quantity" {
            return visitor.visit_newtype_struct(self);
        }
        let text = match self.value {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.trim().to_owned(),
            Value::Null => "0".to_owned(),
            _ => return Err(self.mismatch("string")),
        };
        match quantity::canonical(&text) {
            Some(text) => visitor
                .visit_newtype_struct(IntoDeserializer::<DecodeError>::into_deserializer(text.as_str())),
            None => Err(DecodeError::Quantity),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.value {
            Value::Array(items) => visitor.visit_seq(Items {
                reader: self,
                items: items.iter(),
            }),
            Value::Null => visitor.visit_seq(Items {
                reader: self,
                items: [].iter(),
            }),
            _ => Err(self.mismatch("slice")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let members: Vec<(&'de str, Reader<'de>)> = match self.value {
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| (name.as_str(), self.child(value)))
                .collect(),
            Value::Null => Vec::new(),
            _ => return Err(self.mismatch("map")),
        };
        visitor.visit_map(Members {
            members: members.into_iter(),
            value: None,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let is_kubernetes = std::any::type_name::<V>().starts_with("k8s_openapi::");
        if self.value.is_null() {
            return visitor.visit_map(Members {
                members: Vec::new().into_iter(),
                value: None,
            });
        }
        visitor.visit_map(Members {
            members: self.fields(name, fields, is_kubernetes)?.into_iter(),
            value: None,
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.value {
            Value::String(text) => visitor.visit_enum(Variant(text)),
            _ => Err(self.mismatch("string")),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }
}

struct Items<'de> {
    reader: Reader<'de>,
    items: std::slice::Iter<'de, Value>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        match self.items.next() {
            Some(value) => seed.deserialize(self.reader.child(value)).map(Some),
            None => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Members<'de> {
    members: std::vec::IntoIter<(&'de str, Reader<'de>)>,
    value: Option<Reader<'de>>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((name, value)) = self.members.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.value.take() {
            Some(reader) => seed.deserialize(reader),
            None => Err(DecodeError::custom("value asked for before its key")),
        }
    }
}

struct Variant<'de>(&'de str);

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        Ok((
            seed.deserialize(BorrowedStrDeserializer::<DecodeError>::new(self.0))?,
            self,
        ))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, DecodeError> {
        Err(DecodeError::custom("a name has no content"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::custom("a name has no content"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, DecodeError> {
        Err(DecodeError::custom("a name has no content"))
    }
}
