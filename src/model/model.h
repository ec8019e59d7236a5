/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The central data structure: which mapping of which image was at an
 * address in a process at an instant; and a thread's comm then.
 *
 *   records -> model_apply ... -> model_freeze -> queries      batch: any time order, immutable afterwards
 *   records -> model_apply, queries, model_apply, queries ...  streaming: time order, bounded by model_retire
 *
 * Everything is a timeline: a query names an instant and sees the state that
 * the records up to and including it produced, however late they came in the
 * file. All ids are 32-bit indices; MODEL_NONE is "there is none".
 *
 * A mapping ends with a later one that overlaps it, the exec of its process
 * (COMM with PERFDATA_MISC_COMM_EXEC), the exit of the process's leader and of
 * all its known threads, or a new process with its pid. There is no event for
 * munmap (include/uapi/linux/perf_event.h).
 *
 * Code that a JIT announced is a separate layer above the mappings:
 *
 *   code       |-f-|-g-|      |--h--|            from its announcement until something else is announced
 * there, mappings   |--- //anon ----------------|     it is taken away, or a file is mapped over it
 *
 * A map event of memory without a file never hides it: the kernel merges such mappings, and one that looks
 * new may have held code before.
 */
#ifndef SONDE_MODEL_MODEL_H
#define SONDE_MODEL_MODEL_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/added/evidence.h"
#include "format/perfdata/record.h"

#define MODEL_NONE UINT32_MAX

/*
 * An instant. `order` is the record's logical offset in the stream and decides between equal times. Time 0 is
 * before the start of the recording, for synthesised records. For a record without a time stream_when_ns
 * gives the one to use.
 */
struct model_when {
    uint64_t time_ns, order;
};
#define MODEL_WHEN_END ((struct model_when){UINT64_MAX, UINT64_MAX})

