/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a recording: waits, drains the rings, obeys signals and commands, looks after modules. */
#include "record/session_internal.h"

#include <signal.h>

#include "base/log.h"
#include "os/uevents.h"

enum {
    FIRST_MS = 8, /* until the first look at the rings */
    MAX_EVENTS = 64,
    THREADS_MS = 100, /* how often readers are asked how they are */
    OFF_CPU_MS =
        100, /* how often what waits are for is named, and the room for copies of stacks is looked at */
};

static void take_signals(struct session *s) {
    for (int sig; (sig = os_signals_next(&s->signals, NULL)) != 0;) {
        if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP) {
            s->result->signal = sig;
            s->stop = true;
        } else if (sig == SIGUSR2) {
            const struct record_options *o = s->job->options;
            s->switch_asked |= o->switch_output && !o->switch_bytes && !o->switch_ms;
        } else if (sig == SIGCHLD && os_child_ended(&s->child, &s->result->status)) {
            s->stop = true;
        }
    }
}

static void list_events(struct session *s, const char *how) {
    struct writer w = writer_make(false);
    VEC(struct perf_control_event) events = {0};
    bool ok = true;
    for (size_t i = 0; i < s->config.events.count && ok; i++) {
        const struct record_event_plan *p = &s->config.events.items[i];
        struct perf_control_event *e = vec_push(&events);
        if ((ok = e != NULL))
            *e = (struct perf_control_event){p->name, &p->attr, p->members};
    }
    ok = ok && perf_control_list(events.items, events.count, how, &w);
    vec_fini(&events);
    writer_u8(&w, 0);
    if (!ok)
        log_line(LOG_WARN, "--control: evlist takes -v, -g or -F, not %s", how);
    for (char *line = writer_ok(&w) ? (char *)w.data : NULL; ok && line && *line;) {
        size_t n = strcspn(line, "\n");
        log_line(LOG_WARN, "%.*s", (int)n, line);
        line += n + 1;
    }
    writer_fini(&w);
}

bool record_session_off_cpu(struct session *s, bool on, struct err *err) {
    return !s->off_cpu || record_off_cpu_switch(s->off_cpu, on, err);
}

bool record_session_enable(struct session *s, bool on, bool toggle, struct err *err) {
    bool ok = record_session_off_cpu(s, on, err);
    (toggle ? record_open_switch : record_open_enable)(&s->opened, &s->config, on);
    return ok;
}

/* Does a command and acknowledges it. */
static void obey(struct session *s, enum perf_command command) {
    struct err e = ERR_INIT;
    const struct record_options *o = s->job->options;
    const char *name = s->control.name;
    bool on = command == PERF_COMMAND_ENABLE;
    switch (command) {
    case PERF_COMMAND_ENABLE:
    case PERF_COMMAND_DISABLE:
        if (!*name && !record_session_enable(s, on, true, &e))
            log_line(LOG_WARN, "--control: %s", e.message);
        else if (*name && !record_open_enable_named(&s->opened, &s->config, name, on))
            log_line(LOG_WARN, "--control: there is no event %s", name);
        break;
    case PERF_COMMAND_STOP:
        s->stop = true;
        break;
    case PERF_COMMAND_SNAPSHOT: /* what the rings hold becomes a file */
        s->switch_asked |= o->switch_output;
        if (!o->switch_output)
            log_line(LOG_WARN, "--control: snapshot is for --switch-output, best with --overwrite");
        break;
    case PERF_COMMAND_LIST:
        list_events(s, name);
        break;
    case PERF_COMMAND_PING:
    case PERF_COMMAND_NONE:
        break;
    case PERF_COMMAND_UNKNOWN:
        log_line(LOG_WARN, "--control: not a command: %s", s->control.line);
    }
    os_channel_write(&s->channel, "ack\n");
}

static void take_commands(struct session *s) {
    char text[512];
    ssize_t n = os_channel_read(&s->channel, text, sizeof text);
    if (n < 0)
        os_poller_remove(s->poller, s->channel.in);
    for (size_t at = 0, taken; n > 0 && at < (size_t)n; at += taken) {
        enum perf_command command = perf_control_take(&s->control, text + at, (size_t)n - at, &taken);
        if (command != PERF_COMMAND_NONE)
            obey(s, command);
    }
}

