//! Explains "argument list too long": which argument or variable is too long, and what the limit is.
//!
//! Linux allows 128 KiB for one, and a quarter of the stack limit for all. Values are never shown.

use nix::sys::resource::{Resource, getrlimit};

use crate::environment::Environment;

/// Longest single argument or variable, with the byte that ends it.
const ONE: u64 = 32 * 4096;
/// The kernel never gives more than this for all.
const ALL_MOST: u64 = 6 * 1024 * 1024;

/// What is too long.
pub(crate) fn explain(program: &str, args: &[String], environment: &Environment) -> String {
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    let words: Vec<u64> = words.map(|word| word.len() as u64 + 1).collect();
    let variables: Vec<(String, u64)> = environment
        .iter()
        .map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                (name.len() + value.len()) as u64 + 2,
            )
        })
        .collect();
    if let Some((index, length)) = words.iter().enumerate().find(|(_, length)| **length > ONE) {
        return format!("argument {index} has {length} bytes, the limit for one is {ONE}");
    }
    if let Some((name, length)) = variables.iter().find(|(_, length)| *length > ONE) {
        return format!("environment variable {name} has {length} bytes, the limit for one is {ONE}");
    }
    let stack = getrlimit(Resource::RLIMIT_STACK).map_or(u64::MAX, |(soft, _)| soft);
    let limit = (stack / 4).min(ALL_MOST);
    let (in_words, in_variables) = (
        words.iter().sum::<u64>(),
        variables.iter().map(|(_, length)| length).sum::<u64>(),
    );
    let longest = words.iter().enumerate().max_by_key(|(_, length)| **length);
    let longest = longest.map_or_else(String::new, |(index, length)| {
        format!(", the longest is argument {index} with {length}")
    });
    format!(
        "{} arguments have {in_words} bytes and {} environment variables {in_variables}, the limit for all is {limit}{longest}",
        words.len(),
        variables.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_culprit_is_named() {
        let environment: Environment = [("SMALL", "x".to_owned())].into_iter().collect();
        let args = ["ok".to_owned(), "y".repeat(200_000)];
        let text = explain("sh", &args, &environment);
        assert_eq!(text, "argument 2 has 200001 bytes, the limit for one is 131072");
        let environment: Environment = [("BIG", "x".repeat(140_000))].into_iter().collect();
        let text = explain("sh", &[], &environment);
        assert_eq!(
            text,
            "environment variable BIG has 140005 bytes, the limit for one is 131072"
        );
        let args = vec!["z".repeat(1000); 9000];
        let text = explain("sh", &args, &Environment::default());
        assert!(text.starts_with("9001 arguments have 9009003 bytes"), "{text}");
    }
}