static inline bool model_when_before(struct model_when a, struct model_when b) {
    return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

/* The last instant before `w`: to see what a record at w ended. */
static inline struct model_when model_when_prior(struct model_when w) {
    return w.order ? (struct model_when){w.time_ns, w.order - 1}
                   : (struct model_when){w.time_ns - (w.time_ns != 0), w.time_ns ? UINT64_MAX : 0};
}

/* What the model is to contain; the rest costs nothing. Processes and threads are always there. */
enum model_need {
    MODEL_NEED_COMMS = 1,
    MODEL_NEED_MAPS = 2,   /* images and mappings */
    MODEL_NEED_EXTRAS = 4, /* namespaces, cgroups, text pokes, BPF programs */
    MODEL_NEED_ALL = 7,
};

struct model_options {
    unsigned need;  /* MODEL_NEED_* */
    bool streaming; /* records come in time order and are applied at once */
};

struct model;

/* NULL: out of memory. */
struct model *model_new(const struct model_options *options, struct err *err);
void model_free(struct model *m); /* NULL is allowed */

/* Whether model_apply uses this record type: others need not even be decoded. */
bool model_wants(const struct model *m, uint32_t record_type);

/*
 * Applies one record, and copies what it needs. Types that the model does not use are ignored. Streaming: a
 * record older than the last one is treated as having that one's time (model_unordered counts them). False:
 * memory, or ids, after 4 billion of a kind, ran out; the model stays usable.
 */
bool model_apply(struct model *m, const struct perfdata_record *rec, struct model_when when, struct err *err);

/*
 * Sorts what was applied and builds the timelines; afterwards the model is immutable and all queries may run
 * in parallel. A batch model cannot be queried before. May be called on a streaming model too. False: out of
 * memory; only model_free is allowed then.
 */
bool model_freeze(struct model *m, struct err *err);

/*
 * Streaming: reports that there will be no query before `when`. If there is enough to be worth the work,
 * drops what cannot be seen from `when` on: superseded states, processes and threads that ended. All earlier
 * process, thread and mapping ids are invalid then; images and texts stay. False: out of memory; nothing
 * changed.
 */
bool model_retire(struct model *m, struct model_when when, struct err *err);

/* How many times model_retire has made ids invalid. */
uint32_t model_generation(const struct model *m);

/* Streaming: reports a query at that time, after which earlier records count as late. */
void model_asked(struct model *m, uint64_t time_ns);

/* Streaming: how many records came late: older than the last one, or than a query. */
uint64_t model_unordered(const struct model *m);

/* ---- where an address lies ---- */

enum model_space {
    MODEL_SPACE_NONE, /* a cpumode without maps: unknown, hypervisor */
    MODEL_SPACE_USER,
    MODEL_SPACE_KERNEL,
    MODEL_SPACE_GUEST_USER,
    MODEL_SPACE_GUEST_KERNEL,
};

/* The space that a cpumode (PERFDATA_MISC_*: misc & PERFDATA_MISC_CPUMODE_MASK) means. */
static inline enum model_space model_space_of(unsigned cpumode) {
    static const uint8_t spaces[PERFDATA_MISC_CPUMODE_MASK + 1] = {
        [PERFDATA_MISC_KERNEL] = MODEL_SPACE_KERNEL,
        [PERFDATA_MISC_USER] = MODEL_SPACE_USER,
        [PERFDATA_MISC_GUEST_KERNEL] = MODEL_SPACE_GUEST_KERNEL,
        [PERFDATA_MISC_GUEST_USER] = MODEL_SPACE_GUEST_USER,
    };
    return (enum model_space)spaces[cpumode & PERFDATA_MISC_CPUMODE_MASK];
}

struct model_hit {
    uint32_t mapping, image; /* MODEL_NONE: nothing covers the address */
    uint64_t offset;         /* in the image: address - start + pgoff; but the address itself in a kernel
                                (MODEL_IMAGE_KERNEL), whose maps' pgoff is a symbol's address, and in executable
                                memory without a file (model_image.pid), which has no offsets */
    enum model_space space;
    uint8_t back; /* 0; 1 for return addresses (resolve/callers.h): symbol and line are found at
                     offset - back */
};
#define MODEL_NOTHING ((struct model_hit){MODEL_NONE, MODEL_NONE, 0, MODEL_SPACE_NONE, 0})

/*
 * Finds what was at `address`. `pid` is the sample's pid; a guest's space is keyed by the pid of its machine
 * and falls back to the default guest's. False, with both ids MODEL_NONE: nothing covered it; out->space is
 * set all the same. Addresses shortly after a kernel's map count as the kernel's: that map ends with the
 * text, and the code that ran at boot lies after it.
 */
bool model_find(const struct model *m, unsigned cpumode, uint32_t pid, struct model_when when,
                uint64_t address, struct model_hit *out);

/*
 * As model_find, for a user address that it does not find, in the callchain of a sample taken in the kernel:
 * finds what was there before the exec that is in progress. From its COMM record until the first instruction
 * of the new program, the thread's user registers are still those of its execve call, whose callers belong to
 * the old image. No record says when that ends; it is assumed to last while there were only such map events
 * since as execve itself makes: at most four, and none after that of [vdso], the last.
 */
bool model_find_before_exec(const struct model *m, unsigned cpumode, uint32_t pid, struct model_when when,
                            uint64_t address, struct model_hit *out);

/*
 * The state of an address space between two changes, during which all lookups give the same. States of a
 * model with equal `id` give equal results; MODEL_NONE: nothing was mapped.
 */
struct model_state {
    uint32_t owner, id;
    struct model_when from, until; /* from <= when < until */
    uint32_t maps, code;           /* private: the last change of each layer, or MODEL_NONE */
};

/* Finds a space's state, to look up many addresses: out->owner is MODEL_NONE if there is no such space,
 * out->id if nothing is mapped yet. Streaming: of what was applied so far: later
 * records may end the state before `until`; ids are valid until model_generation changes. */
void model_state_at(const struct model *m, enum model_space space, uint32_t pid, struct model_when when,
                    struct model_state *out);
/* Moves to the space's state at another instant; fastest if that is shortly after state->from. state->owner
 * must not be MODEL_NONE. */
void model_state_advance(const struct model *m, struct model_when when, struct model_state *state);
/* The process whose space it is at an instant (as model_process_at), and until when it is. */
uint32_t model_state_process(const struct model *m, const struct model_state *state, struct model_when when,
                             struct model_when *until);
/* Whether states are valid until state->until: after model_freeze. */
bool model_is_frozen(const struct model *m);
bool model_state_find(const struct model *m, const struct model_state *state, uint64_t address,
                      struct model_hit *out);
bool model_state_find_before_exec(const struct model *m, const struct model_state *state, uint64_t address,
                                  struct model_hit *out);
/* Whether model_state_find_before_exec finds anything at all. */
bool model_state_in_exec(const struct model *m, const struct model_state *state);

/* A part of an address space: what is left of a mapping after later ones cut it. */
struct model_piece {
    uint64_t start, last; /* both inclusive */
    uint32_t mapping;
};
struct model_pieces {
    VEC(struct model_piece) list;
};

/* As model_state_find; *piece becomes a range around the address (at least itself) with the same mapping, or
 * where nothing is found either. */
bool model_state_find_piece(const struct model *m, const struct model_state *state, uint64_t address,
                            struct model_hit *out, struct model_piece *piece);

/*
 * Replaces `out` (zeroed at first, freed by the caller with vec_fini(&out->list)) with a process's address
 * space at an instant, ascending. For a process that ended use model_when_prior(process->ended). False:
 * memory.
 */
bool model_pieces_at(const struct model *m, enum model_space space, uint32_t pid, struct model_when when,
                     struct model_pieces *out);

/* One map event, as recorded. */
struct model_mapping {
    uint64_t start, last; /* both inclusive; a length beyond 2^64 is cut there */
    uint64_t pgoff;
    uint64_t order; /* of the record that made it: model_when.order */
    uint32_t image;
    uint32_t prot : 8;   /* PROT_*; MMAP records: PROT_EXEC, or 0 with MMAP_DATA */
    uint32_t flags : 23; /* MAP_*; 0 for MMAP records */
    uint32_t late : 1;   /* streaming: its record came late (model_unordered) */
};

/* model_hit.offset of an address in a mapping that has an image. */
uint64_t model_mapping_offset(const struct model *m, uint32_t mapping, uint64_t address);

/* Ids count from 0 in file order; valid until the next model_retire. */
struct model_mapping model_mapping(const struct model *m, uint32_t id);
uint32_t model_mapping_count(const struct model *m);

/*
 * Modules without a credible recorded end: mapping ids, i below the count. Who knows the end may set it, in a
 * batch before the freeze; it never moves up. The others end where something else was mapped above, or have
 * the size of the longest other module, if that is less.
 */
uint32_t model_endless_count(const struct model *m);
uint32_t model_endless(const struct model *m, uint32_t i);
void model_end_module(struct model *m, uint32_t i, uint64_t last);

/* ---- images (DSOs) ---- */

enum model_image_kind {
    MODEL_IMAGE_FILE,
    MODEL_IMAGE_KERNEL,   /* [kernel.kallsyms], [guest.kernel.kallsyms] */
    MODEL_IMAGE_MODULE,   /* /lib/modules/.../x.ko, [x] */
    MODEL_IMAGE_BPF,      /* a KSYMBOL: a BPF program or trampoline */
    MODEL_IMAGE_KSYMBOL,  /* a KSYMBOL: other code made at run time (kprobes, ftrace) */
    MODEL_IMAGE_VDSO,     /* [vdso] and the like */
    MODEL_IMAGE_VSYSCALL, /* [vsyscall], [vectors], [uprobes]: fixed pages of the kernel's */
    MODEL_IMAGE_ANON,     /* memory without a file: //anon, /dev/zero, /anon_hugepage, [anon:NAME] */
    MODEL_IMAGE_HEAP,
    MODEL_IMAGE_STACK,
    MODEL_IMAGE_MEMFD,
    MODEL_IMAGE_SYSV,
    MODEL_IMAGE_OTHER, /* anything else in brackets, sockets, anon_inode:... */
    MODEL_IMAGE_CODE,  /* code that a JIT announced: see model_add_code_image */
};

/*
 * Identified by the recorded name and the build-id, else the file's device, inode and generation; memory
 * without a file by the process that mapped it. So one path may have several images.
 */
struct model_image {
    const char *name;       /* the path, [kernel.kallsyms], /tmp/perf-PID.map for anon; see model_image_dso */
    const char *short_name; /* what perf report prints: libc.so.6, [ext4] */
    const char *recorded;   /* as in the record: [kernel.kallsyms]_text, //anon, ... */
    uint32_t id;
    uint32_t pid;      /* executable memory without a file: who mapped it; else MODEL_NONE */
    uint32_t mapper;   /* the last process that mapped it: the file may be in its root directory */
    uint64_t first_ns; /* when it was mapped first; 0: before the recording */
    uint32_t maj, min;
    uint64_t ino, ino_generation; /* 0 when not recorded */
    uint8_t kind;                 /* enum model_image_kind */
    uint8_t space;                /* enum model_space it was mapped in */
    bool deleted;                 /* the name ends in " (deleted)" */
    uint8_t build_id_size;        /* of the map record's own build-id; 0: none. See model_image_build_id */
    uint8_t build_id[20];
    bool id_later;  /* the build-id was added after the recording (perfdata_evidence) */
    bool has_state; /* its map records have the file's state when it was mapped (docs/FORMAT.md) */
    struct perfdata_file_state state;
};

/* Borrowed; valid until the next model_apply or model_free (the texts: until model_free). Ids count from 0 in
 * order of first appearance in the file. */
const struct model_image *model_image(const struct model *m, uint32_t id);
uint32_t model_image_count(const struct model *m);

/*
 * The image's build-id: its map record's, or that of evidence for its file; else that of a HEADER_BUILD_ID
 * record or the BUILD_ID feature for its name, unless the image was replaced. Empty: not known. `by_name`
 * (may be NULL): it is only that of the name, which perf reads from the path when it closes the recording.
 */
struct bytes model_image_build_id(const struct model *m, const struct model_image *image, bool *by_name);

/* Whether that build-id was added after the recording, so that it proves nothing. */
bool model_image_id_later(const struct model *m, const struct model_image *image);

/* Whether a later map event has another file of the same file system under this name: then the file that has
 * the name at the end is not this image. */
bool model_image_replaced(const struct model *m, const struct model_image *image);

/* Adds what was learned at the end of the recording about files of that name with state e->state. False:
 * memory. */
bool model_add_evidence(struct model *m, struct bytes name, const struct perfdata_evidence *e,
                        struct err *err);

/* Finds what else than its map record's build-id identifies the image's file. False: nothing. */
bool model_image_evidence(const struct model *m, const struct model_image *image,
                          struct perfdata_evidence *out);

/* ---- code that JITs announced: to be added before the freeze ---- */

/*
 * Adds an image for a process's announced code. `name` is the path of the file that it would be in (perf
 * inject makes such files), whose last part is its short name. Images with the same name but other numbers
 * are different. MODEL_NONE: out of memory.
 */
uint32_t model_add_code_image(struct model *m, uint32_t pid, const char *name, uint32_t number);

/* Announces code: from `when` on, `pid` has the image's bytes from pgoff on at [start, start + size), or, if
 * image is MODEL_NONE, no announced code there. Streaming: if that is late, from the newest record on. False:
 * memory. */
struct model_code {
    uint64_t start, size, pgoff;
    uint32_t image;
};
bool model_add_code(struct model *m, uint32_t pid, const struct model_code *code, struct model_when when,
                    struct err *err);

/* Whether a map record with this name is of memory without a file, which hides no announced code. */
bool model_is_memory(struct bytes name);

/* Whether the process had announced code at any time. */
bool model_has_code(const struct model *m, uint32_t pid);

/* Whether a HEADER_BUILD_ID record or the BUILD_ID feature names the image, with the same cpumode. */
bool model_image_listed(const struct model *m, const struct model_image *image);

/* What perf script prints for the image: a module's short name unless it is listed, else the name. */
const char *model_image_dso(const struct model *m, const struct model_image *image);

/* ---- processes and threads: each incarnation of a pid or tid is one ---- */

struct model_process {
    uint32_t pid;
    uint32_t ppid;                 /* MODEL_NONE: not in a FORK or EXIT record */
    struct model_when born, ended; /* first record; MODEL_WHEN_END while it lives */
    bool forked;                   /* born at a FORK record */
    bool exited;                   /* ended at an EXIT record (else a new process took the pid without one) */
} __attribute__((packed, aligned(4)));

struct model_thread {
    uint32_t pid, tid;
    uint32_t ppid, ptid; /* as model_process.ppid */
    uint32_t process;
    struct model_when born, ended;
    bool forked, exited;
} __attribute__((packed, aligned(4)));

/* Iteration: ids from 0, ordered by birth. Borrowed, valid until the next model_apply,
 * model_retire or model_free. */
uint32_t model_process_count(const struct model *m);
uint32_t model_thread_count(const struct model *m);
const struct model_process *model_process(const struct model *m, uint32_t id);
const struct model_thread *model_thread(const struct model *m, uint32_t id);

/* The id of the latest incarnation born at or before `when` (it may have ended since), or MODEL_NONE. */
uint32_t model_process_at(const struct model *m, uint32_t pid, struct model_when when);
uint32_t model_thread_at(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when);

/*
 * The thread's comm at an instant: its own, else the one inherited at fork; "swapper" for tid 0. NULL
 * if not recorded, and after the thread's exit (perf prints ":TID" in both cases; for the last comm use
 * model_when_prior(thread->ended)). The text lives as long as the model. `at_exec` (may be NULL): it was
 * set by an exec. Hot: once per sample.
 */
const char *model_comm(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when,
                       bool *at_exec);

/* model_comm, and how long it is valid: while from <= when < until. Streaming: of what was applied so far. */
struct model_comm_span {
    const char *comm; /* may be NULL */
    bool at_exec;
    struct model_when from, until;
    uint32_t thread;                             /* as model_thread_at */
    struct model_when thread_from, thread_until; /* how long `thread` is valid */
};
void model_comm_at(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when,
                   struct model_comm_span *out);

/* ---- the rest ---- */

/* A NAMESPACES record's links: nr device, inode pairs in host order (net, uts, ipc, pid, user, mnt, cgroup).
 */
struct model_namespaces {
    uint32_t count;
    const uint64_t *links; /* 2 * count */
};
bool model_namespaces_at(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when,
                         struct model_namespaces *out);

/* The path of a cgroup id, or NULL. */
const char *model_cgroup(const struct model *m, uint64_t id);

/* A TEXT_POKE as recorded; `bytes` has old_len old bytes, then new_len new ones. In time order after freeze.
 */
struct model_text_poke {
    struct model_when when;
    uint64_t address;
    uint16_t old_len, new_len;
    const uint8_t *bytes;
};
uint32_t model_text_poke_count(const struct model *m);
const struct model_text_poke *model_text_poke(const struct model *m, uint32_t i);

/* A BPF_EVENT that loaded a program; its code's image is named bpf_prog_TAG or bpf_prog_TAG_NAME. */
struct model_bpf_program {
    struct model_when when;
    uint32_t id;
    uint8_t tag[8];
};
uint32_t model_bpf_program_count(const struct model *m);
const struct model_bpf_program *model_bpf_program(const struct model *m, uint32_t i);

/* Finds the reference symbol ("_text") of the kernel's own map and its recorded address, for undoing KASLR.
 * False: there is no such map. `space`: KERNEL or GUEST_KERNEL. */
struct model_kernel_reference {
    const char *symbol; /* may be empty */
    uint64_t address;
    uint32_t image;
};
bool model_kernel_reference(const struct model *m, enum model_space space,
                            struct model_kernel_reference *out);

/* Bytes of memory the model holds: for tests and --debug. */
size_t model_memory_bytes(const struct model *m);

#endif