static void wait_for_more(struct session *s, int timeout_ms) {
    struct os_poll_event events[MAX_EVENTS];
    size_t n = os_poller_wait(s->poller, events, MAX_EVENTS, timeout_ms);
    bool woken = false;
    for (size_t i = 0; i < n; i++) {
        if (events[i].tag == TAG_SIGNALS) {
            take_signals(s);
            continue;
        }
        if (events[i].tag == TAG_MODULES) {
            s->modules_changed |= s->uevents < 0 || os_uevents_modules(s->uevents);
            continue;
        }
        if (events[i].tag == TAG_CONSUMER) {
            if (events[i].hung_up && !events[i].readable)
                os_poller_remove(s->poller, s->job->consumer->fd);
            continue;
        }
        if (events[i].tag == TAG_TRIGGER) {
            s->switch_asked |= record_trigger_fired(&s->trigger);
            continue;
        }
        if (events[i].tag == TAG_CONTROL) {
            take_commands(s);
            continue;
        }
        woken |= events[i].readable;
        if (events[i].hung_up) {
            os_poller_remove(s->poller, s->opened.fds.items[events[i].tag].fd);
            s->polled--;
        }
    }
    s->result->wakeups += woken;
    if (s->job->options->threads)
        s->polled = atomic_load(&s->readers.polled);
    /* The command's children may outlive its events' end; without a command nobody is left. */
    if ((s->polled == 0 && !s->had_child) || atomic_load(&s->readers.failed))
        s->stop = true;
}

/* When (ms since the start) the next change of -D is due; -1: none is. Even ones turn events on. */
static int64_t next_toggle_ms(const struct session *s) {
    const struct record_options *o = s->job->options;
    if (!o->range_count)
        return s->toggles == 0 && o->delay_ms > 0 ? o->delay_ms : -1;
    if (s->toggles / 2 >= o->range_count)
        return -1;
    const struct record_range *r = &o->ranges[s->toggles / 2];
    return s->toggles % 2 ? r->end_ms : r->start_ms;
}

static bool do_toggles(struct session *s, struct err *err) {
    for (int64_t at;
         (at = next_toggle_ms(s)) >= 0 && os_clock_ns() - s->start_ns >= (uint64_t)at * 1000000;) {
        bool on = s->toggles % 2 == 0;
        log_line(LOG_INFO, "events are %s", on ? "enabled" : "disabled");
        if (!record_session_enable(s, on, s->toggles++ > 0, err))
            return false;
    }
    return true;
}

static int until_ms(uint64_t due_ns, int most_ms) {
    uint64_t now = os_clock_ns();
    uint64_t left = due_ns > now ? (due_ns - now) / 1000000 + 1 : 0;
    return left < (uint64_t)most_ms ? (int)left : most_ms;
}

/*
 * Until the next thing that is due, but not for ever: what is in the rings wants to be saved. In the first
 * second more often: what a new process maps is looked at best while it is alive.
 */
static int timeout_ms(struct session *s) {
    const struct record_options *o = s->job->options;
    int ms = s->patience_ms ? s->patience_ms : FIRST_MS;
    s->patience_ms = 2 * ms < CHECKPOINT_MS ? 2 * ms : CHECKPOINT_MS;
    int64_t toggle = next_toggle_ms(s);
    if (s->job->consumer)
        ms = ms < s->consumer_ms ? ms : s->consumer_ms;
    if (o->threads) /* nothing else wakes us when they have nothing left to read */
        ms = ms < THREADS_MS ? ms : THREADS_MS;
    if (toggle >= 0)
        ms = until_ms(s->start_ns + (uint64_t)toggle * 1000000, ms);
    if (s->off_cpu)
        ms = ms < OFF_CPU_MS ? ms : OFF_CPU_MS;
    if (o->switch_output && o->switch_ms)
        ms = until_ms(s->file_start_ns + o->switch_ms * 1000000, ms);
    return ms;
}

static bool switch_due(struct session *s) {
    const struct record_options *o = s->job->options;
    if (!o->switch_output)
        return false;
    return s->switch_asked || (o->switch_bytes && record_session_file_size(s) >= o->switch_bytes) ||
           (o->switch_ms && os_clock_ns() - s->file_start_ns >= o->switch_ms * 1000000);
}

