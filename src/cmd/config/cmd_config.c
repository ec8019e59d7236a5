/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/common/command.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/config/config_edit.h"
#include "cmd/config/config_keys.h"
#include "os/files/place.h"

struct config_options {
    bool list, user, system, keys, unset;
};

static const struct option options[] = {
    OPTION_BOOL('l', "list", struct config_options, list, "show current config variables"),
    OPTION_BOOL(0, "system", struct config_options, system, "use system config file"),
    OPTION_BOOL(0, "user", struct config_options, user, "use user config file"),
    OPTION_BOOL(0, "keys", struct config_options, keys,
                "show all variables that sonde reads, with their values and meaning"),
    OPTION_BOOL(0, "unset", struct config_options, unset, "remove the named variables from the file"),
    OPTION_END,
};

static bool is_first(const struct perfconfig *c, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (strcasecmp(c->entries.items[j].key, c->entries.items[i].key) == 0)
            return false;
    return true;
}

/* NULL: not set. A name without a value means true. */
static const char *value_of(const struct perfconfig *c, const char *key) {
    const char *value = NULL;
    for (size_t i = 0; i < c->entries.count; i++) {
        const struct perfconfig_entry *e = &c->entries.items[i];
        if (strcasecmp(e->key, key) == 0)
            value = e->value ? e->value : "true";
    }
    return value;
}

/* What is misspelt does nothing, silently, unless somebody says so. What other tools read stands in the same
 * file, so that it is no error. */
static void name_unknown(const struct command_env *env, const char *key) {
    const char *near = config_key_nearest(key);
    if (config_key_find(key))
        return;
    fprintf(stderr, near ? "%s reads no variable %s: did you mean %s?\n" : "%s reads no variable %s\n",
            env->program, key, near);
}

static void list_all(const struct command_env *env, struct out *o, const struct perfconfig *c) {
    for (size_t i = 0; i < c->entries.count; i++)
        if (is_first(c, i))
            out_printf(o, "%s=%s\n", c->entries.items[i].key, value_of(c, c->entries.items[i].key));
    out_flush(o);
    for (size_t i = 0; i < c->entries.count; i++)
        if (is_first(c, i))
            name_unknown(env, c->entries.items[i].key);
}

static void list_keys(struct out *o, const struct perfconfig *c) {
    enum { NAME = 24, VALUE = 15 };
    const struct config_key *k;
    for (size_t i = 0; (k = config_key_at(i)); i++) {
        const char *set = value_of(c, k->name);
        out_left(o, k->name, strlen(k->name), NAME);
        out_char(o, ' ');
        out_left(o, set ? set : k->fallback, strlen(set ? set : k->fallback), VALUE);
        out_printf(o, "  %s", k->help);
        if (set)
            out_printf(o, " (default: %s)", k->fallback);
        else if (k->values && strcmp(k->values, "N") != 0 && strcmp(k->values, "true|false") != 0)
            out_printf(o, " (%s)", k->values);
        out_char(o, '\n');
    }
}

static bool get(const struct command_env *env, struct out *o, const struct perfconfig *c, const char *key,
                struct err *err) {
    if (!strchr(key, '.') || *key == '.')
        return err_set(err, ERR_USAGE, "", "The config variable does not contain a section name: %s", key);
    const char *value = value_of(c, key);
    if (value)
        out_printf(o, "%s=%s\n", key, value);
    else
        name_unknown(env, key);
    return true;
}

/* Makes the change that "section.name=value", or a name with --unset, asks for in `text`. */
static bool change(const struct command_env *env, const char *word, bool unset, const char *path,
                   struct bytes text, struct out *into, struct err *err) {
    const char *equals = unset ? NULL : strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    char *key = strndup(word, n);
    if (!key)
        return err_memory(err, word);
    const struct config_key *known = config_key_find(key);
    bool ok = true;
    if (equals && !equals[1])
        ok = err_set(err, ERR_USAGE, "", "The config variable does not contain a value: %s", word);
    else if (equals && known)
        ok = config_key_takes(known, equals + 1, err);
    ok = ok && config_edit(into, text, key, equals ? equals + 1 : NULL, path, err);
    if (ok && !known && !unset)
        name_unknown(env, key);
    free(key);
    return ok;
}

/* Writes the file once, with all changes or, after an error, with none. */
static bool change_all(const struct command_env *env, char **words, int count, bool unset, const char *path,
                       struct err *err) {
    struct bytes text;
    if (!perfconfig_read_file(path, &text, err))
        return false;
    bool ok = true, any = false;
    for (int i = 0; i < count && ok; i++) {
        struct out o;
        if (!unset && !strchr(words[i], '='))
            continue;
        ok = out_init(&o, NULL, NULL) ? change(env, words[i], unset, path, text, &o, err)
                                      : err_memory(err, path);
        any = true;
        free((void *)text.data);
        text = (struct bytes){(const uint8_t *)o.buf, o.len}; /* which takes the buffer over */
    }
    ok = ok && (!any || os_place_write(path, text, err));
    free((void *)text.data);
    return ok;
}

/* The file to write: the given one, or the user's. */
static const char *chosen_file(const struct config_options *o, char *room, size_t size) {
    if (!o->user && !o->system && perfconfig_given())
        return perfconfig_given();
    return perfconfig_path(o->system ? PERFCONFIG_SYSTEM : PERFCONFIG_USER, room, size);
}

static int show(struct command_env *env, const struct config_options *o, const struct perfconfig *c,
                char **words, int count) {
    struct out out;
    struct err err = ERR_INIT;
    bool ok = true;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    if (o->keys)
        list_keys(&out, c);
    else if (count == 0)
        list_all(env, &out, c);
    for (int i = 0; i < count && ok; i++)
        ok = strchr(words[i], '=') || get(env, &out, c, words[i], &err);
    int status = command_finish(env, &out, c->damaged ? EXIT_ERROR : EXIT_OK);
    return ok ? status : command_fail(&err);
}

/* The error in what was asked for, or NULL. */
static const char *misuse(const struct config_options *o, int argc) {
    if (o->user && o->system)
        return "only one config file at a time";
    if ((o->list || o->keys) && argc > 0)
        return "takes no arguments";
    return o->unset && argc == 0 ? "--unset takes names of variables" : NULL;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct config_options o = {0};
    struct err err = ERR_INIT;
    char room[4096];
    int status, changes = 0;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (misuse(&o, argc))
        return command_usage(env, "%s", misuse(&o, argc));
    for (int i = 0; i < argc; i++)
        changes += o.unset || strchr(argv[i], '=');
    const char *path = chosen_file(&o, room, sizeof room);
    if (!path && (changes || o.user)) {
        err_set(&err, ERR_ABSENT, "", "there is no home folder for the file: set HOME");
        return command_fail(&err);
    }
    if (changes && !change_all(env, argv, argc, o.unset, path, &err))
        return command_fail(&err);
    if (changes && changes == argc)
        return EXIT_OK;
    struct perfconfig one = PERFCONFIG_INIT;
    bool single = o.user || o.system;
    if (single)
        perfconfig_load_file(&one, path);
    status = show(env, &o, single ? &one : env->config, argv, argc);
    perfconfig_fini(&one);
    return status;
}

const struct command cmd_config = {
    .name = "config",
    .summary = "Show and change configuration variables",
    .usage =
        (const char *const[]){
            "config [<file-option>] [options] [section.name[=value] ...]",
            NULL,
        },
    .options = options,
    .operands = OPTION_WORDS_VARIABLES,
    .run = run,
};
