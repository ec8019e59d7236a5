/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsonde-jvmti.so: lets a Java virtual machine tell profilers what it compiles, in a jitdump.
 *
 *     java -agentpath:/usr/lib/sonde/libsonde-jvmti.so[=dir=DIR,nolines] ...
 *     jcmd PID JVMTI.agent_load /usr/lib/sonde/libsonde-jvmti.so
 *         (while it runs: what there is is told too)
 *
 *   dir=DIR   where jit-PID.dump goes (default: /tmp)
 *   nolines   no source lines, nor what was inlined
 *
 * A line is that of the innermost method inlined at its address; which methods lie in which is told beside.
 * Interface: JVM Tool Interface 1.2; jvmticmlr.h for what was inlined. Nothing here prints but the one word
 * that the agent could not start.
 */
#include <jvmti.h>
#include <jvmticmlr.h>
#include <stdlib.h>

#include <sonde/jitdump.h>

/* One virtual machine is all that a process can have, and callbacks get no context of ours. */
static struct sonde_jitdump dump;
static int with_lines = 1;

/* ---- names ---- */

/* "Ljava/lang/String;hashCode()I", which readers demangle. A text of the caller's, or NULL. */
static char *method_name(jvmtiEnv *jvmti, jmethodID method) {
    char *name = NULL, *signature = NULL, *class_name = NULL, *whole = NULL;
    jclass class;
    if ((*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL) == JVMTI_ERROR_NONE &&
        asprintf(&whole, "%s%s%s", class_name, name, signature) < 0)
        whole = NULL;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
    return whole;
}

/* ---- lines ---- */

/* What is known of a method's source: asked once per method and compilation. */
struct source {
    jmethodID method;
    char *name;
    char *file; /* package/File.java; NULL: not known */
    jint count;
    jvmtiLineNumberEntry *table; /* the machine's */
};

struct lines {
    struct source *sources;
    size_t source_count;
    struct sonde_jitdump_line *list;
    size_t count;
    struct sonde_jitdump_place *places;
    struct sonde_jitdump_frame *frames;
    uint32_t place_count, frame_count;
};

/* "Ljava/lang/String;" and "String.java" -> "java/lang/String.java". */
static char *source_path(const char *class_name, const char *file) {
    const char *slash = strrchr(class_name, '/');
    char *path = NULL;
    int folder = slash && *class_name == 'L' ? (int)(slash - class_name) : 0;
    if (asprintf(&path, "%.*s%s%s", folder ? folder - 1 : 0, class_name + 1, folder ? "/" : "", file) < 0)
        path = NULL;
    return path;
}

static const struct source *source_of(jvmtiEnv *jvmti, struct lines *lines, jmethodID method) {
    for (size_t i = lines->source_count; i-- > 0;)
        if (lines->sources[i].method == method)
            return &lines->sources[i];
    struct source *grown = realloc(lines->sources, (lines->source_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    lines->sources = grown;
    struct source *s = &grown[lines->source_count++];
    char *file = NULL, *class_name = NULL;
    jclass class;
    memset(s, 0, sizeof *s);
    s->method = method;
    s->name = method_name(jvmti, method);
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetSourceFileName(jvmti, class, &file) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL) == JVMTI_ERROR_NONE)
        s->file = source_path(class_name, file);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)file);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
    if (!s->file || (*jvmti)->GetLineNumberTable(jvmti, method, &s->count, &s->table) != JVMTI_ERROR_NONE)
        s->count = 0;
    return s;
}

/* The line of a place in a method's bytecode; 0: not known. Entries need not ascend by it. */
static uint32_t line_at(const struct source *s, jlocation place) {
    const jvmtiLineNumberEntry *best = NULL;
    for (jint i = 0; i < s->count; i++)
        if (s->table[i].start_location <= place &&
            (!best || s->table[i].start_location > best->start_location))
            best = &s->table[i];
    return best ? (uint32_t)best->line_number : 0;
}

static void add_line(jvmtiEnv *jvmti, struct lines *lines, const void *address, jmethodID method,
                     jlocation place) {
    const struct source *s = source_of(jvmti, lines, method);
    uint32_t line = s ? line_at(s, place) : 0;
    if (!line)
        return;
    struct sonde_jitdump_line *grown = realloc(lines->list, (lines->count + 1) * sizeof *grown);
    if (!grown)
        return;
    lines->list = grown;
    grown[lines->count++] = (struct sonde_jitdump_line){address, line, 0, s->file};
}

/* All methods that lie in each other there; there is room for them. Addresses ascend in the record. */
static void add_place(jvmtiEnv *jvmti, struct lines *lines, const void *from, const PCStackInfo *at) {
    struct sonde_jitdump_place *place = &lines->places[lines->place_count];
    *place = (struct sonde_jitdump_place){from, lines->frame_count, 0};
    for (jint i = 0; i < at->numstackframes; i++) {
        const struct source *s = source_of(jvmti, lines, at->methods[i]);
        if (!s)
            return;
        lines->frames[lines->frame_count + place->depth++] =
            (struct sonde_jitdump_frame){(uint32_t)(s - lines->sources), line_at(s, at->bcis[i])};
    }
    lines->frame_count += place->depth;
    lines->place_count++;
}

/*
 * Where the compiler says what it inlined. False: it does not. HotSpot's entries hold up to their address,
 * which is where a call returns to: seen by whom a method's callees name as their caller.
 */
