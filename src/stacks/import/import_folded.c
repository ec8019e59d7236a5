/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks: "comm;outermost;...;innermost weight". */
#include "stacks/import/import_internal.h"

/* Names may end in what says where their code is: "_[k]" the kernel, "_[j]" made by the process, "_[i]"
 * inlined (stackcollapse-perf.pl --all). */
static struct part without_mark(struct part name, uint8_t *level) {
    static const struct {
        char mark;
        uint8_t level;
    } marks[] = {{'k', STACKS_KERNEL}, {'j', STACKS_JIT}, {'i', STACKS_INLINED}};
    const char *end = name.text + name.len;
    for (size_t i = 0; name.len > 4 && i < sizeof marks / sizeof *marks; i++)
        if (end[-4] == '_' && end[-3] == '[' && end[-2] == marks[i].mark && end[-1] == ']') {
            *level = marks[i].level;
            name.len -= 4;
        }
    return name;
}

static uint32_t frame_of(struct importing *in, struct part name) {
    struct stacks_frame f = {.image = STACKS_NONE};
    uint8_t level = STACKS_USER;
    name = without_mark(name, &level);
    if (!import_name(in, name, (struct part){0}, &f))
        return STACKS_NONE;
    f.level = level;
    uint32_t id = stacks_frame(in->s, &f);
    in->no_memory |= id == STACKS_NONE;
    return id;
}

/* Takes what precedes the next ';' off a stack. */
static struct part take_name(struct part *stack) {
    const char *end = memchr(stack->text, ';', stack->len);
    size_t len = end ? (size_t)(end - stack->text) : stack->len;
    struct part name = {stack->text, len};
    stack->text += end ? len + 1 : len;
    stack->len -= end ? len + 1 : len;
    return name;
}

static bool add_line(struct importing *in, struct part line, uint32_t event) {
    size_t at = line.len;
    while (at && line.text[at - 1] != ' ' && line.text[at - 1] != '\t')
        at--;
    uint64_t weight = 0;
    if (!at || !import_number((struct part){line.text + at, line.len - at}, &weight))
        return import_bad(in, "no weight at its end");
    struct part stack = import_trim((struct part){line.text, at}), comm = take_name(&stack);
    if (!comm.len || !stack.len)
        return import_bad(in, "no frames");
    uint32_t node = STACKS_NONE, depth = 0, who = import_text(in, comm);
    for (size_t i = 0; i < stack.len; i++)
        depth += stack.text[i] == ';';
    if (depth >= STACKS_IMPORT_DEEPEST)
        return import_bad(in, "too many frames");
    while (stack.len && !in->no_memory) {
        uint32_t frame = frame_of(in, take_name(&stack));
        node = in->no_memory ? node : stacks_node(in->s, node, frame);
        in->no_memory |= node == STACKS_NONE;
    }
    uint32_t row;
    return !in->no_memory && import_add(in, event, who, node, weight, weight, &row);
}

bool import_folded(struct importing *in, struct bytes file, struct err *err) {
    uint32_t name = import_text(in, (struct part){"samples", 7});
    struct part line;
    (void)err;
    uint32_t event = in->no_memory ? 0 : import_event(in, name, name);
    while (!in->no_memory && import_line(&file, &line)) {
        in->at++;
        line = import_trim(line);
        if (line.len && line.text[0] != '#')
            add_line(in, line, event);
    }
    return !in->no_memory;
}
