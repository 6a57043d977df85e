use std::fs;
use std::os::unix::fs::symlink;

use anchorhold_plan::{Gate, JobIdentity, Limits, OutputVolume, PLAN_VERSION, Program, RecordOptions, Source};
use tempfile::TempDir;

use super::*;

/// Two sources and an output folder, with something outside that must not be reached.
struct Tree {
    folder: TempDir,
    roots: Roots,
}

fn tree(sources: &[&str]) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in sources.iter().chain(&["out"]) {
        fs::create_dir_all(folder.path().join(name).join("deep")).unwrap();
        fs::write(folder.path().join(name).join("deep/file.txt"), name).unwrap();
    }
    fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    let plan = RunPlan {
        version: PLAN_VERSION,
        job: JobIdentity { namespace: "n".into(), name: "j".into(), uid: String::new() },
        program: Program::Script { source: "1".into() },
        sources: sources.iter().map(|name| Source { name: (*name).into(), path: at(name) }).collect(),
        output: OutputVolume { path: at("out"), size_limit_bytes: 1 },
        tools: Vec::new(),
        limits: Limits::default(),
        gate: Gate::NoCluster,
        record: RecordOptions::default(),
    };
    let roots = Roots::open_all(&plan).unwrap();
    Tree { folder, roots }
}

impl Tree {
    fn link(&self, name: &str, target: &str) {
        symlink(target, self.folder.path().join(name)).unwrap();
    }

    /// What a path gives: the content it opens, or the reason it does not.
    fn read(&self, path: &str) -> String {
        use std::io::Read;
        match self.roots.open(path) {
            Ok(None) => "the workspace".into(),
            Ok(Some(mut opened)) if opened.file.kind == FileKind::File => {
                let mut text = String::new();
                opened.file.file.read_to_string(&mut text).unwrap();
                text
            }
            Ok(Some(opened)) => {
                format!("the folder {}/{}", opened.located.root.shown(), opened.located.below.display())
            }
            Err(error) => error.to_string(),
        }
    }
}

#[test]
fn a_path_is_absolute_or_relative_to_the_workspace() {
    let tree = tree(&["app", "lib"]);
    for path in
        ["/workspace/app/deep/file.txt", "app/deep/file.txt", "./app//deep/./file.txt", "//workspace/app/deep/file.txt"]
    {
        assert_eq!(tree.read(path), "app", "{path}");
    }
    assert_eq!(tree.read("/out/deep/file.txt"), "out");
    assert_eq!(tree.read("/workspace/app"), "the folder /workspace/app/");
    for path in ["/workspace", "/workspace/", ".", "./"] {
        assert_eq!(tree.read(path), "the workspace", "{path}");
    }
}

#[test]
fn with_one_source_a_path_may_be_relative_to_it() {
    let one = tree(&["app"]);
    assert_eq!(one.read("deep/file.txt"), "app");
    assert_eq!(one.read("nope.txt"), "nope.txt does not exist, neither beneath /workspace nor beneath /workspace/app");
    let two = tree(&["app", "lib"]);
    assert_eq!(
        two.read("deep/file.txt"),
        "deep/file.txt does not exist beneath /workspace, which holds /workspace/app, /workspace/lib"
    );
}

#[test]
fn a_path_outside_is_refused_and_the_error_says_what_there_is() {
    let tree = tree(&["app", "lib"]);
    let sees = "what a tool can see is /workspace (/workspace/app, /workspace/lib) and /out";
    for path in ["/etc/passwd", "/", "/workspaces/app", "../secret.txt", "/workspace/../etc/passwd"] {
        assert_eq!(tree.read(path), format!("{path} is outside the job's folders; {sees}"));
    }
    assert_eq!(
        tree.read("/out/../etc/passwd"),
        "/out/../etc/passwd leads to /etc/passwd, which is outside the job's folders"
    );
    assert_eq!(
        tree.read("/workspace/app/../../etc/passwd"),
        "/workspace/app/../../etc/passwd leads to /etc/passwd, which is outside the job's folders"
    );
    assert_eq!(tree.read(""), "the path is empty; give a path like /workspace/<source>/<file>");
    assert_eq!(tree.read("a\0b"), "the path contains a NUL character; give a path like /workspace/<source>/<file>");
}