static void tell_progress(struct session *s) {
    const struct record_job *job = s->job;
    uint64_t seconds = (os_clock_ns() - s->start_ns) / 1000000000;
    if (!job->progress || seconds == s->seconds_told)
        return;
    s->seconds_told = seconds;
    job->progress(job->progress_ctx,
                  &(struct record_progress){seconds, record_session_file_size(s),
                                            s->drain.samples + atomic_load(&s->readers.samples),
                                            s->drain.lost + atomic_load(&s->readers.lost)});
}

/* Has the consumer take what came. */
static bool give_turn(struct session *s, struct err *err) {
    const struct record_consumer *c = s->job->consumer;
    const struct record_progress now = {(os_clock_ns() - s->start_ns) / 1000000000,
                                        record_session_file_size(s), s->drain.samples, s->drain.lost};
    struct record_turn next = {.wait_ms = CHECKPOINT_MS};
    if (!c)
        return true;
    bool ok = c->turn(c->ctx, &now, &next, err);
    s->consumer_ms = next.wait_ms;
    s->stop |= next.stop;
    if (next.forget)
        record_session_forget(s);
    return ok;
}

/* Before more is drained: new code cannot be in what has been. */
bool record_session_look_at_modules(struct session *s, struct err *err) {
    bool changed = record_module_events_take(&s->modules.events) || s->modules_changed;
    s->modules_changed = false;
    return !changed || (record_module_watch_look(&s->modules, &s->sink, s->drain.last_ns, err) &&
                        record_session_flush_sink(s, err));
}

/* Programs whose records have just been taken may be unloaded soon. */
static void note_programs(struct session *s) {
    if (s->job->options->threads)
        record_readers_programs(&s->readers, &s->drain);
    if (s->job->proc && s->file.out.seekable)
        for (size_t i = 0; i < s->drain.programs.count; i++)
            record_bpf_note(s->job->proc, &s->bpf, s->drain.programs.items[i]);
    vec_clear(&s->drain.programs);
}

bool record_session_take_off_cpu(struct session *s, struct err *err) {
    for (size_t i = 0; s->off_cpu && i < s->config.events.count; i++)
        if (s->config.events.items[i].off_cpu)
            return record_off_cpu_take(s->off_cpu, &s->events.list.items[i], &s->sink, &s->pending, err) &&
                   record_session_flush_sink(s, err);
    return true;
}

bool record_session_take_made(struct session *s, struct err *err) {
    const struct record_made *made = s->job->made;
    for (size_t i = 0; made && i < s->config.events.count; i++)
        if (s->config.events.items[i].made)
            return made->take(made->ctx, &s->events.list.items[i], &s->pending, err) &&
                   record_session_flush_sink(s, err);
    return true;
}

bool record_session_drain(struct session *s, struct err *err) {
    record_session_set_budget(s);
    const struct record_options *o = s->job->options;
    bool due = s->off_cpu && record_off_cpu_due(s->off_cpu), wrote;
    /* A sum has the time of its last wait, and is written into the round that begins here: so a round ends
     * only when sums are taken. */
    if (s->off_cpu)
        s->drain.no_rounds = o->overwrite || o->threads || !due;
    bool ok = o->threads || record_drain_pass(&s->drain, &s->opened, &wrote, err);
    note_programs(s);
    return ok && record_session_take_made(s, err) && (!due || record_session_take_off_cpu(s, err));
}

bool record_session_run(struct session *s, struct err *err) {
    uint64_t max = s->job->options->max_bytes;
    while (!s->stop) {
        wait_for_more(s, timeout_ms(s));
        if (!do_toggles(s, err) || !record_session_look_at_modules(s, err) || !record_session_drain(s, err) ||
            !give_turn(s, err))
            return false;
        tell_progress(s);
        if (max && (s->drain.left_out || record_session_file_size(s) >= max)) {
            s->max_reached = true;
            log_line(LOG_WARN, "the file has reached --max-size: stopping");
            s->stop = true;
        } else if (!s->stop && switch_due(s) && !record_session_switch_file(s, err)) {
            return false;
        }
    }
    return true;
}

/* --- end --- */
