/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_skeleton.h"

#include <string.h>

static void put(struct out *o, struct bytes b) {
    out_mem(o, (const char *)b.data, b.size);
}

/* Writes a name as a part of a Python identifier. */
static void put_name(struct out *o, struct bytes b) {
    for (size_t i = 0; i < b.size; i++) {
        char c = (char)b.data[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out_char(o, fine ? c : '_');
    }
}

static bool is_word(struct bytes b, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == b.size && !memcmp(*words, b.data, b.size))
            return true;
    return false;
}

/* Writes a field's name as an argument, changed if it is a reserved word of Python. */
static void put_argument(struct out *o, struct bytes name) {
    static const char *const reserved[] = {"from",   "in",     "is",   "as",    "class", "def",
                                           "global", "lambda", "pass", "print", NULL};
    put_name(o, name);
    if (is_word(name, reserved))
        out_char(o, '_');
}

static void handler(const struct tracing_event *t, struct out *o) {
    struct tracing_field f;
    struct bytes rest = t->format;
    out_str(o, "def ");
    put_name(o, t->system);
    out_str(o, "__");
    put_name(o, t->name);
    out_str(o, "(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,\n"
               "        common_callchain");
    while (tracing_field_next(&rest, &f)) {
        if (f.common)
            continue;
        out_str(o, ", ");
        put_argument(o, f.name);
    }
    out_str(o, ", perf_sample_dict):\n"
               "    show(event_name, common_cpu, common_secs, common_nsecs, common_pid, common_comm, {");
    rest = t->format;
    bool any = false;
    while (tracing_field_next(&rest, &f)) {
        if (f.common)
            continue;
        out_str(o, any ? ",\n        \"" : "\n        \"");
        any = true;
        put(o, f.name);
        out_str(o, "\": ");
        put_argument(o, f.name);
    }
    out_str(o, "}, common_callchain)\n\n\n");
}

void script_skeleton_write(const struct perfdata_events *events, const struct tracing_data *tracing,
                           struct out *o) {
    out_str(o, "# Written by script -g python: a handler for each tracepoint of the recording. Change it as "
               "you like.\n"
               "# Run it with: script -s THIS_FILE\n"
               "from perf_trace_context import *\n"
               "from Core import *\n"
               "\n\n"
               "def trace_begin():\n"
               "    print(\"the recording begins\")\n"
               "\n\n"
               "def trace_end():\n"
               "    print(\"the recording ends\")\n"
               "\n\n"
               "def show(name, cpu, secs, nsecs, pid, comm, fields, callchain):\n"
               "    text = \", \".join(f\"{k}={v}\" for k, v in fields.items())\n"
               "    print(f\"{name:24} [{cpu:03}] {secs:5}.{nsecs:09} {pid:7} {comm:16} {text}\")\n"
               "    for frame in callchain:\n"
               "        symbol = frame[\"sym\"][\"name\"] if \"sym\" in frame else \"[unknown]\"\n"
               "        print(f\"    {frame['ip']:16x} {symbol} ({frame.get('dso', '[unknown]')})\")\n"
               "\n\n");
    struct hash_map seen = {0};
    for (size_t i = 0; i < events->list.count; i++) {
        const struct perfdata_attr *attr = &events->list.items[i].attr;
        const struct tracing_event *t = tracing && attr->type == PERFDATA_TYPE_TRACEPOINT
                                            ? tracing_data_find(tracing, attr->config)
                                            : NULL;
        if (t && hash_map_get(&seen, attr->config) == HASH_ABSENT && hash_map_set(&seen, attr->config, 0))
            handler(t, o);
    }
    hash_map_fini(&seen);
    out_str(
        o, "def process_event(event):\n"
           "    sample = event[\"sample\"]\n"
           "    print(f\"{event['ev_name']:24} {sample['time']:>20} {sample['pid']:7} {event['comm']:16} \"\n"
           "          f\"{sample['ip']:16x} {event.get('symbol', '[unknown]')} ({event.get('dso', "
           "'[unknown]')})\")\n"
           "\n\n"
           "def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):\n"
           "    print(event_name, event_fields_dict)\n");
}