#[test]
fn dots_from_one_source_into_another_work() {
    let tree = tree(&["app", "lib"]);
    assert_eq!(tree.read("/workspace/app/../lib/deep/file.txt"), "lib");
    assert_eq!(tree.read("app/deep/../../lib/deep/file.txt"), "lib");
}

#[test]
fn links_inside_the_roots_are_followed_also_from_one_to_another() {
    let tree = tree(&["app", "lib"]);
    tree.link("app/relative", "deep/file.txt");
    tree.link("app/folder", "deep");
    tree.link("app/other", "../lib/deep/file.txt");
    tree.link("app/shown", "/workspace/lib/deep/file.txt");
    tree.link("app/real", tree.folder.path().join("lib/deep/file.txt").to_str().unwrap());
    tree.link("app/out", "/out/deep/file.txt");
    let read = ["relative", "folder/file.txt", "other", "shown", "real", "out"];
    assert_eq!(
        read.map(|name| tree.read(&format!("/workspace/app/{name}"))),
        ["app", "app", "lib", "lib", "lib", "out"]
    );
}

#[test]
fn a_link_out_is_refused_with_the_place_where_it_would_land() {
    let tree = tree(&["app"]);
    tree.link("app/up", "../../secret.txt");
    tree.link("app/passwd", "/etc/passwd");
    tree.link("app/root", "/");
    tree.link("app/process", "/proc/self/environ");
    let leads = |path: &str, lands: &str| format!("{path} leads to {lands}, which is outside the job's folders");
    assert_eq!(tree.read("/workspace/app/up"), leads("/workspace/app/up", "/secret.txt"));
    assert_eq!(tree.read("/workspace/app/passwd"), leads("/workspace/app/passwd", "/etc/passwd"));
    assert_eq!(tree.read("/workspace/app/root/etc/passwd"), leads("/workspace/app/root/etc/passwd", "/etc/passwd"));
    assert_eq!(tree.read("/workspace/app/process"), leads("/workspace/app/process", "/proc/self/environ"));
    // The control: without the roots every one of these links leads to a file that can be read.
    fs::read(tree.folder.path().join("app/passwd")).unwrap();
    fs::read(tree.folder.path().join("app/root/etc/passwd")).unwrap();
    fs::read(tree.folder.path().join("app/process")).unwrap();
}

#[test]
fn loops_of_links_and_links_to_nothing_are_told_apart() {
    let tree = tree(&["app"]);
    tree.link("app/a", "b");
    tree.link("app/b", "a");
    tree.link("app/self", "self/x");
    tree.link("app/dangling", "deep/nope");
    let looped = |path: &str| format!("{path} goes through more than 40 links; it is most likely a loop of links");
    assert_eq!(tree.read("/workspace/app/a"), looped("/workspace/app/a"));
    assert_eq!(tree.read("/workspace/app/self"), looped("/workspace/app/self"));
    assert_eq!(tree.read("/workspace/app/dangling"), "/workspace/app/dangling does not exist");
}

#[test]
fn a_file_in_the_middle_of_a_path_is_named() {
    let tree = tree(&["app"]);
    assert_eq!(
        tree.read("/workspace/app/deep/file.txt/x"),
        "/workspace/app/deep/file.txt/x does not exist: /workspace/app/deep/file.txt is a regular file, not a folder"
    );
}

#[test]
fn what_is_no_file_and_no_folder_is_named_and_not_opened() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let tree = tree(&["app"]);
    let at = |name: &str| tree.folder.path().join("app").join(name);
    mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    tree.link("app/to-fifo", "fifo");
    let refused = |path: &str, kind: &str| format!("{path} is {kind}; only regular files and folders are read");
    assert_eq!(tree.read("/workspace/app/fifo"), refused("/workspace/app/fifo", "a named pipe (FIFO)"));
    assert_eq!(tree.read("/workspace/app/to-fifo"), refused("/workspace/app/to-fifo", "a named pipe (FIFO)"));
    assert_eq!(tree.read("/workspace/app/socket"), refused("/workspace/app/socket", "a socket"));
}

