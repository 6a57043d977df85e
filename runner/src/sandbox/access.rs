use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::SandboxError;

/// The oldest ABI that is good enough: it is the first that guards truncation, without which a folder that is readable only
/// could be emptied. TCP (ABI 4) and signals (ABI 6) are guarded by Landlock where it can; the system-call filter refuses
/// sockets everywhere.
const NEEDED: u32 = 3;

/// The version of the kernel's Landlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LandlockAbi(u32);

/// The first version whose domains hold signals and abstract sockets in.
const SCOPES: u32 = 6;

impl LandlockAbi {
    /// Whether a domain of this kernel can keep signals and abstract sockets in.
    #[must_use]
    pub const fn has_scopes(self) -> bool {
        self.0 >= SCOPES
    }

    /// The number, as the kernel counts.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The newest version that both the kernel and the `landlock` crate know.
    const fn known(self) -> ABI {
        match self.0 {
            0..=3 => ABI::V3,
            4 => ABI::V4,
            5 => ABI::V5,
            6 => ABI::V6,
            _ => ABI::V7,
        }
    }
}

/// Whether this kernel can confine a job, without confining anything.
pub fn availability() -> Result<LandlockAbi, SandboxError> {
    let abi = kernel_abi()?;
    if abi.0 < NEEDED {
        return Err(SandboxError::LandlockTooOld { found: abi.0, needed: NEEDED });
    }
    Ok(abi)
}

fn kernel_abi() -> Result<LandlockAbi, SandboxError> {
    const LANDLOCK_CREATE_RULESET_VERSION: libc::c_uint = 1; // linux/landlock.h
    // SAFETY: with a null attribute, size 0 and this flag the kernel reads no memory of ours and creates nothing; it returns
    // the version. The `landlock` crate asks the same way and keeps the answer to itself.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    if let Ok(version) = u32::try_from(version) {
        return Ok(LandlockAbi(version));
    }
    let error = io::Error::last_os_error();
    Err(match error.raw_os_error() {
        Some(libc::ENOSYS) => SandboxError::LandlockMissing,
        Some(libc::EOPNOTSUPP) => SandboxError::LandlockDisabled,
        _ => SandboxError::LandlockRefused(error),
    })
}

/// A ruleset that denies everything this kernel can guard, until rules are added.
pub(super) struct Rules {
    abi: ABI,
    ruleset: RulesetCreated,
}

impl Rules {
    /// Handles every right that the kernel knows: file system, TCP from ABI 4 on, abstract sockets and signals from ABI 6 on.
    pub(super) fn deny_all() -> Result<Self, SandboxError> {
        let abi = availability()?.known();
        // What this kernel is known to have is required, so that a mistake is an error and never a hole.
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(abi))?;
        let net = AccessNet::from_all(abi);
        if !net.is_empty() {
            ruleset = ruleset.handle_access(net)?;
        }
        let scopes = Scope::from_all(abi);
        if !scopes.is_empty() {
            ruleset = ruleset.scope(scopes)?;
        }
        Ok(Self { abi, ruleset: ruleset.create()? })
    }

    /// Handles nothing but what leaves a domain by a signal or an abstract socket: a second, inner wall for a process whose
    /// files are confined already. `None` on kernels that know no scopes.
    pub(super) fn scopes() -> Result<Option<Self>, SandboxError> {
        let abi = availability()?.known();
        let scopes = Scope::from_all(abi);
        if scopes.is_empty() {
            return Ok(None);
        }
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).scope(scopes)?;
        Ok(Some(Self { abi, ruleset: ruleset.create()? }))
    }

    /// Handles nothing but the start of programs, and grants none.
    pub(super) fn no_program() -> Result<Self, SandboxError> {
        let abi = availability()?.known();
        let ruleset =
            Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::Execute)?;
        Ok(Self { abi, ruleset: ruleset.create()? })
    }

    /// Grants starting one program, or those beneath a folder, where nothing but that is handled.
    pub(super) fn allow_start(self, path: &Path) -> Result<Self, SandboxError> {
        self.allow(path, AccessFs::Execute.into())
    }

    /// Grants reading files and folders beneath `path`.
    pub(super) fn allow_read(self, path: &Path) -> Result<Self, SandboxError> {
        self.allow(path, AccessFs::ReadFile | AccessFs::ReadDir)
    }

    /// Grants reading and changing files and folders beneath `path`, but no device, socket, pipe or
    /// symbolic link, and nothing to execute.
    pub(super) fn allow_write(self, path: &Path) -> Result<Self, SandboxError> {
        let unwanted = AccessFs::Execute
            | AccessFs::MakeChar
            | AccessFs::MakeBlock
            | AccessFs::MakeSock
            | AccessFs::MakeFifo
            | AccessFs::MakeSym
            | AccessFs::IoctlDev;
        let access = AccessFs::from_all(self.abi) & !unwanted;
        self.allow(path, access)
    }

    /// Grants reading and executing files beneath `path`, and listing folders: programs and their libraries.
    pub(super) fn allow_programs(self, path: &Path) -> Result<Self, SandboxError> {
        self.allow(path, AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir)
    }

    /// Grants executing one file, and reading it.
    pub(super) fn allow_execute(self, path: &Path) -> Result<Self, SandboxError> {
        self.allow(path, AccessFs::Execute | AccessFs::ReadFile)
    }

    fn allow(self, path: &Path, access: BitFlags<AccessFs>) -> Result<Self, SandboxError> {
        // `path_beneath_rules` of the crate drops what it cannot open without a word, so each path is opened here.
        let opened = PathFd::new(path)
            .map_err(|error| SandboxError::Path { path: path.to_path_buf(), source: io::Error::other(error) })?;
        let is_folder = path.is_dir();
        let access = if is_folder { access } else { access & AccessFs::from_file(self.abi) };
        let ruleset = self.ruleset.add_rule(PathBeneath::new(opened, access))?;
        Ok(Self { ruleset, ..self })
    }

    /// Confines the calling thread and what it starts, for good. Sets `no_new_privs`.
    pub(super) fn enforce(self) -> Result<(), SandboxError> {
        let status: RestrictionStatus = self.ruleset.restrict_self()?;
        if status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
            Ok(())
        } else {
            Err(SandboxError::LandlockPartial(format!("{status:?}")))
        }
    }
}
