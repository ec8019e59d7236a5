#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profile that `report` prints of small recordings, to the byte: report_profile_test.py SONDE FIXTURES

The texts follow from tests/fixtures/profile.c by the rules that src/view/report/report_text.c and report_graph.c state.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
USAGE_EXIT = 129
HINT = "# To display the perf.data header info, please use --header/--header-only options.\n#\n"
LOST = "#\n# Total Lost Samples: 7\n#\n"
TITLE = "# Samples: 10  of event 'cpu-clock'\n# Event count (approx.): 10000\n#\n"
TIP = "#\n# (Tip: To see from where hot functions are called, try: sonde report --no-children -g callee)\n#\n"
ONE = "profile/one.data"

FLAT = """\
# Overhead  Command  Shared Object      Symbol                
# ........  .......  .................  ......................
#
    40.00%  app      app                [.] 0x0000000000001100
    30.00%  app      lib.so             [.] 0x0000000000000010
    20.00%  helper   app                [.] 0x0000000000001100
    10.00%  app      [kernel.kallsyms]  [k] 0xffffffff81000100


"""
COMM_DSO = """\
# Overhead  Command  Shared Object    
# ........  .......  .................
#
    40.00%  app      app              
    30.00%  app      lib.so           
    20.00%  helper   app              
    10.00%  app      [kernel.kallsyms]


"""
CSV = """\
# Overhead,     Samples,Command,Shared Object    
 40.00% , 4          ,app    ,app              
 30.00% , 3          ,app    ,lib.so           
 20.00% , 2          ,helper ,app              
 10.00% , 1          ,app    ,[kernel.kallsyms]


"""
WIDTHS = """\
#   Overhead       Samples  Comman
# ..........  ............  ......
#
      80.00%          8     app   
      20.00%          2     helper


"""
HIERARCHY = """\
#    Overhead       Samples  Command / Shared Object
# .........................  .......................
#
    80.00%             8     app    
       40.00%             4     app              
       30.00%             3     lib.so           
       10.00%             1     [kernel.kallsyms]
    20.00%             2     helper 
       20.00%             2     app              


"""
HIERARCHY_LIMIT = """\
#    Overhead  Command / Shared Object
# ...........  .......................
#
    80.00%     app    
                  no entry >= 50.00%


"""
# One root, of which everything comes: no percentage. Below, what is less than 15 % of everything is left out.
CALLER = """\
# Overhead  Command
# ........  .......
#
    80.00%  app    
            |
            ---0x403309
               |          
               |--50.00%--0x402205
               |          0x401100
               |          
                --30.00%--0x402215
                          0x7f0000000010

    20.00%  helper 
            |
            ---0x403309
               0x401100



"""
CALLEE = """\
# Overhead  Command
# ........  .......
#
    80.00%  app    
            |          
            |--40.00%--0x401100
            |          0x402205
            |          0x403309
            |          
            |--30.00%--0x7f0000000010
            |          0x402215
            |          0x403309
            |          
             --10.00%--0xffffffff81000100
                       0xffffffff81000205
                       0x401100
                       0x402205
                       0x403309

    20.00%  helper 
            |
            ---0x401100
               0x403309



"""
FRACTAL = """\
# Overhead  Command
# ........  .......
#
    80.00%  app    
            |
            ---0x403309
               |          
               |--62.50%--0x402205
               |          0x401100
               |          |          
               |           --100.00%--0xffffffff81000205
               |                     0xffffffff81000100
               |          
                --37.50%--0x402215
                          0x7f0000000010

    20.00%  helper 
            |
            ---0x403309
               0x401100



"""
FLAT_CHAINS = """\
# Overhead  Command
# ........  .......
#
    80.00%  app    
           40.00%
                0x401100
                0x402205
                0x403309

           30.00%
                0x7f0000000010
                0x402215
                0x403309

    20.00%  helper 
           20.00%
                0x401100
                0x403309



"""
FOLDED = """\
# Overhead  Command
# ........  .......
#
    80.00%  app    
4 0x401100;0x402205;0x403309
3 0x7f0000000010;0x402215;0x403309
    20.00%  helper 
2 0x401100;0x403309


"""
CHILDREN = """\
# Children      Self  Command  Shared Object    
# ........  ........  .......  .................
#
    80.00%    40.00%  app      app              
    30.00%    30.00%  app      lib.so           
    20.00%    20.00%  helper   app              
    10.00%    10.00%  app      [kernel.kallsyms]


"""
GROUP = """\
# Samples: 1K of events 'anon group { cpu-clock, page-faults }'
# Event count (approx.): 1210000
#
#         Overhead                   Samples  Command
# ................  ........................  .......
#
    80.00%  80.00%             8         960  app    
    20.00%  20.00%             2         240  helper 


"""
UNEVEN = """\
# Samples: 20  of events 'anon group { cpu-clock, page-faults }'
# Event count (approx.): 20000
#
#         Overhead  Command  Shared Object    
# ................  .......  .................
#
    40.00%   0.00%  app      app              
    30.00%  40.00%  app      lib.so           
    20.00%  60.00%  helper   app              
    10.00%   0.00%  app      [kernel.kallsyms]


"""
UNEVEN_BY_SECOND = """\
# Samples: 20  of events 'anon group { cpu-clock, page-faults }'
# Event count (approx.): 20000
#
#         Overhead  Command  Shared Object    
# ................  .......  .................
#
    20.00%  60.00%  helper   app              
    30.00%  40.00%  app      lib.so           
    10.00%   0.00%  app      [kernel.kallsyms]
    40.00%   0.00%  app      app              


"""
UNEVEN_LIMIT = """\
# Samples: 20  of events 'anon group { cpu-clock, page-faults }'
# Event count (approx.): 20000
#
#         Overhead  Command  Shared Object    
# ................  .......  .................
#
    40.00%   0.00%  app      app              
    30.00%  40.00%  app      lib.so           


"""
UNEVEN_CHILDREN = """\
# Samples: 20  of events 'anon group { cpu-clock, page-faults }'
# Event count (approx.): 20000
#
#         Children              Self  Command
# ................  ................  .......
#
    80.00%  40.00%    80.00%  40.00%  app    
            |
            ---0x403309
               |          
               |--50.00%--0x402205
               |          0x401100
               |          |          
               |           --10.00%--0xffffffff81000205
               |                     0xffffffff81000100
               |          
                --30.00%--0x402215
                          0x7f0000000010

    20.00%  60.00%    20.00%  60.00%  helper 
            |
            ---0x403309
               0x401100



"""
UNEVEN_APART = """\
# Samples: 10  of events 'cpu-clock'
# Event count (approx.): 10000
#
# Overhead  Command
# ........  .......
#
    80.00%  app    
    20.00%  helper 


# Samples: 10  of event 'page-faults'
# Event count (approx.): 10000
#
# Overhead  Command
# ........  .......
#
    60.00%  helper 
    40.00%  app    


"""
HIERARCHY_GRAPH = """\
#    Overhead  Command / Shared Object
# ...........  .......................
#
    80.00%     app    
       40.00%     app              
            |
            ---0x403309
               0x402205
               0x401100

       30.00%     lib.so           
            |
            ---0x403309
               0x402215
               0x7f0000000010

       10.00%     [kernel.kallsyms]
    20.00%     helper 
       20.00%     app              
            |
            ---0x403309
               0x401100



"""
HIERARCHY_GROUP = """\
# Samples: 20  of events 'anon group { cpu-clock, page-faults }'
# Event count (approx.): 20000
#
#            Overhead  Command / Shared Object
# ...................  .......................
#
    80.00%  40.00%     app    
       40.00%   0.00%     app              
       30.00%  40.00%     lib.so           
       10.00%   0.00%     [kernel.kallsyms]
    20.00%  60.00%     helper 
       20.00%  60.00%     app              


"""
FIELDS = """\
#      Samples  Shared Object      Overhead
# ............  .................  ........
#
             6  app                  60.00%
             3  lib.so               30.00%
             1  [kernel.kallsyms]    10.00%


"""
FIELDS_SORTED = """\
# Shared Object      Overhead  Command
# .................  ........  .......
#
  [kernel.kallsyms]    10.00%  app    
  app                  40.00%  app    
  lib.so               30.00%  app    
  app                  20.00%  helper 


"""
FIELDS_MORE = """\
# Overhead        Period  Shared Object    
# ........  ............  .................
#
    60.00%          6000  app              
    30.00%          3000  lib.so           
    10.00%          1000  [kernel.kallsyms]


"""

