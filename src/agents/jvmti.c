/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsonde-jvmti.so: lets a Java virtual machine tell profilers what it compiles, in a jitdump.
 *
 *     java -agentpath:/usr/lib/sonde/libsonde-jvmti.so[=dir=DIR,nolines] ...
 *     jcmd PID JVMTI.agent_load /usr/lib/sonde/libsonde-jvmti.so       (while it runs: what there is is told
 * too)
 *
 *   dir=DIR   where jit-PID.dump goes (default: /tmp)
 *   nolines   no source lines
 *
 * A line is that of the innermost method inlined at its address. Interface: JVM Tool Interface 1.2;
 * jvmticmlr.h for what was inlined. Nothing here prints but the one word that the agent could not start.
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
    char *file; /* package/File.java; NULL: not known */
    jint count;
    jvmtiLineNumberEntry *table; /* the machine's */
};

struct lines {
    struct source *sources;
    size_t source_count;
    struct sonde_jitdump_line *list;
    size_t count;
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

/* Adds the line of a place in a method's bytecode. Entries need not ascend by it. */
static void add_line(jvmtiEnv *jvmti, struct lines *lines, const void *address, jmethodID method,
                     jlocation place) {
    const struct source *s = source_of(jvmti, lines, method);
    const jvmtiLineNumberEntry *best = NULL;
    for (jint i = 0; s && i < s->count; i++)
        if (s->table[i].start_location <= place &&
            (!best || s->table[i].start_location > best->start_location))
            best = &s->table[i];
    if (!best)
        return;
    struct sonde_jitdump_line *grown = realloc(lines->list, (lines->count + 1) * sizeof *grown);
    if (!grown)
        return;
    lines->list = grown;
    grown[lines->count++] = (struct sonde_jitdump_line){address, (uint32_t)best->line_number, 0, s->file};
}

/* Where the compiler says what it inlined. False: it does not. */
static int add_inlined(jvmtiEnv *jvmti, struct lines *lines, const void *compile_info) {
    int any = 0;
    for (const jvmtiCompiledMethodLoadRecordHeader *h = compile_info; h; h = h->next) {
        if (h->kind != JVMTI_CMLR_INLINE_INFO)
            continue;
        const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;
        for (jint i = 0; i < r->numpcs; i++)
            if (r->pcinfo[i].numstackframes > 0)
                add_line(jvmti, lines, r->pcinfo[i].pc, r->pcinfo[i].methods[0], r->pcinfo[i].bcis[0]);
        any = 1;
    }
    return any;
}

static void free_lines(jvmtiEnv *jvmti, struct lines *lines) {
    for (size_t i = 0; i < lines->source_count; i++) {
        free(lines->sources[i].file);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)lines->sources[i].table);
    }
    free(lines->sources);
    free(lines->list);
}

/* ---- events ---- */

static void JNICALL compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *address,
                             jint map_count, const jvmtiAddrLocationMap *map, const void *compile_info) {
    char *name = method_name(jvmti, method);
    struct lines lines = {0};
    if (with_lines && !add_inlined(jvmti, &lines, compile_info))
        for (jint i = 0; i < map_count; i++)
            add_line(jvmti, &lines, map[i].start_address, method, map[i].location);
    sonde_jitdump_load(&dump, address, (size_t)size, name ? name : "[unknown method]", lines.list,
                       lines.count);
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
