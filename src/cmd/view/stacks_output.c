/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view/stacks_output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/command.h"

/* Half of a profile looks like a whole one to whoever finds the file. */
static void remove_half(int fd, const char *path) {
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

bool stacks_write(const struct stacks *s, const struct export_format *f, const struct export_options *o,
                  const char *output, struct err *err) {
    struct command_sink sink = {.fd = STDOUT_FILENO};
    struct out out;
    if (output && (sink.fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
        return err_errno(err, errno, output, "cannot be written");
    bool ok = out_init(&out, command_write_fd, &sink) || err_memory(err, f->name);
    ok = ok && f->write(s, o, &out, err);
    if (ok && !out_flush(&out) && sink.errnum != EPIPE)
        ok = err_errno(err, sink.errnum, output ? output : "standard output", "cannot be written");
    out_fini(&out);
    if (output && !ok)
        remove_half(sink.fd, output);
    if (output && close(sink.fd) && ok)
        ok = err_errno(err, errno, output, "cannot be written");
    return ok;
}
