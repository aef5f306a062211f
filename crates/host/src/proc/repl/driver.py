# Evaluates what comes over standard input, which it keeps for itself, and says when it is done.
import ast, linecache, os, signal, sys, traceback, types


def drive():
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, write_through=True, errors="backslashreplace")

    def leave():
        # A process that the code forks has no part in the conversation.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for end in (requests.fileno(), answers):
            os.dup2(nowhere, end, inheritable=False)
        os.close(nowhere)

    os.register_at_fork(after_in_child=leave)
    main = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    busy = False

    def interrupt(*_):
        if busy:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    count = 0
    while True:
        head = requests.readline()
        if not head:
            return
        token, length = head.split()
        code = requests.read(int(length)).decode("utf-8", "replace")
        count += 1
        name = "<input %d>" % count
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        status, value = b"done", b""
        try:
            busy = True
            tree = ast.parse(code, name)
            last = None
            if tree.body and isinstance(tree.body[-1], ast.Expr):
                last = ast.Expression(tree.body.pop().value)
            exec(compile(tree, name, "exec"), main.__dict__)
            if last is not None:
                result = eval(compile(last, name, "eval"), main.__dict__)
                if result is not None:
                    main._ = result
                    value = bounded(repr(result).encode("utf-8", "backslashreplace"))
            busy = False
        except KeyboardInterrupt:
            busy = False
            status = b"interrupted"
        except SystemExit:
            raise
        except SyntaxError as error:
            busy = False
            status = b"failed"
            traceback.print_exception(type(error), error, None if error.filename == name else error.__traceback__)
        except BaseException as error:
            busy = False
            status = b"failed"
            traceback.print_exception(type(error), error, error.__traceback__.tb_next)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        frame = b"\x1e%s %s %d\n%s" % (token, status, len(value), value)
        while frame:
            frame = frame[os.write(answers, frame):]


def bounded(value):
    if len(value) <= LONGEST:
        return value
    begin = value[:LONGEST].decode("utf-8", "ignore").encode()
    return begin + b"\n[%d bytes of %d of this value left out: print it to a file]" % (len(value) - len(begin), len(value))


# More has no room in what is kept of output that nobody has read yet.
LONGEST = 1 << 20
drive()
