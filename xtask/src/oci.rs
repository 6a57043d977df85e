//! Images without a container engine: an OCI image layout is three small JSON files beside its layers. A fourth,
//! `manifest.json`, makes the same archive one of `docker save`, which `docker load` and `kind load` ask for.

use std::io::Write;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// The place of the image's manifest in what [`Image::layout`] returns.
const MANIFEST_ENTRY: usize = 3;

/// A file of an image. The folders above it are made, for root and readable by all.
pub(crate) struct ImageFile {
    /// Without a leading slash.
    pub(crate) path: String,
    pub(crate) mode: u32,
    pub(crate) contents: Vec<u8>,
}

/// An image of one layer for Linux on this machine's processor.
pub(crate) struct Image {
    /// The full name under which a container runtime is to know it: `localhost/pause:1`.
    pub(crate) reference: String,
    /// The `config` object of the image configuration: `Entrypoint`, `User`, `Env`, `WorkingDir`, `Labels`.
    pub(crate) config: Value,
    pub(crate) files: Vec<ImageFile>,
}

/// A file of the layout, by its path in it.
type Entry = (String, Vec<u8>);

impl Image {
    /// The files of the image layout. The same image always gives the same bytes.
    pub(crate) fn layout(&self) -> Result<Vec<Entry>> {
        let layer = self.layer().context("cannot make the layer")?;
        let layer_digest = digest(&layer);
        let config = serde_json::to_vec(&json!({
            "architecture": architecture(),
            "os": "linux",
            "config": self.config,
            "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
        }))?;
        let manifest = serde_json::to_vec(&json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "digest": digest(&config), "size": config.len()},
            "layers": [{"mediaType": LAYER, "digest": layer_digest, "size": layer.len()}],
        }))?;
        let tag = self.reference.rsplit_once(':').map_or("latest", |(_, tag)| tag);
        let index = serde_json::to_vec(&json!({
            "schemaVersion": 2,
            "manifests": [{
                "mediaType": MANIFEST,
                "digest": digest(&manifest),
                "size": manifest.len(),
                "annotations": {"io.containerd.image.name": self.reference, "org.opencontainers.image.ref.name": tag},
            }],
        }))?;
        let blob = |bytes: &[u8]| format!("blobs/sha256/{}", digest(bytes).trim_start_matches("sha256:"));
        let docker = serde_json::to_vec(&json!([{
            "Config": blob(&config),
            "RepoTags": [self.reference],
            "Layers": [blob(&layer)],
        }]))?;
        Ok(vec![
            ("oci-layout".to_owned(), br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec()),
            ("index.json".to_owned(), index),
            ("manifest.json".to_owned(), docker),
            (blob(&manifest), manifest),
            (blob(&config), config),
            (blob(&layer), layer),
        ])
    }

    /// The layout as one tar archive, which `ctr images import`, `docker load`, `kind load image-archive`, `podman load`
    /// and skopeo read. Returns the digest of its manifest, by which a pod may name the image.
    pub(crate) fn write_archive(&self, output: impl Write) -> Result<String> {
        let layout = self.layout()?;
        let manifest = layout.get(MANIFEST_ENTRY).map(|(_, contents)| digest(contents));
        let mut archive = tar::Builder::new(output);
        for (path, contents) in layout {
            append(&mut archive, &path, 0o644, &contents)?;
        }
        archive.into_inner()?.flush()?;
        manifest.context("the layout has no manifest")
    }

    fn layer(&self) -> Result<Vec<u8>> {
        let mut archive = tar::Builder::new(Vec::new());
        let mut made = Vec::new();
        for file in &self.files {
            for (end, _) in file.path.match_indices('/') {
                let folder = file.path.get(..=end).unwrap_or_default();
                if !made.contains(&folder) {
                    made.push(folder);
                    append_folder(&mut archive, folder)?;
                }
            }
            append(&mut archive, &file.path, file.mode, &file.contents)?;
        }
        Ok(archive.into_inner()?)
    }
}

fn append(archive: &mut tar::Builder<impl Write>, path: &str, mode: u32, contents: &[u8]) -> Result<()> {
    let mut header = header(mode, tar::EntryType::Regular);
    header.set_size(contents.len() as u64);
    archive.append_data(&mut header, path, contents).with_context(|| format!("cannot add {path}"))
}

fn append_folder(archive: &mut tar::Builder<impl Write>, path: &str) -> Result<()> {
    let mut header = header(0o755, tar::EntryType::Directory);
    header.set_size(0);
    archive.append_data(&mut header, path, std::io::empty()).with_context(|| format!("cannot add {path}"))
}

/// Owned by root, of the year 1970: what is in the image decides its digest, not when and by whom it was made.
fn header(mode: u32, kind: tar::EntryType) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// Go's name of the processor, which image configurations use.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Image, ImageFile, digest};

    fn image() -> Image {
        let file = |path: &str| ImageFile { path: path.to_owned(), mode: 0o755, contents: b"program".to_vec() };
        Image {
            reference: "localhost/x:1".to_owned(),
            config: json!({"Entrypoint": ["/bin/x"]}),
            files: vec![file("bin/x"), file("bin/y")],
        }
    }

    #[test]
    fn every_blob_is_named_by_its_digest_and_the_index_leads_to_the_layer() {
        let layout = image().layout().unwrap();
        for (path, contents) in layout.iter().filter(|(path, _)| path.starts_with("blobs/")) {
            assert_eq!(path.replace("blobs/sha256/", "sha256:"), digest(contents));
        }
        let get = |name: &str| &layout.iter().find(|(path, _)| path == name).unwrap().1;
        let blob = |value: &Value| get(&value["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/"));
        let index: Value = serde_json::from_slice(get("index.json")).unwrap();
        let manifest: Value = serde_json::from_slice(blob(&index["manifests"][0])).unwrap();
        assert_eq!(image().write_archive(Vec::new()).unwrap(), index["manifests"][0]["digest"]);
        let docker: Value = serde_json::from_slice(get("manifest.json")).unwrap();
        assert_eq!(docker[0]["RepoTags"], json!(["localhost/x:1"]));
        assert!(docker[0]["Config"].as_str().unwrap().ends_with(&digest(blob(&manifest["config"]))[7..]));
        assert!(docker[0]["Layers"][0].as_str().unwrap().ends_with(&digest(blob(&manifest["layers"][0]))[7..]));
        let mut archive = tar::Archive::new(blob(&manifest["layers"][0]).as_slice());
        let paths: Vec<_> =
            archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().into_owned()).collect();
        assert_eq!(paths, ["bin/", "bin/x", "bin/y"].map(std::path::PathBuf::from));
    }

    #[test]
    fn the_same_image_gives_the_same_bytes() {
        assert_eq!(image().layout().unwrap(), image().layout().unwrap());
    }
}
