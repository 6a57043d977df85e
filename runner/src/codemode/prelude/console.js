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
          const name = host.isIdentifier(toWellFormed(own[i])) ? own[i] : quote(own[i]);
          const descriptor = attempt(() => getOwnPropertyDescriptor(value, own[i]));
          const shown = descriptor && hasOwn(descriptor, 'get') && descriptor.get ? '[Getter]' : show(property(value, own[i]));
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

