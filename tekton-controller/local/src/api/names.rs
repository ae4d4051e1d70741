//! Which names, label keys and label values Kubernetes accepts.

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
     and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
     start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
     an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
     and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
     validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  \
     or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

fn ends_alphanumeric(text: &str) -> bool {
    let ends = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    ends(text.chars().next()) && ends(text.chars().last())
}

fn is_label(text: &str) -> bool {
    ends_alphanumeric(text)
        && text
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
}

fn is_loose(text: &str) -> bool {
    ends_alphanumeric(text)
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
}

/// A DNS subdomain, as most names are.
pub(crate) fn subdomain(name: &str) -> Result<(), String> {
    if name.len() > 253 {
        return Err("must be no more than 253 characters".into());
    }
    if name.split('.').all(is_label) {
        Ok(())
    } else {
        Err(SUBDOMAIN.into())
    }
}

/// A DNS label, as namespaces and containers have.
pub(crate) fn dns_label(name: &str) -> Result<(), String> {
    if name.len() > 63 {
        return Err("must be no more than 63 characters".into());
    }
    if is_label(name) {
        Ok(())
    } else {
        Err(DNS_LABEL.into())
    }
}

/// The key of a label or annotation: an optional prefix and a name.
pub(crate) fn qualified_name(key: &str) -> Result<(), String> {
    let name = match key.split_once('/') {
        None => key,
        Some((prefix, name)) => {
            if prefix.is_empty() {
                return Err("prefix part must be non-empty".into());
            }
            subdomain(prefix).map_err(|why| format!("prefix part {why}"))?;
            name
        }
    };
    if name.is_empty() {
        return Err(format!("name part must be non-empty, {QUALIFIED}"));
    }
    if name.len() > 63 {
        return Err("name part must be no more than 63 characters".into());
    }
    if is_loose(name) {
        Ok(())
    } else {
        Err(QUALIFIED.into())
    }
}

/// The value of a label.
pub(crate) fn label_value(value: &str) -> Result<(), String> {
    if value.len() > 63 {
        return Err("must be no more than 63 characters".into());
    }
    if value.is_empty() || is_loose(value) {
        Ok(())
    } else {
        Err(LABEL_VALUE.into())
    }
}

/// A key of a ConfigMap or Secret.
pub(crate) fn config_key(key: &str) -> Result<(), String> {
    if key.len() > 253 {
        return Err("must be no more than 253 characters".into());
    }
    if matches!(key, "." | "..") || key.starts_with("..") {
        return Err(format!("must not be '{key}'"));
    }
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    if !key.is_empty() && key.chars().all(fits) {
        Ok(())
    } else {
        Err(CONFIG_KEY.into())
    }
}
