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