static int add_inlined(jvmtiEnv *jvmti, struct lines *lines, const void *code, const void *compile_info) {
    int any = 0;
    const char *from = code;
    for (const jvmtiCompiledMethodLoadRecordHeader *h = compile_info; h; h = h->next) {
        if (h->kind != JVMTI_CMLR_INLINE_INFO)
            continue;
        const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;
        size_t frames = 0;
        for (jint i = 0; i < r->numpcs; i++)
            frames += r->pcinfo[i].numstackframes > 0 ? (size_t)r->pcinfo[i].numstackframes : 0;
        int room = !any && frames < UINT32_MAX / 2 && r->numpcs > 0;
        lines->places = room ? calloc((size_t)r->numpcs, sizeof *lines->places) : lines->places;
        lines->frames = room ? calloc(frames + 1, sizeof *lines->frames) : lines->frames;
        for (jint i = 0; i < r->numpcs; i++) {
            const PCStackInfo *at = &r->pcinfo[i];
            if (at->numstackframes > 0) {
                add_line(jvmti, lines, from, at->methods[0], at->bcis[0]);
                if (room && lines->places && lines->frames)
                    add_place(jvmti, lines, from, at);
            }
            from = (const char *)at->pc + 1;
        }
        any = 1;
    }
    return any;
}

static void free_lines(jvmtiEnv *jvmti, struct lines *lines) {
    for (size_t i = 0; i < lines->source_count; i++) {
        free(lines->sources[i].name);
        free(lines->sources[i].file);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)lines->sources[i].table);
    }
    free(lines->sources);
    free(lines->list);
    free(lines->places);
    free(lines->frames);
}

static void announce(const struct lines *lines, const void *address, size_t size, const char *name) {
    struct sonde_jitdump_source *sources = calloc(lines->source_count + 1, sizeof *sources);
    struct sonde_jitdump_inlines inlines = {
        sources,           lines->places, lines->frames, (uint32_t)lines->source_count, lines->place_count,
        lines->frame_count};
    int inlined = 0;
    for (uint32_t i = 0; i < lines->place_count; i++)
        inlined |= lines->places[i].depth > 1;
    for (size_t i = 0; sources && i < lines->source_count; i++) {
        const struct source *s = &lines->sources[i];
        sources[i] = (struct sonde_jitdump_source){s->name ? s->name : "", s->file ? s->file : ""};
    }
    sonde_jitdump_announce(&dump,
                           &(struct sonde_jitdump_code){.address = address,
                                                        .size = size,
                                                        .name = name,
                                                        .lines = lines->list,
                                                        .line_count = lines->count,
                                                        .inlines = inlined && sources ? &inlines : NULL});
    free(sources);
}

/* ---- events ---- */

static void JNICALL compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *address,
                             jint map_count, const jvmtiAddrLocationMap *map, const void *compile_info) {
    char *name = method_name(jvmti, method);
    struct lines lines = {0};
    if (with_lines && !add_inlined(jvmti, &lines, address, compile_info))
        for (jint i = 0; i < map_count; i++)
            add_line(jvmti, &lines, map[i].start_address, method, map[i].location);
    announce(&lines, address, (size_t)size, name ? name : "[unknown method]");
    free_lines(jvmti, &lines);
    free(name);
}

/* The interpreter, stubs, adapters. */
static void JNICALL generated(jvmtiEnv *jvmti, const char *name, const void *address, jint size) {
    (void)jvmti;
    sonde_jitdump_load(&dump, address, (size_t)size, name, NULL, 0);
}

/* ---- */

/* "dir=/x,nolines": the folder, or NULL; a text of the caller's. */
static char *take_options(const char *options) {
    char *copy = options ? strdup(options) : NULL, *dir = NULL, *rest = NULL;
    for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
        if (strncmp(word, "dir=", 4) == 0)
            dir = strdup(word + 4);
        else if (strcmp(word, "nolines") == 0)
            with_lines = 0;
    }
    free(copy);
    return dir;
}

static int start(jvmtiEnv *jvmti) {
    const jvmtiCapabilities want = {.can_generate_compiled_method_load_events = 1,
                                    .can_get_source_file_name = 1,
                                    .can_get_line_numbers = 1};
    const jvmtiEventCallbacks callbacks = {.CompiledMethodLoad = compiled, .DynamicCodeGenerated = generated};
    static const jvmtiEvent events[] = {JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
    if ((*jvmti)->AddCapabilities(jvmti, &want) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return 0;
    for (int i = 0; i < 2; i++)
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) != JVMTI_ERROR_NONE)
            return 0;
    /* What was made before: all of it when attached to a running machine; at a start there is none yet, and
     * this is not allowed. */
    for (int i = 0; i < 2; i++)
        (*jvmti)->GenerateEvents(jvmti, events[i]);
    return 1;
}

static jint load(JavaVM *vm, const char *options) {
    jvmtiEnv *jvmti = NULL;
    char *dir = take_options(options);
    int error = sonde_jitdump_open(&dump, dir);
    if (error || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || !start(jvmti)) {
        fprintf(stderr, "libsonde-jvmti: cannot start: %s\n",
                error ? strerror(error) : "the machine refuses");
        free(dir);
        return JNI_ERR;
    }
    free(dir);
    return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    (void)reserved;
    return load(vm, options);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved) {
    (void)reserved;
    return load(vm, options);
}
