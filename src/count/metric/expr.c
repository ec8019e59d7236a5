/* SPDX-License-Identifier: Apache-2.0 */
#include "count/metric/expr.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum kind {
    NUMBER,
    NAME,
    THERE,
    SOURCES,
    NEGATE,
    ABS,
    /* of two: */
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MODULO,
    LESS,
    GREATER,
    AND,
    OR,
    XOR,
    MIN,
    MAX,
    RATIO,
    /* of three: the condition is c */
    CHOICE
};

struct metric_node {
    enum kind kind;
    double number;
    const char *name;
    const struct metric_node *a, *b, *c;
};

struct parser {
    const char *text, *at;
    struct metric_expr *e;
    struct err *err;
    int depth;
};

static const struct metric_node *parse_choice(struct parser *p);

static void *fail(struct parser *p, const char *what) {
    if (p->err && p->err->code == ERR_NONE)
        err_set(p->err, ERR_USAGE, "metric", "%s at '%.40s' of '%.100s'", what, *p->at ? p->at : "the end",
                p->text);
    return NULL;
}

static const struct metric_node *make(struct parser *p, struct metric_node n) {
    struct metric_node *copy = arena_alloc(&p->e->arena, sizeof *copy);
    if (!copy) {
        err_memory(p->err, "metric");
        return NULL;
    }
    *copy = n;
    return copy;
}

static const struct metric_node *pair(struct parser *p, enum kind kind, const struct metric_node *a,
                                      const struct metric_node *b) {
    return a && b ? make(p, (struct metric_node){.kind = kind, .a = a, .b = b}) : NULL;
}

