//! `cargo xtask image`: the images of the runner and the operator without a container engine. Each is one static
//! program in an image FROM scratch; `images/` holds the same as Dockerfiles, for people who have Docker.

mod build;
mod elf;

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::oci::{Image, ImageFile};

/// The same user as in the pods that the operator and the chart make; an image FROM scratch has no user database.
const USER: &str = "65532:65532";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The images to make [default: all]
    #[arg(value_enum)]
    programs: Vec<Program>,
    /// The folder to write `<program>.tar` to
    #[arg(long, value_name = "FOLDER", default_value = "out")]
    out: PathBuf,
    /// How to build the programs: `dev` is quicker to build, larger and slower to run
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,
    /// Build nothing and take the programs that --bin names
    #[arg(long, requires = "bins", conflicts_with_all = ["profile", "programs"])]
    no_build: bool,
    /// A static program to make an image of, told by its file name (repeatable)
    #[arg(long = "bin", id = "bins", value_name = "PATH", requires = "no_build")]
    bins: Vec<PathBuf>,
    /// What comes before the program's name in the image's reference
    #[arg(long, value_name = "PREFIX", default_value = "localhost")]
    repository: String,
    /// The tag of the image's reference
    #[arg(long, default_value = env!("CARGO_PKG_VERSION"))]
    tag: String,
}

/// A program that has an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Program {
    #[value(name = "anchorhold-runner")]
    Runner,
    #[value(name = "anchorhold-operator")]
    Operator,
}

/// A profile of Cargo's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    Dev,
    Release,
}

impl Program {
    const ALL: [Self; 2] = [Self::Runner, Self::Operator];

    /// The name of its package, of its file and of its image.
    const fn name(self) -> &'static str {
        match self {
            Self::Runner => "anchorhold-runner",
            Self::Operator => "anchorhold-operator",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Runner => "Anchorhold runner: executes one job's plan inside its sandbox",
            Self::Operator => "Anchorhold operator: runs the controllers of Job, Agent and McpServer",
        }
    }

    fn of_file(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default();
        Self::ALL
            .into_iter()
            .find(|program| name == program.name())
            .with_context(|| format!("{} is named neither anchorhold-runner nor anchorhold-operator", path.display()))
    }
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    let Arguments { mut programs, out, profile, no_build, bins, repository, tag } = arguments;
    let files = if no_build {
        bins.into_iter().map(|path| Ok((Program::of_file(&path)?, path))).collect::<Result<_>>()?
    } else {
        if programs.is_empty() {
            programs.extend(Program::ALL);
        }
        programs.sort_unstable();
        programs.dedup();
        build::build(&programs, profile)?
    };
    fs::create_dir_all(&out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    for (program, path) in files {
        let contents = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        elf::check_static(&contents).with_context(|| format!("cannot make an image of {}", path.display()))?;
        let image = image(program, &repository, &tag, contents);
        let archive = out.join(format!("{}.tar", program.name()));
        let digest = write(&image, &archive)?;
        println!("{}  {}  {digest}", archive.display(), image.reference);
    }
    Ok(ExitCode::SUCCESS)
}

fn image(program: Program, repository: &str, tag: &str, contents: Vec<u8>) -> Image {
    let name = program.name();
    Image {
        reference: format!("{repository}/{name}:{tag}"),
        config: json!({
            "Entrypoint": [format!("/{name}")],
            "User": USER,
            "WorkingDir": "/",
            "Labels": {
                "org.opencontainers.image.title": program.title(),
                "org.opencontainers.image.version": tag,
                "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
            },
        }),
        files: vec![ImageFile { path: name.to_owned(), mode: 0o755, contents }],
    }
}

/// Writes the archive under another name first, so that one who looks never finds half of it. Returns its digest.
fn write(image: &Image, archive: &Path) -> Result<String> {
    let partial = archive.with_extension("tar.partial");
    let file = File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
    let digest = image.write_archive(BufWriter::new(file)).context("cannot write the image's archive")?;
    fs::rename(&partial, archive).with_context(|| format!("cannot write {}", archive.display()))?;
    Ok(digest)
}

/// Fails unless every program asked for is among those built.
fn complete(programs: &[Program], built: &[(Program, PathBuf)]) -> Result<()> {
    for program in programs {
        if !built.iter().any(|(of, _)| of == program) {
            bail!("cargo built {} but named no executable of it", program.name());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::{Program, image};

    #[test]
    fn a_program_is_known_by_its_file_name_alone() {
        assert_eq!(Program::of_file(Path::new("/x/anchorhold-runner")).unwrap(), Program::Runner);
        assert_eq!(
            Program::of_file(Path::new("/x/runner")).unwrap_err().to_string(),
            "/x/runner is named neither anchorhold-runner nor anchorhold-operator"
        );
    }

    #[test]
    fn an_image_holds_the_program_alone_and_runs_it_as_no_user_of_the_node() {
        let image = image(Program::Operator, "localhost", "1", b"program".to_vec());
        assert_eq!(image.reference, "localhost/anchorhold-operator:1");
        assert_eq!(image.config["Entrypoint"], json!(["/anchorhold-operator"]));
        assert_eq!(image.config["User"], json!("65532:65532"));
        assert_eq!(image.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["anchorhold-operator"]);
    }
}
