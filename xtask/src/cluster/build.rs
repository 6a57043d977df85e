//! Building the node's programs, once for each set of sources and versions.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::command::run;
use super::versions::{GO, MODULES, Module, SOURCES, kubernetes};
use super::{cache, node};

const LINK: &str = "-s -w";

/// The folder of the node's programs, built now if this is the first time.
pub(crate) fn ensure() -> Result<PathBuf> {
    let cache = cache::folder()?;
    node::visible_to_nodes(&cache)?;
    let name = format!("node-{}", key());
    let bin = cache.join(&name).join("bin");
    if bin.is_dir() {
        return Ok(bin);
    }
    check_go()?;
    fs::create_dir_all(&cache).with_context(|| format!("cannot make the cache folder {}", cache.display()))?;
    let _lock = lock(&cache.join(format!("{name}.lock")))?;
    if bin.is_dir() {
        return Ok(bin);
    }
    // The name is ours as long as the lock is: what lies there is from a build that was cut off.
    let partial = cache.join(format!("{name}.partial"));
    remove(&partial)?;
    fs::create_dir_all(partial.join("bin")).with_context(|| format!("cannot make {}", partial.display()))?;
    eprintln!("building the node's programs into {} (once; 5 to 12 minutes on two cores)", bin.display());
    let started = Instant::now();
    build(&partial)?;
    let finished = cache.join(&name);
    fs::rename(&partial, &finished)
        .with_context(|| format!("cannot rename {} to {}", partial.display(), finished.display()))?;
    eprintln!("built the node's programs in {} s", started.elapsed().as_secs());
    Ok(bin)
}

/// What the programs follow from, as sixteen hexadecimal digits.
fn key() -> String {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    };
    for (name, contents) in SOURCES {
        add(name);
        add(contents);
    }
    for Module { program, package, version } in &MODULES {
        add(program);
        add(package);
        add(version);
    }
    add(LINK);
    digest.finalize().iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn build(folder: &Path) -> Result<()> {
    let (sources, bin) = (folder.join("sources"), folder.join("bin"));
    for (name, contents) in SOURCES {
        let file = sources.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        fs::write(&file, contents).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let version =
        SOURCES.iter().find_map(|(_, text)| kubernetes(text)).context("go.mod requires no k8s.io/kubernetes")?;
    let minor = version.split('.').nth(1).context("the version of k8s.io/kubernetes has no minor part")?;
    let stamp = format!(
        "{LINK} -X k8s.io/component-base/version.gitVersion={version} \
         -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor={minor}"
    );
    step("pause", || {
        run(go(&bin)
            .args(["build", "-trimpath", "-ldflags", LINK, "-o"])
            .arg(bin.join("pause"))
            .arg("./pause")
            .current_dir(&sources))
    })?;
    step(&format!("Kubernetes {version} and etcd"), || {
        run(go(&bin)
            .args(["build", "-trimpath", "-ldflags", &stamp, "-o"])
            .arg(bin.join("kubenode"))
            .arg(".")
            .current_dir(&sources))
    })?;
    symlink("kubenode", bin.join("kubectl")).context("cannot make the symbolic link kubectl")?;
    for Module { program, package, version } in &MODULES {
        step(&format!("{program} {version}"), || {
            run(go(&bin)
                .args(["install", "-trimpath", "-ldflags", LINK])
                .arg(format!("{package}@{version}"))
                .current_dir(folder))
        })?;
    }
    Ok(())
}

fn go(bin: &Path) -> Command {
    let mut command = Command::new("go");
    command.env("CGO_ENABLED", "0").env("GOBIN", bin).env("GOFLAGS", "-buildvcs=false").env_remove("GOWORK");
    command
}

fn step(what: &str, work: impl FnOnce() -> Result<String>) -> Result<()> {
    eprintln!("  building {what}");
    let started = Instant::now();
    work().with_context(|| format!("cannot build {what}"))?;
    eprintln!("  built {what} in {} s", started.elapsed().as_secs());
    Ok(())
}

fn check_go() -> Result<()> {
    let (major, minor) = GO;
    let hint = format!(
        "the node's programs are built with Go {major}.{minor} or newer: install it as https://go.dev/doc/install says \
         (Debian 12's golang-go is too old), or use another cluster by its KUBECONFIG"
    );
    let Ok(version) = run(Command::new("go").args(["env", "GOVERSION"])) else {
        bail!("there is no Go on the PATH; {hint}");
    };
    // A Go from 1.21 on fetches the one that go.mod asks for, unless GOTOOLCHAIN=local.
    if go_version(&version).is_none_or(|found| found < GO) {
        let toolchain = run(Command::new("go").args(["env", "GOTOOLCHAIN"])).unwrap_or_default();
        if toolchain.trim() == "local" || go_version(&version).is_none_or(|found| found < (1, 21)) {
            bail!("the Go on the PATH is {}; {hint}", version.trim());
        }
    }
    Ok(())
}

/// The two numbers of `go1.26.8`.
fn go_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().strip_prefix("go")?.split(|character: char| !character.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot make {}", path.display()))?;
    if file.try_lock().is_err() {
        eprintln!("waiting for another build to end ({})", path.display());
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{go_version, key};

    #[test]
    fn the_version_of_go_is_read_from_what_go_prints() {
        assert_eq!(go_version("go1.26.8\n"), Some((1, 26)));
        assert_eq!(go_version("go1.27rc1"), Some((1, 27)));
        assert_eq!(go_version("devel +abc"), None);
    }

    #[test]
    fn the_key_is_a_file_name() {
        assert!(key().len() == 16 && key().chars().all(|character| character.is_ascii_hexdigit()));
    }
}
