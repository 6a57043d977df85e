use serde_json::{Value, json};

use super::{agent, table};

const TOOL: &str = "a tool is one of read, ls, grep, find, write, edit, shell, git_log, git_show, git_blame, codemode, tool_search, or mcp__<server>__* or mcp__<server>__<tool>";

#[test]
fn tools_are_kernel_tools_or_tools_of_a_server() {
    let refused = format!("spec.tools[0]: {TOOL}");
    let refused = [refused.as_str()];
    table(
        "Agent",
        &agent(),
        [
            ("/spec/tools", json!([]), &[]),
            (
                "/spec/tools",
                json!([
                    "read",
                    "ls",
                    "grep",
                    "find",
                    "write",
                    "edit",
                    "shell",
                    "git_log",
                    "git_show",
                    "git_blame",
                    "codemode",
                    "tool_search"
                ]),
                &[],
            ),
            ("/spec/tools", json!(["mcp__tracker__*", "mcp__my-wiki__Search.Pages/v2"]), &[]),
            ("/spec/tools", json!(["Read"]), &refused),
            ("/spec/tools", json!(["*"]), &refused),
            ("/spec/tools", json!(["mcp__*"]), &refused),
            ("/spec/tools", json!(["mcp__tracker"]), &refused),
            ("/spec/tools", json!(["mcp__*__search"]), &refused),
            ("/spec/tools", json!(["mcp__tracker__get_*"]), &refused),
            ("/spec/tools", json!(["mcp__tracker__a b"]), &refused),
            ("/spec/tools", json!(["read", "read"]), &["spec.tools[1]: is there twice: remove one"]),
        ],
    );
}

#[test]
fn instructions_come_from_one_place() {
    let both = super::with(agent(), "/spec/instructions", json!("Be brief."));
    let from = json!({ "configMapKeyRef": { "name": "instructions", "key": "a.md" } });
    table(
        "Agent",
        &both,
        [(
            "/spec/instructionsFrom",
            from.clone(),
            &["spec: an Agent takes instructions or instructionsFrom, not both: remove one"],
        )],
    );
    table("Agent", &agent(), [("/spec/instructionsFrom", from, &[]), ("/spec/instructions", json!("Be brief."), &[])]);
}

#[test]
fn a_key_of_a_config_map_or_secret_is_one_kubernetes_takes() {
    let at = "/spec/instructionsFrom/configMapKeyRef";
    table(
        "Agent",
        &agent(),
        [
            (
                at,
                json!({ "name": "a", "key": "a/b" }),
                &[
                    "spec.instructionsFrom.configMapKeyRef.key: the ConfigMap's key must be a key: letters, digits, '-', '_' and '.'",
                ],
            ),
            (
                at,
                json!({ "name": "A", "key": "a" }),
                &[
                    "spec.instructionsFrom.configMapKeyRef.name: the ConfigMap's name must be the name of an object: lower case letters, digits, '-' and '.', starting and ending with a letter or digit",
                ],
            ),
        ],
    );
}

#[test]
fn a_model_is_reached_at_another_host() {
    let base = super::with(agent(), "/spec/model", json!({ "provider": "OpenAI", "name": "m" }));
    table(
        "Agent",
        &base,
        [
            ("/spec/model/baseUrl", json!("https://models.example.com/v1"), &[]),
            (
                "/spec/model/baseUrl",
                json!("http://169.254.169.254/"),
                &[
                    "spec.model.baseUrl: spec.model.baseUrl must not point to a loopback, link-local, unspecified or multicast address, nor spell an address unusually: write the server's own name or address",
                ],
            ),
            (
                "/spec/model/baseUrl",
                json!("https://me@models.example.com/"),
                &[
                    "spec.model.baseUrl: spec.model.baseUrl must be http:// or https://, a host, and perhaps a port and a path, without user, password and fragment, such as https://tracker.example.com/mcp",
                ],
            ),
            ("/spec/model/temperature", json!(2.1), &["spec.model.temperature: is 2.1; at most 2 is allowed"]),
            ("/spec/model/temperature", json!(1), &[]),
            (
                "/spec/model/provider",
                json!("Anthropics"),
                &["spec.model.provider: must be one of Anthropic, OpenAI, not \"Anthropics\""],
            ),
            (
                "/spec/model/name",
                json!("a b"),
                &[
                    "spec.model.name: spec.model.name must not contain white space: write the name as the endpoint knows it",
                ],
            ),
        ],
    );
}

#[test]
fn a_server_is_named_once() {
    table(
        "Agent",
        &agent(),
        [
            ("/spec/mcp", json!([{ "server": "tracker" }, { "server": "wiki", "exposure": "Hidden" }]), &[]),
            (
                "/spec/mcp",
                json!([{ "server": "tracker" }, { "server": "tracker" }]),
                &["spec.mcp[1]: has the server of an earlier entry: choose another"],
            ),
            (
                "/spec/mcp",
                json!([{ "server": "tracker", "url": "https://example.com" }]),
                &[
                    "spec.mcp[0].url: is not a known field: the fields here are enabled, exposure, required, server, toolExposure",
                ],
            ),
        ],
    );
}

#[test]
fn the_sandbox_takes_known_resources_and_nothing_more_of_a_pod() {
    const REQUESTS: &str = "spec.sandbox.resources.requests: requests takes positive amounts of cpu, memory and ephemeral-storage, such as memory: 512Mi";
    table(
        "Agent",
        &agent(),
        [
            ("/spec/sandbox/resources/requests", json!({ "cpu": 1, "memory": "1Gi", "ephemeral-storage": "1Gi" }), &[]),
            ("/spec/sandbox/resources/requests", json!({ "nvidia.com/gpu": 1 }), &[REQUESTS]),
            ("/spec/sandbox/resources/requests", json!({ "memory": "0" }), &[REQUESTS]),
            ("/spec/sandbox/resources/requests", json!({ "memory": "lots" }), &[REQUESTS]),
            (
                "/spec/sandbox/hostNetwork",
                Value::Bool(true),
                &[
                    "spec.sandbox.hostNetwork: is not a known field: the fields here are imagePullSecrets, nodeSelector, priorityClassName, resources, runtimeClassName, tolerations",
                ],
            ),
        ],
    );
}
