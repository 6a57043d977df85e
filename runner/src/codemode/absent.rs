//! Names that scripts often try and that do not exist here, with what to use instead.

/// What to use instead of a global that other JavaScript hosts have.
pub(super) fn hint(name: &str) -> Option<&'static str> {
    Some(match name {
        "setTimeout" | "setInterval" | "setImmediate" | "clearTimeout" | "clearInterval" | "clearImmediate" => {
            "scripts have no timers; await the calls themselves, many at once with Promise.all"
        }
        "fetch" | "XMLHttpRequest" | "WebSocket" | "EventSource" | "Request" | "Response" | "Headers" => {
            "scripts have no network; put what the script needs into a source of the job"
        }
        "require" | "module" | "exports" | "__dirname" | "__filename" => {
            "there are no modules; files are read with tools.read, and everything a script can use is a global (tools, text, console, store, exit, ALL_TOOLS)"
        }
        "process" => {
            "there is no process; return ends the script, exit() ends it from anywhere, there is no environment"
        }
        "Buffer" => "there is no Buffer; use Uint8Array, String.fromCharCode, or text as tools return it",
        "read" | "ls" | "grep" | "find" => "tools are called through tools, such as tools.grep({pattern: 'TODO'})",
        "fs" => "there is no fs; use tools.read, tools.ls, tools.grep and tools.find",
        "path" => "there is no path module; paths are strings with /, such as /workspace/<source>/file",
        "eval" | "Function" => "code cannot be made from text; write the code in the script itself",
        "WebAssembly" | "Worker" | "SharedArrayBuffer" | "Atomics" => "a script is one thread of plain JavaScript",
        "structuredClone" => "copy JSON values with JSON.parse(JSON.stringify(value))",
        "URL" | "URLSearchParams" => "there is no URL class; take the string apart with split or a regular expression",
        "TextEncoder" | "TextDecoder" | "atob" | "btoa" => "there are no encoders; tools return text as strings",
        "crypto" => "there is no crypto; Math.random gives random numbers",
        "window" | "document" | "navigator" | "localStorage" | "location" => {
            "this is no browser; keep values with store() and load()"
        }
        "global" | "self" => "the global object is globalThis",
        "models" => "scripts cannot call a model; return the data and let the model that wrote the script go on",
        "print" | "log" => "print with text() or console.log()",
        "input" | "prompt" | "alert" => "a script cannot ask anyone",
        _ => return None,
    })
}
