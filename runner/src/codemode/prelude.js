// The script's globals, built inside the engine before the script is read. The script may change its own realm as it
// likes (`Array.prototype.map = …`); nothing here may depend on it afterwards, so every built-in that is used later is
// taken now, and no code below uses an iterator, a spread of an array, or a method of a prototype once the script runs.
(function (host, setup) {
  'use strict';
  const { apply, defineProperty, ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const bind = Function.prototype.bind;
  const uncurry = (method) => (self, a, b) => apply(method, self, [a, b]);
  const RealError = Error, RealTypeError = TypeError, RealPromise = Promise, RealMap = Map, RealSet = Set, RealDate = Date;
  const RealProxy = Proxy, RealRegExp = RegExp, RealObject = Object, RealString = String, RealNumber = Number;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const { is, keys: objectKeys } = Object;
  const { now } = Date;
  const isErrorObject = Error.isError;
  const isView = ArrayBuffer.isView;
  const floor = Math.floor, trunc = Math.trunc;
  const slice = uncurry(String.prototype.slice), indexOf = uncurry(String.prototype.indexOf);
  const startsWith = uncurry(String.prototype.startsWith), padEnd = uncurry(String.prototype.padEnd);
  const repeat = uncurry(String.prototype.repeat), replaceAll = uncurry(String.prototype.replaceAll);
  const split = uncurry(String.prototype.split), toWellFormed = uncurry(String.prototype.toWellFormed);
  const join = uncurry(Array.prototype.join);
  const functionText = uncurry(Function.prototype.toString), regexpText = uncurry(RegExp.prototype.toString);
  const symbolText = uncurry(Symbol.prototype.toString), toIso = uncurry(Date.prototype.toISOString);
  const dateValue = uncurry(Date.prototype.getTime), bigintText = uncurry(BigInt.prototype.toString);
  const test = uncurry(RegExp.prototype.test);
  const mapForEach = uncurry(Map.prototype.forEach), setForEach = uncurry(Set.prototype.forEach);
  const mapGet = uncurry(Map.prototype.get), mapSet = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete), mapHas = uncurry(Map.prototype.has);
  const setHas = uncurry(Set.prototype.has), setAdd = uncurry(Set.prototype.add), setDelete = uncurry(Set.prototype.delete);
  const sizeOf = (prototype) => uncurry(getOwnPropertyDescriptor(prototype, 'size').get);
  const mapSize = sizeOf(Map.prototype), setSize = sizeOf(Set.prototype);
  const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
  const typedArrayTag = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag).get);
  const typedArrayLength = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, 'length').get);
  const bufferLength = uncurry(getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength').get);
  const { toPrimitive, toStringTag, iterator } = Symbol;
  const objectPrototype = Object.prototype, arrayPrototype = Array.prototype;
  const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
  const push = (list, value) => defineProperty(list, list.length, { value, writable: true, enumerable: true, configurable: true });
  const bare = () => ({ __proto__: null });
  const attempt = (action, fallback) => { try { return action(); } catch { return fallback; } };
  // A bound function prints as native code: String(text) shows none of this file.
  const native = (name, action) => {
    const bound = apply(bind, action, [undefined]);
    defineProperty(bound, 'name', { value: name, configurable: true });
    return bound;
  };
  const hide = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });

  // ---- Stacks: the script's own frames only, in the lines of the text that was sent.
  const SCRIPT = 'script.js', THIS_FILE = 'anchorhold';
  let site = null; // Methods of a call site, taken from the first one seen.
  let capturing = false, captured = null;

  const frames = (sites) => {
    let text = '';
    for (let i = 0; i < sites.length; i++) {
      const file = site.file(sites[i]);
      const name = site.name(sites[i]) || '';
      if (file === SCRIPT) {
        const at = host.place(site.line(sites[i]), site.column(sites[i]));
        if (at == null || name === '<eval>') continue;
        text += name ? `\n    at ${name} (${at})` : `\n    at ${at}`;
      } else if (file === null && site.native(sites[i]) && name && i + 1 < sites.length && site.file(sites[i + 1]) === SCRIPT) {
        text += `\n    at ${name} (native)`;
      }
    }
    return text;
  };

  // The engine says "not a function" without saying what: the source at the place of the call says it.
  const explain = (error, sites) => {
    const message = error.message;
    if (typeof message !== 'string') return;
    let better;
    if (startsWith(message, 'could not load module')) {
      better = message + ': there are no modules to import; everything a script can use is a global (tools, text, console, store)';
    } else if (sites.length === 0) {
      return;
    } else if (message === 'not a function' || message === 'not a constructor') {
      if (site.file(sites[0]) === SCRIPT) {
        better = host.callee(site.line(sites[0]), site.column(sites[0]), message);
      } else if (site.native(sites[0])) {
        better = `the argument of ${site.name(sites[0])} is ${message === 'not a function' ? 'not a function' : message}`;
      }
    } else if (message === 'interrupted') {
      host.interrupted(frames(sites));
    } else if (message.length > 15 && slice(message, -15) === ' is not defined') {
      better = host.undefinedName(slice(message, 0, -15));
    }
    if (better != null) defineProperty(error, 'message', { value: better, writable: true, configurable: true });
  };

  const prepare = (error, sites) => {
    if (capturing) {
      captured = sites;
      return '';
    }
    attempt(() => explain(error, sites));
    return attempt(() => headline(error), 'Error') + frames(sites);
  };

  RealError.stackTraceLimit = 20;
  RealError.prepareStackTrace = (_, sites) => {
    const prototype = getPrototypeOf(sites[0]);
    site = {
      file: uncurry(prototype.getFileName),
      name: uncurry(prototype.getFunctionName),
      line: uncurry(prototype.getLineNumber),
      column: uncurry(prototype.getColumnNumber),
      native: uncurry(prototype.isNative),
    };
    return '';
  };
  new RealError();
  RealError.prepareStackTrace = native('prepareStackTrace', prepare);

  const here = () => {
    capturing = true;
    try { new RealError(); } finally { capturing = false; }
    const sites = captured;
    captured = null;
    return sites || [];
  };

  // ---- Text of values.
  const text = (value) => attempt(() => toWellFormed(RealString(value)), '[unprintable]');
  const property = (object, key) => attempt(() => object[key]);
  const headline = (error) => {
    const name = property(error, 'name'), message = property(error, 'message');
    const kind = typeof name === 'string' && name !== '' ? name : 'Error';
    return typeof message === 'string' && message !== '' ? `${kind}: ${message}` : kind;
  };
  const stackFrames = (error) => {
    const stack = property(error, 'stack');
    if (typeof stack !== 'string') return '';
    const start = indexOf(stack, '\n    at ');
    return start < 0 ? '' : slice(stack, start);
  };

  // An error with everything that says why: code, frames, cause, the errors of an AggregateError.
  const describe = (error, depth) => {
    let out = headline(error);
    const code = property(error, 'code');
    if (typeof code === 'string' || typeof code === 'number') out += ` [${code}]`;
    out += stackFrames(error);
    if (depth >= 5) return out;
    const errors = property(error, 'errors');
    if (isArray(errors)) {
      const shown = errors.length < 10 ? errors.length : 10;
      for (let i = 0; i < shown; i++) out += `\n  [${i}] ` + indent(thrown(errors[i], depth + 1), '  ');
      if (errors.length > shown) out += `\n  … ${errors.length - shown} more errors`;
    }
    const cause = attempt(() => ('cause' in error ? { value: error.cause } : null), null);
    if (cause !== null) out += '\n  caused by: ' + indent(thrown(cause.value, depth + 1), '  ');
    return out;
  };
  const isError = (value) => typeof value === 'object' && value !== null && attempt(() => isErrorObject(value), false);
  const thrown = (value, depth) => (isError(value) ? describe(value, depth) : inspect(value));
  const indent = (value, by) => replaceAll(value, '\n', '\n' + by);

  // What JSON cannot hold, as data that it can: the one documented rendering in output and return values.
  const asData = (value) => {
    if (typeof value === 'function') return functionName(value);
    if (isError(value)) {
      const data = bare();
      data.name = text(property(value, 'name') ?? 'Error');
      data.message = text(property(value, 'message') ?? '');
      const code = property(value, 'code');
      if (code !== undefined) data.code = code;
      const at = firstFrame(value);
      if (at !== '') data.at = at;
      const own = attempt(() => objectKeys(value), []);
      for (let i = 0; i < own.length; i++) if (!(own[i] in data)) data[own[i]] = property(value, own[i]);
      const errors = property(value, 'errors');
      if (isArray(errors)) data.errors = errors;
      const cause = property(value, 'cause');
      if (cause !== undefined) data.cause = cause;
      return data;
    }
    const kind = brand(value);
    if (kind === 'Map') {
      const entries = [];
      mapForEach(value, (item, key) => push(entries, [key, item]));
      return { __proto__: null, Map: entries };
    }
    if (kind === 'Set') {
      const items = [];
      setForEach(value, (item) => push(items, item));
      return { __proto__: null, Set: items };
    }
    if (kind === 'Date') {
      const time = dateValue(value);
      return time === time ? toIso(value) : 'Invalid Date';
    }
    if (kind === 'RegExp') return regexpText(value);
    if (kind === 'ArrayBuffer') return `[ArrayBuffer: ${bufferLength(value)} bytes]`;
    if (kind === 'WeakMap' || kind === 'WeakSet' || kind === 'WeakRef') return `[${kind}]`;
    if (kind === 'boxed') return attempt(() => value.valueOf(), '[unprintable]');
    if (kind !== '') {
      const data = bare(), items = [];
      const length = typedArrayLength(value);
      for (let i = 0; i < length; i++) push(items, value[i]);
      data[kind] = items;
      return data;
    }
    return undefined;
  };
  const firstFrame = (error) => {
    const lines = split(stackFrames(error), '\n');
    for (let i = 0; i < lines.length; i++) {
      const start = indexOf(lines[i], SCRIPT + ':');
      if (start >= 0) {
        const at = slice(lines[i], start);
        return slice(at, -1) === ')' ? slice(at, 0, -1) : at;
      }
    }
    return '';
  };
  const functionName = (value) => {
    const name = property(value, 'name');
    const isClass = attempt(() => startsWith(functionText(value), 'class'), false);
    return `[${isClass ? 'class' : 'Function'}${typeof name === 'string' && name !== '' ? (isClass ? ' ' : ': ') + name : isClass ? '' : ' (anonymous)'}]`;
  };
  // By what an object holds inside, which a script cannot fake: '' for one that is plain or of a class of the script's own.
  const holds = (check, value) => attempt(() => (check(value), true), false);
  const weakMapHas = uncurry(WeakMap.prototype.has), weakSetHas = uncurry(WeakSet.prototype.has);
  const boxes = [uncurry(Number.prototype.valueOf), uncurry(String.prototype.valueOf), uncurry(Boolean.prototype.valueOf)];
  const regexpSource = uncurry(getOwnPropertyDescriptor(RegExp.prototype, 'source').get);
  const brand = (value) => {
    if (isView(value)) return typedArrayTag(value) || '[DataView]';
    if (holds(mapSize, value)) return 'Map';
    if (holds(setSize, value)) return 'Set';
    if (holds(dateValue, value)) return 'Date';
    if (value !== RealRegExp.prototype && holds(regexpSource, value)) return 'RegExp';
    if (holds(bufferLength, value)) return 'ArrayBuffer';
    if (holds(weakMapHas, value)) return 'WeakMap';
    if (holds(weakSetHas, value)) return 'WeakSet';
    for (let i = 0; i < boxes.length; i++) if (holds(boxes[i], value)) return 'boxed';
    return '';
  };

  // ---- What console prints, as Node does, bounded: depth 4, 100 items, 10,000 characters of one string inside a value.
  const quote = (value) => {
    const shown = value.length > 10000 ? slice(value, 0, 10000) + '…' : value;
    const body = slice(stringify(shown), 1, -1);
    if (indexOf(shown, "'") < 0) return `'${replaceAll(body, '\\"', '"')}'`;
    return `"${body}"`;
  };
  const inspect = (value) => inspectAt(value, 0, []);
  const inspectAt = (value, depth, parents) => {
    switch (typeof value) {
      case 'string': return quote(value);
      case 'number': return is(value, -0) ? '-0' : text(value);
      case 'bigint': return bigintText(value) + 'n';
      case 'symbol': return symbolText(value);
      case 'function': return functionName(value);
      case 'object': break;
      default: return text(value);
    }
    if (value === null) return 'null';
    for (let i = 0; i < parents.length; i++) if (parents[i] === value) return '[Circular]';
    if (isError(value)) return describe(value, depth);
    if (value === tools) return '[Tools]';
    if (depth > 4) return isArray(value) ? '[Array]' : '[Object]';
    const inside = [];
    for (let i = 0; i < parents.length; i++) push(inside, parents[i]);
    push(inside, value);
    const show = (item) => attempt(() => inspectAt(item, depth + 1, inside), '[unprintable]');
    const items = [];
    let opening = '{', closing = '}', prefix = '';
    if (isArray(value)) {
      opening = '[', closing = ']';
      list(items, value, value.length, show);
    } else {
      const kind = attempt(() => brand(value), '');
      if (kind === 'Date' || kind === 'RegExp' || kind === 'ArrayBuffer') return text(asData(value));
      if (kind === 'Map') {
        prefix = `Map(${mapSize(value)}) `;
        mapForEach(value, (item, key) => { if (items.length < 100) push(items, `${show(key)} => ${show(item)}`); });
      } else if (kind === 'Set') {
        prefix = `Set(${setSize(value)}) `;
        setForEach(value, (item) => { if (items.length < 100) push(items, show(item)); });
      } else if (kind === 'boxed') {
        return `[${text(attempt(() => value.constructor.name, 'Object'))}: ${show(value.valueOf())}]`;
      } else if (kind !== '' && kind !== '[DataView]' && !startsWith(kind, 'Weak')) {
        opening = '[', closing = ']', prefix = `${kind}(${typedArrayLength(value)}) `;
        list(items, value, typedArrayLength(value), show);
      } else if (startsWith(text(attempt(() => objectPrototypeText(value), '')), '[object Promise')) {
        return 'Promise';
      } else {
        const own = attempt(() => objectKeys(value), []);
        for (let i = 0; i < own.length && i < 100; i++) {
          const name = test(identifier, own[i]) ? own[i] : quote(own[i]);
          const descriptor = attempt(() => getOwnPropertyDescriptor(value, own[i]));
          const shown = descriptor && 'get' in descriptor && descriptor.get ? '[Getter]' : show(property(value, own[i]));
          push(items, `${name}: ${shown}`);
        }
        if (own.length > 100) push(items, `… ${own.length - 100} more`);
        const parent = attempt(() => getPrototypeOf(value), null);
        if (parent === null) prefix = '[Object: null prototype] ';
        else if (parent !== objectPrototype) {
          const name = attempt(() => parent.constructor.name);
          if (typeof name === 'string' && name !== '' && name !== 'Object') prefix = name + ' ';
        }
      }
    }
    if (items.length === 0) return prefix + opening + closing;
    let width = prefix.length + 4, multiline = false;
    for (let i = 0; i < items.length; i++) {
      width += items[i].length + 2;
      if (indexOf(items[i], '\n') >= 0) multiline = true;
    }
    if (width <= 76 && !multiline) return `${prefix}${opening} ${join(items, ', ')} ${closing}`;
    return `${prefix}${opening}\n  ${indent(join(items, ',\n'), '  ')}\n${closing}`;
  };
  const objectPrototypeText = uncurry(Object.prototype.toString);
  const list = (items, value, length, show) => {
    for (let i = 0; i < length && i < 100; i++) push(items, i in value ? show(value[i]) : 'empty');
    if (length > 100) push(items, `… ${length - 100} more`);
  };
  const format = (args, from) => {
    let out = '', next = from;
    if (typeof args[from] === 'string') {
      const pattern = args[from];
      next++;
      let start = 0;
      for (let at = indexOf(pattern, '%'); at >= 0 && at + 1 < pattern.length; at = indexOf(pattern, '%', at)) {
        const kind = pattern[at + 1];
        let shown;
        if (kind === '%') shown = '%';
        else if (next >= args.length) { at += 2; continue; }
        else {
          const value = args[next];
          if (kind === 's') shown = typeof value === 'string' ? value : typeof value === 'object' || typeof value === 'function' ? inspect(value) : inspectAt(value, 0, []);
          else if (kind === 'd') shown = typeof value === 'bigint' ? bigintText(value) + 'n' : typeof value === 'symbol' || typeof value === 'object' ? 'NaN' : inspect(RealNumber(value));
          else if (kind === 'i') shown = typeof value === 'bigint' ? bigintText(value) + 'n' : typeof value === 'symbol' || typeof value === 'object' ? 'NaN' : inspect(trunc(RealNumber(value)));
          else if (kind === 'f') shown = typeof value === 'symbol' ? 'NaN' : inspect(RealNumber(value));
          else if (kind === 'j') shown = attempt(() => stringify(value), '[Circular]') + '';
          else if (kind === 'o' || kind === 'O') shown = inspect(value);
          else if (kind === 'c') shown = '';
          else { at += 1; continue; }
          next++;
        }
        out += slice(pattern, start, at) + shown;
        start = at = at + 2;
      }
      out += slice(pattern, start);
    }
    for (; next < args.length; next++) {
      if (next > from) out += ' ';
      out += typeof args[next] === 'string' ? args[next] : inspect(args[next]);
    }
    return out;
  };

  let groups = '';
  const print = (line) => host.print('console', toWellFormed(groups === '' ? line : groups + indent(line, groups)));
  const labels = bare(), timers = bare();
  const label = (value) => (value === undefined ? 'default' : text(value));
  const elapsed = (since) => {
    const ms = now() - since;
    return ms < 1000 ? `${ms}ms` : `${ms / 1000}s`;
  };
  const table = (value, columns) => {
    if (typeof value !== 'object' || value === null) return print(inspect(value));
    const names = ['(index)'], rows = [], index = bare();
    const column = (name) => {
      if (!(name in index)) {
        index[name] = names.length;
        push(names, name);
      }
      return index[name];
    };
    const row = (key, item) => {
      const cells = [key];
      if (typeof item === 'object' && item !== null) {
        const own = isArray(columns) ? columns : attempt(() => objectKeys(item), []);
        for (let i = 0; i < own.length; i++) if (isArray(columns) || own[i] in item) cells[column(text(own[i]))] = inspectAt(property(item, own[i]), 4, []);
      } else cells[column('Values')] = inspect(item);
      push(rows, cells);
    };
    const kind = attempt(() => brand(value), '');
    if (kind === 'Map') mapForEach(value, (item, key) => { if (rows.length < 1000) row(inspect(key), item); });
    else if (kind === 'Set') setForEach(value, (item) => { if (rows.length < 1000) row(text(rows.length), item); });
    else {
      const own = attempt(() => objectKeys(value), []);
      for (let i = 0; i < own.length && i < 1000; i++) row(own[i], property(value, own[i]));
    }
    const widths = [];
    for (let c = 0; c < names.length; c++) {
      let width = names[c].length;
      for (let r = 0; r < rows.length; r++) {
        const cell = rows[r][c];
        if (cell !== undefined && cell.length > width) width = cell.length;
      }
      push(widths, width);
    }
    const line = (cells) => {
      let out = '│';
      for (let c = 0; c < names.length; c++) out += ' ' + padEnd(cells[c] ?? '', widths[c]) + ' │';
      return out;
    };
    const rule = (left, middle, right) => {
      let out = left;
      for (let c = 0; c < widths.length; c++) out += repeat('─', widths[c] + 2) + (c + 1 < widths.length ? middle : right);
      return out;
    };
    let out = rule('┌', '┬', '┐') + '\n' + line(names) + '\n' + rule('├', '┼', '┤');
    for (let r = 0; r < rows.length; r++) out += '\n' + line(rows[r]);
    print(out + '\n' + rule('└', '┴', '┘'));
  };
  const consoleMethods = {
    __proto__: null,
    log: (...args) => print(format(args, 0)),
    dir: (value) => print(inspect(value)),
    table,
    assert: (condition, ...args) => {
      if (condition) return;
      print(args.length === 0 ? 'Assertion failed' : typeof args[0] === 'string' ? 'Assertion failed: ' + format(args, 0) : 'Assertion failed ' + format(args, 0));
    },
    count: (name) => {
      const key = label(name);
      labels[key] = (labels[key] ?? 0) + 1;
      print(`${key}: ${labels[key]}`);
    },
    countReset: (name) => { labels[label(name)] = 0; },
    time: (name) => { timers[label(name)] = now(); },
    timeLog: (name, ...args) => {
      const key = label(name);
      print(key in timers ? `${key}: ${elapsed(timers[key])}${args.length ? ' ' + format(args, 0) : ''}` : `Timer '${key}' does not exist`);
    },
    timeEnd: (name) => {
      const key = label(name);
      print(key in timers ? `${key}: ${elapsed(timers[key])}` : `Timer '${key}' does not exist`);
      delete timers[key];
    },
    trace: (...args) => print('Trace' + (args.length ? ': ' + format(args, 0) : '') + frames(here())),
    group: (...args) => {
      if (args.length) print(format(args, 0));
      groups += '  ';
    },
    groupEnd: () => { groups = slice(groups, 2); },
  };
  const aliases = { __proto__: null, info: 'log', warn: 'log', error: 'log', debug: 'log', groupCollapsed: 'group', dirxml: 'log' };
  const console = {};
  const methodNames = ownKeys(consoleMethods);
  for (let i = 0; i < methodNames.length; i++) console[methodNames[i]] = native(methodNames[i], consoleMethods[methodNames[i]]);
  const aliasNames = ownKeys(aliases);
  for (let i = 0; i < aliasNames.length; i++) console[aliasNames[i]] = native(aliasNames[i], consoleMethods[aliases[aliasNames[i]]]);

  // ---- Tools.
  const pending = new RealMap();
  const waiting = [];
  let waitingFrom = 0, inFlight = 0, calls = 0;

  class ToolError extends RealError {}
  defineProperty(ToolError.prototype, 'name', { value: 'ToolError', writable: true, configurable: true });

  const failure = (message, code, tool, sites) => {
    capturing = true;
    let error;
    try { error = new ToolError(message); } finally { capturing = false; captured = null; }
    if (code) defineProperty(error, 'code', { value: code, writable: true, enumerable: false, configurable: true });
    defineProperty(error, 'tool', { value: tool, writable: true, enumerable: false, configurable: true });
    defineProperty(error, 'stack', { value: headline(error) + frames(sites), writable: true, configurable: true });
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
      const shown = test(identifier, key) ? `tools.${key}` : `tools[${stringify(key)}]`;
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
    defineProperty(constructor.prototype, 'constructor', { value: refused, writable: false, configurable: false, enumerable: false });
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
