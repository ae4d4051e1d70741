//! Quoted texts as Go's `%q` writes them, which many messages contain.
//!
//! Upstream counterpart: Go's `strconv.Quote`.

use std::fmt::Write as _;

/// `text` in double quotes, with Go's escapes.
///
/// ```
/// assert_eq!(tekton_api::quote::quote("a\t\"b\""), r#""a\t\"b\"""#);
/// ```
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        push_escaped(&mut quoted, c);
    }
    quoted.push('"');
    quoted
}

fn push_escaped(quoted: &mut String, c: char) {
    let escape = match c {
        '"' | '\\' => c,
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        c if is_printable(c) => return quoted.push(c),
        c => {
            let code = u32::from(c);
            // Writing to a String does not fail.
            let _ = match code {
                0..0x80 => write!(quoted, "\\x{code:02x}"),
                0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
                _ => write!(quoted, "\\U{code:08x}"),
            };
            return;
        }
    };
    quoted.push('\\');
    quoted.push(escape);
}

/// Whether Go prints a character as it is: no controls, no spaces but the ASCII one, no format characters.
fn is_printable(c: char) -> bool {
    c == ' '
        || !(c.is_control()
            || c.is_whitespace()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
                | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}'))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn escapes_as_go() {
        assert_eq!(quote("a b"), "\"a b\"");
        assert_eq!(quote("ü☃"), "\"ü☃\"");
        assert_eq!(quote("\0\u{7f}\u{80}\u{feff}"), r#""\x00\x7f\u0080\ufeff""#);
    }
}
