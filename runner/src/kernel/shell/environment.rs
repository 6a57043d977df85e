//! All of a command's environment. Nothing of the runner's own is in it.

use std::path::Path;

/// Where programs are looked for.
pub(super) const PROGRAM_FOLDERS: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// What git looks at before any configuration: no configuration of system or user, no question to a terminal, no write to
/// the repository for its own convenience, no object fetched from elsewhere.
const GIT: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "file"),
];

/// What overrides the repository's own configuration. An empty helper clears the list of helpers before it.
const GIT_CONFIG: &[(&str, &str)] = &[
    // A source belongs to whoever filled the volume; git would refuse it for that alone.
    ("safe.directory", "*"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", "false"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "false"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("interactive.diffFilter", "cat"),
    ("protocol.allow", "never"),
    ("protocol.file.allow", "always"),
    ("submodule.recurse", "false"),
    ("maintenance.auto", "false"),
    ("gc.auto", "0"),
];

/// The environment of a command whose scratch folder is `scratch`, and that finds programs in `first` before all others.
pub(super) fn of(scratch: &Path, first: Option<&Path>) -> Vec<(String, String)> {
    let first = first.map(|folder| folder.to_string_lossy().into_owned());
    let path: Vec<&str> = first.as_deref().into_iter().chain(PROGRAM_FOLDERS.iter().copied()).collect();
    let scratch = scratch.to_string_lossy().into_owned();
    let fixed = [("LANG", "C.UTF-8"), ("TERM", "dumb"), ("PAGER", "cat")];
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let mut environment =
        vec![("PATH".to_owned(), path.join(":")), ("HOME".to_owned(), scratch.clone()), ("TMPDIR".to_owned(), scratch)];
    environment.extend(fixed.iter().chain(GIT).map(own));
    environment.push(("GIT_CONFIG_COUNT".to_owned(), GIT_CONFIG.len().to_string()));
    for (index, (key, value)) in GIT_CONFIG.iter().enumerate() {
        environment.push((format!("GIT_CONFIG_KEY_{index}"), (*key).to_owned()));
        environment.push((format!("GIT_CONFIG_VALUE_{index}"), (*value).to_owned()));
    }
    environment
}