# arguments, recording, what is expected between the lines that all have
CASES = [
    (["--no-children", "-g", "none"], ONE, TITLE + FLAT),
    (["--no-children", "-g", "none", "-s", "comm,dso"], ONE, TITLE + COMM_DSO),
    (["--no-children", "-g", "none", "-s", "comm,dso", "-t,", "-n"], ONE, TITLE + CSV),
    (["--no-children", "-g", "none", "-s", "comm", "-n", "-w", "10,9,6"], ONE, TITLE + WIDTHS),
    (["--hierarchy", "-g", "none", "-s", "comm,dso", "-n"], ONE, TITLE + HIERARCHY),
    (["--hierarchy", "-g", "none", "-s", "comm,dso", "--percent-limit", "50"], ONE, TITLE + HIERARCHY_LIMIT),
    (["--no-children", "-g", "caller,15", "-s", "comm"], ONE, TITLE + CALLER),
    (["--no-children", "-g", "callee", "-s", "comm"], ONE, TITLE + CALLEE),
    (["--no-children", "-g", "caller,fractal", "-s", "comm"], ONE, TITLE + FRACTAL),
    (["--no-children", "-g", "flat,15", "-s", "comm"], ONE, TITLE + FLAT_CHAINS),
    (["--no-children", "-g", "folded,15,count", "-s", "comm"], ONE, TITLE + FOLDED),
    (["-g", "none", "-s", "comm,dso"], ONE, TITLE + CHILDREN),
    (["--no-children", "-g", "none", "-s", "comm", "-n"], "profile/group.data", GROUP),
    (["--no-children", "-g", "none", "-s", "comm,dso"], "profile/uneven.data", UNEVEN),
    (["--no-children", "-g", "none", "-s", "comm,dso", "--group-sort-idx", "1"], "profile/uneven.data", UNEVEN_BY_SECOND),
    (["--no-children", "-g", "none", "-s", "comm,dso", "--percent-limit", "25"], "profile/uneven.data", UNEVEN_LIMIT),
    (["--children", "-g", "caller", "-s", "comm"], "profile/uneven.data", UNEVEN_CHILDREN),
    (["--no-group", "--no-children", "-g", "none", "-s", "comm"], "profile/uneven.data", UNEVEN_APART),
    (["--hierarchy", "--no-children", "-g", "caller,15", "-s", "comm,dso"], ONE, TITLE + HIERARCHY_GRAPH),
    (["--hierarchy", "--no-children", "-g", "none", "-s", "comm,dso"], "profile/uneven.data", HIERARCHY_GROUP),
    (["--no-children", "-g", "none", "-F", "sample,dso,overhead"], ONE, TITLE + FIELDS),
    (["--no-children", "-g", "none", "-F", "dso,overhead,comm", "-s", "comm"], ONE, TITLE + FIELDS_SORTED),
    (["--no-children", "-g", "none", "-F", "+period", "-s", "dso"], ONE, TITLE + FIELDS_MORE),
]


