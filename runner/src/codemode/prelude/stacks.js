  // ---- Stacks: the script's own frames only, in the lines of the text that was sent.
  const SCRIPT = 'script.js';
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
    if (better != null) defineProperty(error, 'message', { __proto__: null, value: better, writable: true, configurable: true });
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

