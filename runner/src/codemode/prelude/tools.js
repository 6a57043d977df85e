  // ---- Tools.
  const pending = new RealMap();
  const waiting = [];
  let waitingFrom = 0, inFlight = 0, calls = 0;

  class ToolError extends RealError {}
  defineProperty(ToolError.prototype, 'name', { __proto__: null, value: 'ToolError', writable: true, configurable: true });

  const failure = (message, code, tool, sites) => {
    capturing = true;
    let error;
    try { error = new ToolError(message); } finally { capturing = false; captured = null; }
    if (code) defineProperty(error, 'code', { __proto__: null, value: code, writable: true, enumerable: false, configurable: true });
    defineProperty(error, 'tool', { __proto__: null, value: tool, writable: true, enumerable: false, configurable: true });
    defineProperty(error, 'stack', { __proto__: null, value: headline(error) + frames(sites), writable: true, configurable: true });
    return error;
  };
  const send = (call) => {
    inFlight++;
    host.call(call.id, call.tool, call.json);
    call.json = null;
  };
  const start = (tool, shown, args, count) => {
    const sites = here();
    const call = { __proto__: null, id: ++calls, tool, json: null, sites, started: false, resolve: null, reject: null };
    const promise = new RealPromise((resolve, reject) => {
      call.resolve = resolve;
      call.reject = reject;
    });
    if (calls > setup.calls) {
      call.reject(failure(`this script has made ${setup.calls} calls, which is its limit`, 'limit_reached', tool, sites));
      return promise;
    }
    try {
      if (count > 1 || (args !== undefined && (typeof args !== 'object' || args === null || isArray(args)))) {
        const got = count > 1 ? `${count} arguments` : args === null ? 'null' : isArray(args) ? 'an array' : typeof args === 'object' ? 'an object' : `a ${typeof args}`;
        throw failure(`${shown} takes one object of named arguments, got ${got}`, 'invalid_arguments', tool, sites);
      }
      call.json = args === undefined ? '{}' : host.encode(args, 'args');
    } catch (error) {
      call.reject(error);
      return promise;
    }
    mapSet(pending, call.id, call);
    if (inFlight < setup.inFlight) send(call);
    else push(waiting, call);
    return promise;
  };
  const settle = (id, ok, value, code) => {
    const call = mapGet(pending, id);
    if (call === undefined) return;
    mapDelete(pending, id);
    inFlight--;
    if (waitingFrom < waiting.length) {
      send(waiting[waitingFrom]);
      waiting[waitingFrom++] = undefined;
      if (waitingFrom === waiting.length) waiting.length = waitingFrom = 0;
    }
    if (ok) call.resolve(value);
    else call.reject(failure(value, code, call.tool, call.sites));
  };
  const unfinished = () => {
    const out = [];
    mapForEach(pending, (call) => {
      if (out.length >= 50) return;
      const stack = frames(call.sites);
      const at = indexOf(stack, SCRIPT + ':');
      const line = at < 0 ? '' : slice(stack, at + SCRIPT.length + 1);
      push(out, { tool: call.tool, line: attempt(() => parseInt(line, 10), 0) || 0 });
    });
    return { calls: out, total: mapSize(pending) };
  };
  const parseInt = globalThis.parseInt;

  const byName = bare(), byIdentifier = bare(), blocked = bare(), made = bare();
  for (let i = 0; i < setup.tools.length; i++) {
    byName[setup.tools[i].name] = setup.tools[i];
    byIdentifier[setup.tools[i].identifier] = setup.tools[i];
  }
  for (let i = 0; i < setup.blocked.length; i++) {
    blocked[setup.blocked[i].name] = setup.blocked[i].name;
    if (!(setup.blocked[i].identifier in blocked)) blocked[setup.blocked[i].identifier] = setup.blocked[i].name;
  }
  const nameOf = (key) => (key in byName ? key : key in byIdentifier ? byIdentifier[key].name : undefined);
  const toolFunction = (key, name) => {
    if (!(key in made)) {
      const shown = host.isIdentifier(toWellFormed(key)) ? `tools.${key}` : `tools[${stringify(key)}]`;
      const call = (...args) => start(name, shown, args[0], args.length);
      // `await tools` asks for `then` and calls it with two functions; the answer is the same tools without that name.
      made[key] = native(key, key !== 'then' ? call : (...args) => typeof args[0] === 'function' ? (args[0])(toolsWithoutThen) : call(...args));
    }
    return made[key];
  };
  const toolsProxy = (withThen) => {
    const lookup = (key) => {
      if (typeof key !== 'string' || (key === 'then' && !withThen)) return undefined;
      const name = nameOf(key);
      if (name !== undefined) return toolFunction(key, name);
      // Not listed, not `in` tools; but a call by name is a blocked call, which the far side refuses and records.
      return key in blocked ? toolFunction(key, blocked[key]) : undefined;
    };
    const has = (key) => typeof key === 'string' && nameOf(key) !== undefined && (withThen || key !== 'then');
    const refuse = () => { throw new RealTypeError('tools cannot be changed'); };
    return new RealProxy(bare(), {
      __proto__: null,
      get: (_, key) => (key === toStringTag ? 'Tools' : key === toPrimitive ? () => '[object Tools]' : lookup(key)),
      has: (_, key) => has(key),
      ownKeys: () => ownKeys(byName),
      getOwnPropertyDescriptor: (_, key) =>
        has(key) ? { __proto__: null, value: lookup(key), writable: false, enumerable: true, configurable: true } : undefined,
      getPrototypeOf: () => null,
      set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse, preventExtensions: refuse,
    });
  };
  const tools = toolsProxy(true), toolsWithoutThen = toolsProxy(false);

