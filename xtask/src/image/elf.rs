//! Whether a program can run in an image that holds nothing else.

use anyhow::{Context, Result, bail};

/// `PT_INTERP`: the program header that names a dynamic loader.
const INTERPRETER: u32 = 3;
/// The names of the processors in `e_machine`, as Rust calls them.
const MACHINES: [(u16, &str); 2] = [(62, "x86_64"), (183, "aarch64")];

/// Fails unless `program` is a 64-bit little-endian ELF file for this machine's processor that names no dynamic loader.
pub(super) fn check_static(program: &[u8]) -> Result<()> {
    if program.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("it is no 64-bit little-endian ELF program");
    }
    let machine = u16::from_le_bytes(field(program, 0x12)?);
    if !MACHINES.contains(&(machine, std::env::consts::ARCH)) {
        bail!("it is for another processor than this machine's {} (e_machine {machine})", std::env::consts::ARCH);
    }
    let table =
        usize::try_from(u64::from_le_bytes(field(program, 0x20)?)).context("its program headers are far off")?;
    let size = usize::from(u16::from_le_bytes(field(program, 0x36)?));
    let count = usize::from(u16::from_le_bytes(field(program, 0x38)?));
    for index in 0..count {
        let offset = table.checked_add(index * size).context("its program headers are far off")?;
        if u32::from_le_bytes(field(program, offset)?) == INTERPRETER {
            bail!(
                "it needs a dynamic loader, which an image FROM scratch lacks: build it with +crt-static, as .cargo/config.toml does"
            );
        }
    }
    Ok(())
}

fn field<const N: usize>(program: &[u8], offset: usize) -> Result<[u8; N]> {
    let bytes = offset.checked_add(N).and_then(|end| program.get(offset..end)).context("it is cut short")?;
    Ok(bytes.try_into()?)
}

#[cfg(test)]
mod tests {
    use super::{MACHINES, check_static};

    /// An ELF header and one program header of the type.
    fn program(kind: u32) -> Vec<u8> {
        let machine = MACHINES.iter().find(|(_, name)| *name == std::env::consts::ARCH).unwrap().0;
        let mut bytes = vec![0; 0x40];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[0x12..0x14].copy_from_slice(&machine.to_le_bytes());
        bytes[0x20..0x28].copy_from_slice(&0x40_u64.to_le_bytes());
        bytes[0x36..0x38].copy_from_slice(&0x38_u16.to_le_bytes());
        bytes[0x38..0x3a].copy_from_slice(&1_u16.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes
    }

    #[test]
    fn a_program_that_only_loads_itself_is_static() {
        check_static(&program(1)).unwrap();
    }

    #[test]
    fn a_program_with_a_loader_is_refused() {
        let error = check_static(&program(3)).unwrap_err().to_string();
        assert!(error.starts_with("it needs a dynamic loader"), "{error}");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for bytes in [&b"#!/bin/sh\n"[..], b"", &program(1)[..0x42]] {
            check_static(bytes).unwrap_err();
        }
    }

    #[test]
    fn another_machines_program_is_refused() {
        let mut bytes = program(1);
        bytes[0x12] = 8;
        let error = check_static(&bytes).unwrap_err().to_string();
        assert!(error.starts_with("it is for another processor"), "{error}");
    }
}
