//! The certificates of one node: an authority of its own, whose key never leaves the node's folder. They are valid for
//! longer than any node lives, so that a machine's wrong clock fails no test.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SanType,
};

use super::node::{NODE_IP, NODE_NAME, SERVICE_IP};

struct Identity {
    file: &'static str,
    name: &'static str,
    group: Option<&'static str>,
    addresses: &'static [&'static str],
    hosts: &'static [&'static str],
}

const IDENTITIES: [Identity; 6] = [
    Identity {
        file: "apiserver",
        name: "kube-apiserver",
        group: None,
        addresses: &["127.0.0.1", SERVICE_IP, NODE_IP],
        hosts: &["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"],
    },
    Identity { file: "admin", name: "admin", group: Some("system:masters"), addresses: &[], hosts: &[] },
    Identity {
        file: "kube-controller-manager",
        name: "system:kube-controller-manager",
        group: None,
        addresses: &[],
        hosts: &[],
    },
    Identity { file: "kube-scheduler", name: "system:kube-scheduler", group: None, addresses: &[], hosts: &[] },
    Identity {
        file: "node",
        name: "system:node:node",
        group: Some("system:nodes"),
        addresses: &[NODE_IP],
        hosts: &[NODE_NAME],
    },
    Identity { file: "kube-proxy", name: "system:kube-proxy", group: None, addresses: &[], hosts: &[] },
];

/// Writes `<name>.crt` and `<name>.key` of the authority (`ca`) and of each identity, and the key pair that signs
/// service account tokens (`sa.key`, `sa.pub`).
pub(crate) fn write(folder: &Path) -> Result<()> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "anchorhold test node");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate().context("cannot make the authority's key")?;
    let authority = params.self_signed(&key).context("cannot sign the authority's certificate")?;
    public(&folder.join("ca.crt"), &authority.pem())?;
    secret(&folder.join("ca.key"), &key.serialize_pem())?;
    let issuer = Issuer::new(params, key);
    for identity in &IDENTITIES {
        let (certificate, key) =
            issue(identity, &issuer).with_context(|| format!("cannot make the certificate of {}", identity.name))?;
        public(&folder.join(format!("{}.crt", identity.file)), &certificate)?;
        secret(&folder.join(format!("{}.key", identity.file)), &key)?;
    }
    let tokens = KeyPair::generate().context("cannot make the key of service account tokens")?;
    secret(&folder.join("sa.key"), &tokens.serialize_pem())?;
    public(&folder.join("sa.pub"), &tokens.public_key_pem())
}

fn issue(identity: &Identity, issuer: &Issuer<'_, KeyPair>) -> Result<(String, String)> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, identity.name);
    if let Some(group) = identity.group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    for address in identity.addresses {
        params.subject_alt_names.push(SanType::IpAddress(address.parse::<IpAddr>()?));
    }
    for host in identity.hosts {
        params.subject_alt_names.push(SanType::DnsName((*host).try_into()?));
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

fn public(path: &Path, text: &str) -> Result<()> {
    write_new(path, text, 0o644)
}

fn secret(path: &Path, text: &str) -> Result<()> {
    write_new(path, text, 0o600)
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}