static void skip(struct parser *p) {
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool take(struct parser *p, char c) {
    skip(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static bool part_of_name(const char *s) {
    return isalnum((unsigned char)*s) || *s == '_' || *s == '.' || *s == ':' || *s == '@' || *s == '#' ||
           *s == '?' || (*s == '\\' && s[1]);
}

static bool take_word(struct parser *p, const char *word) {
    size_t n = strlen(word);
    skip(p);
    if (strncmp(p->at, word, n) != 0 || part_of_name(p->at + n))
        return false;
    p->at += n;
    return true;
}

/* A name without its escapes. Between two @ all characters belong to it. */
static const char *take_name(struct parser *p) {
    const char *s = p->at;
    bool inside = false;
    while (*s && (inside ? true : part_of_name(s))) {
        inside ^= *s == '@';
        s += *s == '\\' && s[1] ? 2 : 1;
    }
    char *name = arena_alloc(&p->e->arena, (size_t)(s - p->at) + 1);
    if (!name) {
        err_memory(p->err, "metric");
        return NULL;
    }
    char *to = name;
    for (const char *from = p->at; from < s; from++) {
        if (*from == '\\' && from + 1 < s)
            *to++ = *++from;
        else
            *to++ = *from == '@' ? '/' : *from;
    }
    *to = 0;
    p->at = s;
    return name;
}

static bool need(struct parser *p, const char *name) {
    if (*name == '#')
        return true;
    for (size_t i = 0; i < p->e->names.count; i++)
        if (strcmp(p->e->names.items[i], name) == 0)
            return true;
    const char **slot = vec_push(&p->e->names);
    if (slot)
        *slot = name;
    return slot || err_memory(p->err, "metric");
}

static const struct metric_node *parse_function(struct parser *p, const char *name) {
    static const struct {
        const char *name;
        enum kind kind;
        int operands;
    } FUNCTIONS[] = {{"min", MIN, 2}, {"max", MAX, 2}, {"d_ratio", RATIO, 2}, {"abs", ABS, 1}};
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (strcmp(FUNCTIONS[i].name, name) != 0)
            continue;
        const struct metric_node *a = parse_choice(p), *b = NULL;
        if (FUNCTIONS[i].operands == 2 && a && !take(p, ','))
            return fail(p, "a comma is missing");
        if (FUNCTIONS[i].operands == 2 && a)
            b = parse_choice(p);
        if (a && (b || FUNCTIONS[i].operands == 1) && !take(p, ')'))
            return fail(p, "a parenthesis is missing");
        if (FUNCTIONS[i].operands == 1)
            return a ? make(p, (struct metric_node){.kind = FUNCTIONS[i].kind, .a = a}) : NULL;
        return pair(p, FUNCTIONS[i].kind, a, b);
    }
    bool there = strcmp(name, "has_event") == 0;
    if (!there && strcmp(name, "source_count") != 0)
        return fail(p, "an unknown function");
    skip(p);
    const char *of = take_name(p);
    if (!of || (!there && !need(p, of)))
        return NULL;
    if (!*of || !take(p, ')'))
        return fail(p, "a name is missing");
    return make(p, (struct metric_node){.kind = there ? THERE : SOURCES, .name = of});
}

static const struct metric_node *parse_number(struct parser *p) {
    char *end;
    double number = strtod(p->at, &end);
    if (end == p->at)
        return fail(p, "a number is wrong");
    p->at = end;
    return make(p, (struct metric_node){.kind = NUMBER, .number = number});
}

/* Names may begin with a digit only where that makes no number ("0x" is none either). */
static const struct metric_node *parse_operand(struct parser *p) {
    skip(p);
    if (take(p, '(')) {
        const struct metric_node *n = parse_choice(p);
        return n && !take(p, ')') ? fail(p, "a parenthesis is missing") : n;
    }
    if (take(p, '-')) {
        const struct metric_node *n = ++p->depth > METRIC_DEPTH_MAX ? fail(p, "too deep") : parse_operand(p);
        p->depth--;
        return n ? make(p, (struct metric_node){.kind = NEGATE, .a = n}) : NULL;
    }
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p);
    if (!part_of_name(p->at))
        return fail(p, "a value is missing");
    const char *name = take_name(p);
    if (!name)
        return NULL;
    if (take(p, '('))
        return parse_function(p, name);
    return need(p, name) ? make(p, (struct metric_node){.kind = NAME, .name = name}) : NULL;
}

/* Operators by how tightly they bind, loosest first. */
static const struct level {
    struct {
        char sign;
        enum kind kind;
    } operators[3];
} BINDING[] = {
    {{{'|', OR}}},
    {{{'^', XOR}}},
    {{{'&', AND}}},
    {{{'<', LESS}, {'>', GREATER}}},
    {{{'+', ADD}, {'-', SUBTRACT}}},
    {{{'*', MULTIPLY}, {'/', DIVIDE}, {'%', MODULO}}},
};
enum { LEVELS = sizeof BINDING / sizeof *BINDING };

static const struct metric_node *parse_level(struct parser *p, int level) {
    if (level == LEVELS)
        return parse_operand(p);
    const struct metric_node *n = parse_level(p, level + 1);
    for (bool more = true; n && more;) {
        more = false;
        for (int i = 0; i < 3 && BINDING[level].operators[i].sign && !more; i++) {
            if (!take(p, BINDING[level].operators[i].sign))
                continue;
            n = pair(p, BINDING[level].operators[i].kind, n, parse_level(p, level + 1));
            more = true;
        }
    }
    return n;
}

/* VALUE [if CONDITION else CHOICE] */
static const struct metric_node *parse_choice(struct parser *p) {
    if (++p->depth > METRIC_DEPTH_MAX)
        return fail(p, "too deep");
    const struct metric_node *a = parse_level(p, 0);
    if (a && take_word(p, "if")) {
        const struct metric_node *c = parse_level(p, 0);
        if (c && !take_word(p, "else"))
            return fail(p, "else is missing");
        const struct metric_node *b = c ? parse_choice(p) : NULL;
        a = b ? make(p, (struct metric_node){.kind = CHOICE, .a = a, .b = b, .c = c}) : NULL;
    }
    p->depth--;
    return a;
}

bool metric_expr_parse(struct metric_expr *e, const char *text, struct err *err) {
    struct err mine = ERR_INIT;
    struct parser p = {.text = text, .at = text, .e = e, .err = &mine};
    *e = (struct metric_expr){0};
    if (strlen(text) > METRIC_EXPR_MAX)
        fail(&p, "it is too long");
    else
        e->root = parse_choice(&p);
    skip(&p);
    if (e->root && *p.at)
        e->root = fail(&p, "something is left over");
    if (e->root)
        return true;
    metric_expr_fini(e);
    if (err)
        *err = mine;
    return false;
}

void metric_expr_fini(struct metric_expr *e) {
    vec_fini(&e->names);
    arena_fini(&e->arena);
    e->root = NULL;
}

struct asking {
    metric_lookup_fn *fn;
    void *ctx;
};

static double ask(const struct asking *q, const char *name, enum metric_ask what) {
    double value;
    return q->fn(q->ctx, name, what, &value) ? value : NAN;
}

static double value_of(const struct asking *q, const struct metric_node *n);

static double of_two(const struct asking *q, const struct metric_node *n) {
    double a = value_of(q, n->a), b = value_of(q, n->b);
    if (isnan(a) || isnan(b))
        return NAN;
    switch (n->kind) {
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
        return b != 0 ? a / b : NAN;
    case MODULO:
        return b != 0 ? fmod(a, b) : NAN;
    case LESS:
        return a < b;
    case GREATER:
        return a > b;
    case AND:
        return a != 0 && b != 0;
    case OR:
        return a != 0 || b != 0;
    case XOR:
        return (a != 0) != (b != 0);
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    default: /* RATIO */
        return b != 0 ? a / b : 0;
    }
}

static double value_of(const struct asking *q, const struct metric_node *n) {
    switch (n->kind) {
    case NUMBER:
        return n->number;
    case NAME:
        return ask(q, n->name, METRIC_VALUE);
    case THERE:
        return ask(q, n->name, METRIC_THERE);
    case SOURCES:
        return ask(q, n->name, METRIC_SOURCES);
    case NEGATE:
        return -value_of(q, n->a);
    case ABS:
        return fabs(value_of(q, n->a));
    case CHOICE: {
        double c = value_of(q, n->c);
        return isnan(c) ? NAN : value_of(q, c != 0 ? n->a : n->b);
    }
    default:
        return of_two(q, n);
    }
}

double metric_expr_value(const struct metric_expr *e, metric_lookup_fn *fn, void *ctx) {
    const struct asking q = {fn, ctx};
    return e->root ? value_of(&q, e->root) : NAN;
}

static bool facts_alone(const struct metric_node *n) {
    if (!n)
        return true;
    bool fact = n->kind == NUMBER || (n->kind == NAME && *n->name == '#');
    return fact || (n->kind > SOURCES && facts_alone(n->a) && facts_alone(n->b) && facts_alone(n->c));
}

static bool needs(const struct asking *q, const struct metric_node *n, const char *name) {
    if (!n)
        return false;
    if (n->kind == NAME || n->kind == SOURCES)
        return strcmp(n->name, name) == 0;
    if (n->kind == CHOICE && facts_alone(n->c)) {
        double c = value_of(q, n->c);
        if (!isnan(c))
            return needs(q, c != 0 ? n->a : n->b, name);
    }
    return needs(q, n->a, name) || needs(q, n->b, name) || needs(q, n->c, name);
}

bool metric_expr_needs(const struct metric_expr *e, const char *name, metric_lookup_fn *facts, void *ctx) {
    const struct asking q = {facts, ctx};
    return needs(&q, e->root, name);
}