def sonde(*args, **more):
    return support.run([SONDE, "report", *args], **more)


def path_of(name):
    return os.path.join(FIXTURES, name)


def check_texts(report):
    for args, name, want in CASES:
        r = sonde(*args, "-i", path_of(name))
        got = r.out.decode()
        report.check(f"report {' '.join(args)}", r.status == 0 and got == HINT + LOST + want + TIP,
                     f"status {r.status}\n{got}")


def check_titles(report):
    got = sonde("--no-children", "-g", "none", "-s", "dso", "-c", "helper", "-i", path_of(ONE)).out.decode()
    report.check("-c leaves its samples", "# Total" in got and "# comm" not in got and "    20.00%  app" in got and
                 "lib.so" not in got, got)
    got = sonde("--no-children", "-g", "none", "-c", "helper", "-i", path_of(ONE)).out.decode()
    report.check("-c says whose samples these are instead of a column",
                 "# comm: helper\n#\n# Total" in got and "\n# Overhead  Shared Object     Symbol" in got, got)
    got = sonde("--no-children", "-g", "none", "-s", "dso", "-c", "helper", "--percentage", "relative", "-i",
                path_of(ONE)).out.decode()
    report.check("--percentage relative", "   100.00%  app" in got and "# Samples: 2 " in got, got)
    got = sonde("-q", "--no-children", "-g", "none", "-s", "comm", "-i", path_of(ONE)).out.decode()
    report.check("-q: rows only", got == "    80.00%  app    \n    20.00%  helper \n\n\n", got)
    got = sonde("--no-children", "-g", "none", "-s", "comm", "-i", path_of("profile/events.data")).out.decode()
    report.check("a table for each event that has samples",
                 got.count("# Samples: ") == 2 and "# Samples: 1K of event 'page-faults'" in got, got)
    got = sonde("--header", "--no-children", "-s", "comm", "-i", path_of(ONE)).out.decode()
    head = sonde("--header-only", "-i", path_of(ONE)).out.decode()
    report.check("--header stands before it", got.startswith(head + LOST), got[:300])
    got = sonde("--no-children", "-g", "none", "-s", "comm", "--stdio-color", "always", "-i", path_of(ONE)).out.decode()
    report.check("colours", "  \033[31m  80.00%\033[m  app" in got, got)
    report.check("no colours in a pipe", b"\033" not in sonde("-i", path_of(ONE)).out, "there are")