#[test]
fn a_folder_that_is_swapped_for_a_link_out_between_the_look_and_the_open_gives_nothing() {
    let tree = tree(&["app"]);
    let Place::Beneath(located) = tree.roots.locate("/workspace/app/deep/file.txt").unwrap() else { panic!() };
    fs::rename(tree.folder.path().join("app/deep"), tree.folder.path().join("moved")).unwrap();
    tree.link("app/deep", "../moved");
    // The control: by its path, the file is still there.
    fs::read(tree.folder.path().join("app/deep/file.txt")).unwrap();
    let error = located.root.open_located(&located.below, located.kind, "x").unwrap_err();
    assert!(matches!(error, PathError::Changed { .. }), "{error}");
}

#[test]
fn a_folder_that_is_swapped_for_a_link_out_between_the_look_and_the_write_is_not_written_through() {
    let tree = tree(&["app"]);
    let at = |name: &str| tree.folder.path().join(name);
    let swapped = |path: &str| {
        let destination = tree.roots.destination(path).unwrap();
        fs::rename(at("out/deep"), at("moved")).unwrap();
        tree.link("out/deep", "../moved");
        let result = destination.replace(b"written");
        // The control: by its path, a file is written outside.
        fs::write(at("out/deep/by-path"), "written").unwrap();
        fs::remove_file(at("moved/by-path")).unwrap();
        fs::remove_file(at("out/deep")).unwrap();
        fs::rename(at("moved"), at("out/deep")).unwrap();
        result
    };
    for path in ["/out/deep/file.txt", "/out/deep/new.txt", "/out/deep/a/b/new.txt"] {
        let error = swapped(path).unwrap_err();
        assert!(matches!(error, PathError::Changed { .. }), "{path}: {error}");
    }
    let entries = tree.roots.out().entries(Path::new("deep")).unwrap();
    assert_eq!(entries.map(|entry| entry.unwrap().name).collect::<Vec<_>>(), [b"file.txt"]);
    assert_eq!(tree.read("/out/deep/file.txt"), "out");
}

#[test]
fn a_file_that_is_another_than_was_found_is_not_replaced() {
    let tree = tree(&["app"]);
    let at = |name: &str| tree.folder.path().join(name);
    let changed = |path: &str, change: &dyn Fn()| {
        let destination = tree.roots.destination(path).unwrap();
        change();
        let error = destination.replace(b"written").unwrap_err();
        assert!(matches!(error, PathError::Changed { .. }), "{error}");
        assert!(matches!(destination.open(), Ok(None) | Err(PathError::Changed { .. })));
    };
    changed("/out/deep/file.txt", &|| fs::write(at("out/deep/file.txt"), "longer than it was").unwrap());
    changed("/out/deep/file.txt", &|| fs::remove_file(at("out/deep/file.txt")).unwrap());
    changed("/out/deep/file.txt", &|| fs::write(at("out/deep/file.txt"), "new").unwrap());
    changed("/out/deep/file.txt", &|| {
        fs::remove_file(at("out/deep/file.txt")).unwrap();
        tree.link("out/deep/file.txt", "../../secret.txt");
    });
    assert_eq!(fs::read(at("secret.txt")).unwrap(), b"secret");
    assert_eq!(tree.roots.out().entries(Path::new("deep")).unwrap().count(), 1);
}

#[test]
fn a_mounted_config_map_is_known_by_its_links() {
    let tree = tree(&["app"]);
    assert_eq!(tree.roots.sources()[0].projected(), None);
    fs::create_dir(tree.folder.path().join("app/..2026_01_01")).unwrap();
    fs::write(tree.folder.path().join("app/..2026_01_01/key.txt"), "value").unwrap();
    tree.link("app/..data", "..2026_01_01");
    tree.link("app/key.txt", "..data/key.txt");
    assert_eq!(tree.roots.sources()[0].projected(), Some(PathBuf::from("..2026_01_01")));
    assert_eq!(tree.read("app/key.txt"), "value");
}

#[test]
fn an_empty_source_is_found() {
    let tree = tree(&["app", "lib"]);
    assert!(tree.roots.empty_source().unwrap().is_none());
    fs::remove_dir_all(tree.folder.path().join("lib/deep")).unwrap();
    assert_eq!(tree.roots.empty_source().unwrap().map(Root::name), Some("lib"));
}
