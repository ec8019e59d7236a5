/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/read/clocks.h"

#include "waits/read/read_proc.h"

bool waits_clocks_read(const struct os_proc *proc, const struct os_mover *mover, unsigned cpus,
                       uint64_t now_ns, waits_clocks *out) {
    struct writer text = writer_make(false);
    bool ok = true;
    for (unsigned cpu = 0; ok && cpu < cpus; cpu++) {
        struct err why = ERR_INIT;
        int64_t *slot = vec_push(out), clock = -1;
        ok = slot != NULL;
        writer_clear(&text);
        if (mover->ctx && mover->to_cpu(mover->ctx, (int32_t)cpu) &&
            proc->read_once(proc->ctx, "/proc/thread-self/sched", &text, &why))
            clock = waits_read_exec_start(writer_bytes(&text));
        if (clock >= 0) /* now_ns may be before or after this reading */
            clock += (int64_t)(now_ns - mover->clock_ns(mover->ctx));
        if (ok)
            *slot = clock < 0 ? -1 : clock;
    }
    if (mover->ctx)
        mover->home(mover->ctx);
    writer_fini(&text);
    return ok;
}