def check_json(report):
    r = sonde("--json", "--no-children", "-g", "caller", "-s", "comm,dso", "-i", path_of(ONE))
    data = json.loads(r.out)
    table = data["tables"][0]
    rows = [(e["keys"]["comm"], e["keys"]["dso"], e["self"][0]["samples"]) for e in table["entries"]]
    report.check("--json", data["version"] == 1 and table["events"] == ["cpu-clock"] and table["read"] == 10 and table["lost"] == 7 and
                 rows == [("app", "app", 4), ("app", "lib.so", 3), ("helper", "app", 2),
                          ("app", "[kernel.kallsyms]", 1)], r.out[:600])
    graph = table["entries"][1]["graph"]
    report.check("--json: graphs", graph == [{"period": 3000, "samples": 3,
                                              "frames": ["0x403309", "0x402215", "0x7f0000000010"]}], str(graph))
    r = sonde("--json", "--hierarchy", "-s", "comm,dso", "-i", path_of(ONE))
    first = json.loads(r.out)["tables"][0]["entries"][0]
    report.check("--json: hierarchy", first["keys"] == {"comm": "app"} and
                 [e["keys"] for e in first["entries"]] == [{"dso": "app"}, {"dso": "lib.so"}, {"dso": "[kernel.kallsyms]"}],
                 str(first))


def check_mistakes(report):
    for args in (["-s", "nope"], ["-F", "nope"], ["-g", "nope"], ["--percentage", "x"], ["--percent-limit", "x"],
                 ["-w", "x"], ["-t", "."], ["--max-stack", "x"], ["--time-quantum", "x"], ["-s", "dso_from"],
                 ["--time", "x"], ["--stdio-color", "x"], ["a", "b"]):
        r = sonde(*args, "-i", path_of(ONE))
        report.check(f"report {' '.join(args)}", r.status == USAGE_EXIT and not r.out and r.err, f"status {r.status}: {r.err[:200]}")
    for args in (["-b"], ["--mem-mode"], ["--switch-on", "nope"], ["--gtk"]):
        r = sonde(*args, "-i", path_of(ONE))
        report.check(f"report {' '.join(args)}", r.status == 1 and not r.out and len(r.err.splitlines()) == 1,
                     f"status {r.status}: {r.err[:200]}")


def main():
    report = support.Report("report's profile")
    check_texts(report)
    check_titles(report)
    check_json(report)
    check_mistakes(report)
    report.finish()


main()
