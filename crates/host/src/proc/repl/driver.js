// Evaluates what comes over descriptor 3 and says when it is done.
(() => {
  const { Socket } = require('net'), { createRequire } = require('module'), path = require('path');
  const util = require('util'), vm = require('vm');
  // More has no room in what is kept of output that nobody has read yet.
  const LONGEST = 1 << 20;
  const bounded = (value) => {
    if (value.length <= LONGEST) return value;
    let end = LONGEST;
    while ((value[end] & 0xc0) === 0x80) end -= 1;
    const left = `\n[${value.length - end} bytes of ${value.length} of this value left out: print it to a file]`;
    return Buffer.concat([value.subarray(0, end), Buffer.from(left)]);
  };
  const write = process.stdout.write.bind(process.stdout), complain = process.stderr.write.bind(process.stderr);
  globalThis.require = createRequire(path.join(process.cwd(), '[input]'));
  let count = 0, interrupt = null;
  const run = (code, name) => vm.runInThisContext(code, { filename: name, breakOnSigint: true, displayErrors: false });
  const parses = (code) => { try { new vm.Script(code); return true; } catch { return false; } };
  // Braces at the start are an object to whoever types them alone.
  const plain = (code) => (/^\s*\{/.test(code) && !/;\s*$/.test(code) && parses(`(${code}\n)`) ? `(${code}\n)` : code);
  // Text that awaits at its top is the body of a function; what it declares there is global all the same.
  const waiting = (code) => {
    const global = code.replace(/^(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=/gm, 'globalThis.$1 =');
    const trimmed = global.replace(/[\s;]+$/, '');
    const cut = Math.max(trimmed.lastIndexOf('\n'), trimmed.lastIndexOf(';')) + 1;
    const valued = `(async () => { ${trimmed.slice(0, cut)}\nreturn (${trimmed.slice(cut)}\n) })()`;
    return [`(async () => (${trimmed}\n))()`, valued, `(async () => { ${global}\n })()`].find(parses);
  };
  const evaluate = async (code, name) => {
    const whole = plain(code);
    const awaits = !parses(whole) && /\bawait\b/.test(code) ? waiting(code) : undefined;
    if (!awaits) return run(whole, name);
    const stopped = new Promise((_, fail) => { interrupt = () => fail({ code: 'ERR_SCRIPT_EXECUTION_INTERRUPTED' }); });
    return await Promise.race([run(awaits, name), stopped]);
  };
  process.on('SIGINT', () => interrupt?.());
  process.on('uncaughtException', (error) => complain(`Uncaught ${util.inspect(error)}\n`));
  const answer = async (token, code) => {
    let status = 'done', value = '';
    try {
      const result = await evaluate(code, `input ${++count}`);
      if (result !== undefined) value = util.inspect((globalThis._ = result));
    } catch (error) {
      if (error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') status = 'interrupted';
      else { status = 'failed'; complain(`Uncaught ${util.inspect(error)}\n`); }
    }
    interrupt = null;
    const bytes = bounded(Buffer.from(value));
    write(Buffer.concat([Buffer.from(`\x1e${token} ${status} ${bytes.length}\n`), bytes]));
  };
  let pending = Buffer.alloc(0), turn = Promise.resolve();
  new Socket({ fd: 3, readable: true, writable: false }).on('data', (piece) => {
    pending = Buffer.concat([pending, piece]);
    for (;;) {
      const end = pending.indexOf(10);
      if (end < 0) return;
      const [token, length] = pending.toString('latin1', 0, end).split(' ');
      if (pending.length < end + 1 + +length) return;
      const code = pending.toString('utf8', end + 1, end + 1 + +length);
      pending = pending.subarray(end + 1 + +length);
      turn = turn.then(() => answer(token, code));
    }
  }).on('end', () => process.exit(0));
})();
