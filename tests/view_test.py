#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""view: the page's data say what export folded says, its time axis adds up to it, and the server answers nobody else.

view_test.py SONDE
"""
import collections
import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support
from pagedata import block

SONDE = sys.argv[1]
RECORDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recordings")
report = support.Report("view")


def sonde(*args):
    r = support.run([SONDE, *args])
    return r._replace(out=r.out.decode("utf-8", "replace"))


# ---- the data (docs/PAGE.md) ----

def stack_names(tree, columns, node):
    names = []
    while True:
        names.append(tree["strings"][columns["frame.name"][columns["node.frame"][node]]])
        up = columns["node.up"][node]
        if not up:
            return names[::-1]
        node -= up


def tidy(name):
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name, flags=re.S)
    return name.replace(";", ":").replace('"', "").replace("'", "")


def compare(path):
    name = os.path.basename(path)
    page = sonde("view", "-o", "-", path)
    tree, columns = block(page.out, "sonde-tree")
    if page.status == 1 and "no samples to show" in page.err:
        none = sonde("export", "folded", path)
        report.check(f"{name}: no samples", none.status == 1 and "no samples to export" in none.err, none.err)
        return
    if not report.check(f"{name}: a page", page.status == 0 and tree, page.err[:300]):
        return
    stacks = collections.Counter()
    for i, event in enumerate(columns["row.event"]):
        comm = tree["strings"][columns["row.comm"][i]].replace(" ", "_").replace(";", "_")
        names = [tidy(n) for n in stack_names(tree, columns, columns["row.node"][i])]
        stacks[event, ";".join([comm, *names])] += columns["row.period"][i]
    for i, event in enumerate(tree["events"]):
        folded = sonde("export", "folded", "-e", event["name"], path).out.splitlines()
        want = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in folded}
        have = {stack: n for (of, stack), n in stacks.items() if of == i}
        report.check(f"{name}, {event['name']}: the tree", have == want, str(sorted(have.items() ^ want.items())[:4]))
        report.check(f"{name}, {event['name']}: its total", int(event["period"]) == sum(want.values()), str(event))
    check_time(name, page.out, columns)


def check_time(name, page, rows):
    header, time = block(page, "sonde-time")
    counts, periods = collections.Counter(time["row"]), collections.Counter()
    for i, row in enumerate(time["row"]):
        one = time["period"][i] if "period" in time else rows["row.period"][row] / rows["row.samples"][row]
        periods[row] += one
    n = range(len(rows["row.samples"]))
    report.check(f"{name}: the samples of the time axis", all(counts[i] == rows["row.samples"][i] for i in n), "")
    report.check(f"{name}: and their periods", all(periods[i] == rows["row.period"][i] for i in n), "")
    order = list(zip((rows["row.event"][r] for r in time["row"]), time["time"]))
    report.check(f"{name}: in order", order == sorted(order), "")
    report.check(f"{name}: within its span", not order or max(time["time"]) * 1000 <= int(header["last_ns"]) - int(header["first_ns"]), "")
    report.check(f"{name}: threads exist", not order or max(time["thread"]) < len(rows["thread.tid"]), "")


# ---- the server ----

def ask(port, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=support.HANG_SECONDS)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for key, value in headers.items():
        connection.putheader(key.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read().decode("utf-8", "replace"), answer


def serve():
    path = os.path.join(RECORDINGS, "flat.data")
    child = subprocess.Popen([SONDE, "view", "--serve", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = re.match(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)  \(Ctrl-C ends\)$", child.stdout.readline().rstrip())
    if not report.check("the address", url, "no address"):
        child.kill()
        return
    port, page = int(url[1]), url[2]
    here = f"127.0.0.1:{port}"
    status, text, answer = ask(port, page, Host=here)
    report.check("the page", status == 200 and block(text, "sonde-tree")[0], str(status))
    report.check("no other page may read it", not answer.getheader("Access-Control-Allow-Origin") and
                 answer.getheader("X-Frame-Options") == "DENY", str(answer.getheaders()))
    head = ask(port, page, "HEAD", Host=here)
    report.check("HEAD", head[0] == 200 and head[1] == "", str(head))
    wrong = ("1" if page[1] == "0" else "0") + page[2:]
    for what, want, path, method, headers in (
            ("by the name localhost", 200, page, "GET", {"Host": f"localhost:{port}"}),
            ("from our own page", 200, page, "GET", {"Host": here, "Origin": f"http://{here}", "Sec_Fetch_Site": "same-origin"}),
            ("the root", 404, "/", "GET", {"Host": here}),
            ("a wrong token", 404, "/" + wrong, "GET", {"Host": here}),
            ("half a token", 404, page[:10], "GET", {"Host": here}),
            ("more than the token", 404, page + "x", "GET", {"Host": here}),
            ("another method", 405, page, "POST", {"Host": here}),
            ("no Host", 403, page, "GET", {}),
            ("a rebound name", 403, page, "GET", {"Host": f"evil.example:{port}"}),
            ("our name without its port", 403, page, "GET", {"Host": "127.0.0.1"}),
            ("our name as the beginning of another", 403, page, "GET", {"Host": here + ".evil.example"}),
            ("a foreign origin", 403, page, "GET", {"Host": here, "Origin": "http://evil.example"}),
            ("the null origin", 403, page, "GET", {"Host": here, "Origin": "null"}),
            ("another site", 403, page, "GET", {"Host": here, "Sec_Fetch_Site": "cross-site"}),
            ("another port of this machine", 403, page, "GET", {"Host": here, "Sec_Fetch_Site": "same-site"}),
            ("a huge head", 431, page, "GET", {"Host": here, "X": "x" * 20000})):
        try:
            status, text, _ = ask(port, path, method, **headers)
        except (ConnectionError, http.client.HTTPException) as e:
            status, text = 431 if want == 431 else str(e), ""  # it may be gone before all of the request was sent
        report.check(f"{what}: {want}", status == want and (want == 200 or page not in text), str(status))
    child.send_signal(signal.SIGINT)
    report.check("Ctrl-C ends it", child.wait(30) == 0, str(child.returncode))
    child.stdout.close()
    child.stderr.close()


def recorded():
    """record --view shows what it has just recorded."""
    with tempfile.TemporaryDirectory() as folder, support.recording():
        path = os.path.join(folder, "x.data")
        child = subprocess.Popen([SONDE, "record", "--view", "-o", path, "--", SONDE, "test", "-w", "noploop", "0.2"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=support.ENV)
        url = re.match(r"http://127\.0\.0\.1:(\d+)(/\S+/)", child.stdout.readline())
        if url:
            _, text, _ = ask(int(url[1]), url[2], Host=f"127.0.0.1:{url[1]}")
            tree, _ = block(text, "sonde-tree")
            report.check("record --view", tree and "noploop" in tree["strings"], text[:200])
            child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=support.HANG_SECONDS)
        report.check("record --view says what is hot", url and re.search(r"^[\d,]+ samples?, \d+ % in noploop$", err, re.M), err[:600])
    piped = support.run([SONDE, "record", "--view", "-o", "-", "--", "true"])
    report.check("record --view into a pipe", piped.status == 129 and "--view" in piped.err, piped.err[:300])


def errors():
    demo = os.path.join(RECORDINGS, "flat.data")
    for what, args, status, words in (
            ("a bad port", ("--serve=99999", demo), 129, "use a port"),
            ("a file that is not there", ("-o", "/dev/null", "/no/such.data"), 1, "/no/such.data"),
            ("a full disk", ("-o", "/dev/full", demo), 1, "/dev/full"),
            ("three recordings", (demo, demo, demo), 129, "Usage")):
        r = sonde("view", *args)
        report.check(what, r.status == status and words in r.err, f"{r.status} {r.err[:300]}")
    two = sonde("view", "-o", "-", demo, os.path.join(RECORDINGS, "threads.data"))
    tree, _ = block(two.out, "sonde-tree")
    report.check("two recordings", tree and [e["recording"] for e in tree["events"]] == [0, 1] and
                 len(tree["recordings"]) == 2, str(tree and tree["events"]))
    report.check("a line says what is there", re.match(r"[\d,]+ samples?, \d+ % in \S", two.err), two.err[:200])


def main():
    for name in sorted(os.listdir(RECORDINGS)):
        if name.endswith(".data"):
            compare(os.path.join(RECORDINGS, name))
    serve()
    recorded()
    errors()
    report.finish()


main()
