//! Where things lie in the runner's container, and how large they may be. Both sides use these and no literal of their own.

/// The folder the plan's ConfigMap is mounted at, read-only.
pub const PLAN_DIRECTORY: &str = "/etc/anchorhold";
/// The key of the plan in its ConfigMap, hence its file name.
pub const PLAN_KEY: &str = "plan.json";
/// The plan's file.
pub const PLAN_FILE: &str = "/etc/anchorhold/plan.json";
/// A plan's largest size, bytes. A ConfigMap holds 1 MiB in all (the API server's limit); the script is the bulk of it
/// and JSON escapes can make it larger.
pub const PLAN_MAX_BYTES: usize = 1_000_000;
/// A script's largest size, bytes of UTF-8.
pub const SCRIPT_MAX_BYTES: usize = 256 * 1024;

/// The folder beneath which each source is mounted at its name, read-only.
pub const WORKSPACE: &str = "/workspace";
/// The only folder a program may write results to.
pub const OUT: &str = "/out";
/// Scratch space of tool processes; bounded, gone with the pod.
pub const TMP: &str = "/tmp";
/// The volume behind [`OUT`].
pub const OUT_VOLUME: &str = "out";

/// The socket between runner and broker, in an emptyDir that both containers mount.
pub const BROKER_SOCKET: &str = "/run/anchorhold/broker.sock";

/// The program of the runner image.
pub const RUNNER_PROGRAM: &str = "/anchorhold-runner";
/// The name of the runner's container in a job's pod.
pub const RUNNER_CONTAINER: &str = "runner";
/// The user and group the runner runs as. Images carry no user database; 65532 is what the field uses for "nonroot".
pub const RUNNER_UID: u32 = 65532;

/// Where the kubelet reads a container's termination message.
pub const TERMINATION_MESSAGE_PATH: &str = "/dev/termination-log";
/// The kubelet cuts a termination message above this many bytes (`MaxContainerTerminationMessageLength`).
pub const TERMINATION_MESSAGE_MAX_BYTES: usize = 4096;
