# SPDX-License-Identifier: Apache-2.0
"""What libsonde's example prints of a recording against what `sonde script` prints with the same options."""
import json

import support

FIELDS = "comm,pid,tid,event,ip,sym,symoff,dso"


def _words(text):
    """Lines without the padding of columns."""
    return [" ".join(line.split()) for line in text.decode("utf-8", "replace").splitlines() if line.strip()]


def _frame(f):
    name = f"{f['sym']}+{f['symoff']}" if "sym" in f else "[unknown]"
    if f.get("grade") == "stale":
        name = f"[stale] {f['dso'].rsplit('/', 1)[-1]}+{f['dsoff']}"
    return f"{int(f['ip'], 16):x} {name} ({f.get('dso', '[unknown]')})"


def _from_json(text):
    """The same lines made of --json, which shows samples that lack what FIELDS asks for, too."""
    lines = []
    for s in map(json.loads, text.splitlines()):
        if s["type"] != "sample":
            continue
        head = f"{s.get('comm', ':' + str(s.get('tid', -1)))} {s.get('pid', -1)}/{s.get('tid', -1)} {s['event']}:"
        if "callchain" in s:
            lines += [head] + [_frame(f) for f in s["callchain"] if "cookie" not in f]
        else:
            lines.append(f"{head} {_frame(s)}" if "ip" in s else head)
    return lines


def _script(sonde, cache, path, options, *more):
    return support.run([sonde, *(["--buildid-dir", cache] if cache else []), "script", "-f", "-i", path, *options, *more])


def _wanted(sonde, cache, path, options):
    r = _script(sonde, cache, path, options, "-F", FIELDS)
    if "Cannot print" in r.err:
        return _from_json(_script(sonde, cache, path, options, "--json").out.decode("utf-8", "replace"))
    return [line for line in _words(r.out) if not line.startswith("instruction trace error") and "(cookie)" not in line]


def differences(sonde, example, paths, *options, cache=None):
    """[(path, None when both print the same, else what differs)]. Whether that is all that was recorded, others ask."""
    many = paths if len(paths) > 1 else paths * 2
    ours = support.run([example, *(["--buildid-dir", cache] if cache else []), *options, *many])
    shown = {}
    for line in _words(ours.out):
        if line.startswith("==> "):
            lines = shown[line[4:-4]] = []
        else:
            lines.append(line)
    found = []
    for path in paths:
        want, got = _wanted(sonde, cache, path, options), shown[path]
        at = next((i for i, (a, b) in enumerate(zip(want + [None], got + [None])) if a != b), None)
        found.append((path, None if at is None else f"line {at}: script {(want + [None])[at]!r}, libsonde "
                      f"{(got + [None])[at]!r}; {len(want)} and {len(got)} lines; {ours.err[:200]}"))
    return found


def difference(sonde, example, path, *options, cache=None):
    return differences(sonde, example, [path], *options, cache=cache)[0][1]
