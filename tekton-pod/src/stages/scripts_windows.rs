//! Scripts that start with `#!win`: they are placed as they are and run by the program named there.
//!
//! Upstream counterpart: `extractWindowsScriptComponents` in `pkg/pod/script.go`.

/// A Windows script taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WindowsScript {
    /// The step's command.
    pub(crate) command: Vec<String>,
    /// Arguments that go before the step's own.
    pub(crate) args: Vec<String>,
    /// Text to place.
    pub(crate) text: String,
    /// Where to place it.
    pub(crate) file: String,
}

/// True if the script asks for Windows.
pub(crate) fn is_windows(script: &str) -> bool {
    script.trim().starts_with("#!win")
}

/// Takes a script apart. `#!win PROGRAM ARG…` names what runs the file; without a program the file is a
/// command script of its own, freed from its first line.
pub(crate) fn take_apart(script: &str, file: String) -> WindowsScript {
    let (shebang, rest) = script.split_once('\n').unwrap_or((script, ""));
    let mut words = shebang.split(' ').skip(1);
    let Some(program) = words.next() else {
        let file = format!("{file}.cmd");
        return WindowsScript {
            command: vec![file.clone()],
            args: Vec::new(),
            text: rest.to_owned(),
            file,
        };
    };
    let file = if program.starts_with("powershell") {
        format!("{file}.ps1")
    } else {
        file
    };
    WindowsScript {
        command: vec![program.to_owned()],
        args: words.map(str::to_owned).chain([file.clone()]).collect(),
        text: script.to_owned(),
        file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_runs_the_file() {
        let script = take_apart("#!win powershell -File\nx", "/s".to_owned());
        assert_eq!(script.command, ["powershell"]);
        assert_eq!(script.args, ["-File", "/s.ps1"]);
        assert_eq!(script.text, "#!win powershell -File\nx");
    }

    #[test]
    fn without_interpreter_the_file_is_the_command() {
        let script = take_apart("#!win\necho 1\necho 2", "/s".to_owned());
        assert_eq!(script.command, ["/s.cmd"]);
        assert_eq!(script.text, "echo 1\necho 2");
        assert!(script.args.is_empty());
    }
}
