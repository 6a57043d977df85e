  // ---- Values kept for later scripts of the job.
  const stored = bare();
  for (let i = 0; i < setup.store.length; i++) stored[setup.store[i][0]] = setup.store[i][1];
  const storeKey = (key) => {
    if (typeof key !== 'string') throw new RealTypeError(`the key of store() and load() is a string, got ${typeof key}`);
    return toWellFormed(key);
  };
  const store = (key, value) => {
    key = storeKey(key);
    const json = value === undefined ? null : host.encode(value, 'value');
    host.store(key, json);
    if (json === null) delete stored[key];
    else stored[key] = json;
  };
  const load = (key) => {
    key = storeKey(key);
    return key in stored ? parse(stored[key]) : undefined;
  };

  // ---- Globals.
  delete globalThis.eval;
  const noDynamicCode = (constructor) => {
    const refused = native(constructor.name, () => { throw new RealTypeError('code cannot be made from text here: eval and Function are absent; write the code in the script itself'); });
    defineProperty(constructor.prototype, 'constructor', { __proto__: null, value: refused, writable: false, configurable: false, enumerable: false });
  };
  noDynamicCode(Function);
  noDynamicCode(getPrototypeOf(async () => {}).constructor);
  noDynamicCode(getPrototypeOf(function* () {}).constructor);
  noDynamicCode(getPrototypeOf(async function* () {}).constructor);
  delete globalThis.Function;
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;
  hide('tools', tools);
  hide('console', console);
  hide('text', native('text', (...args) => {
    let out = '';
    for (let i = 0; i < args.length; i++) out += (i ? ' ' : '') + (typeof args[i] === 'string' ? args[i] : host.show(args[i], 'text'));
    host.print('text', toWellFormed(out));
  }));
  hide('exit', native('exit', () => host.exit()));
  hide('store', native('store', store));
  hide('load', native('load', load));
  hide('image', native('image', (value) => {
    if (typeof value === 'string') return host.image(value, null);
    if (typeof value === 'object' && value !== null) {
      const data = value.data, type = value.mimeType;
      if (typeof data === 'string') return host.image(data, typeof type === 'string' ? type : null);
    }
    throw new RealTypeError('image() takes a data URL or {data, mimeType} with data in base64');
  }));
  const lazily = (name, make) => {
    defineProperty(globalThis, name, {
      __proto__: null,
      get: native(name, () => {
        const value = make();
        hide(name, value);
        return value;
      }),
      set: native(name, (value) => hide(name, value)),
      enumerable: false,
      configurable: true,
    });
  };
  lazily('ALL_TOOLS', () => {
    const all = [];
    for (let i = 0; i < setup.tools.length; i++) {
      const { name, identifier, description } = setup.tools[i];
      push(all, { name, identifier, description });
    }
    return all;
  });
  hide('searchTools', native('searchTools', (query, options) => {
    const limit = options === undefined || options === null ? undefined : options.limit;
    const namespace = options === undefined || options === null ? undefined : options.namespace;
    if (limit !== undefined && !(typeof limit === 'number' && limit >= 1 && floor(limit) === limit)) throw new RealTypeError('searchTools: limit is a whole number from 1 on');
    if (namespace !== undefined && typeof namespace !== 'string') throw new RealTypeError('searchTools: namespace is a string');
    return parse(host.search(text(query), limit ?? 8, namespace ?? null));
  }));
  hide('describeTool', native('describeTool', (name) => host.describeTool(text(name))));
  hide('describeNamespace', native('describeNamespace', (name) => host.describeNamespace(text(name))));

  return {
    __proto__: null,
    settle, unfinished, asData,
    brand, isArray, objectPrototype,
    thrown: (value) => (isError(value) ? describe(value, 0) : `${inspect(value)} was thrown, which is not an Error`),
    textOf: (value) => toWellFormed(typeof value === 'symbol' ? symbolText(value) : text(value)),
  };
})
