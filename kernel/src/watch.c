/* Interruptions of a long computation. */
#include "watch.h"

#include <time.h>

/* Ask the caller, if INTERVAL has passed since the last time, whether to stop; INTERRUPTED if so. */
Status look_up(Watch *watch)
{
    double now = (double)clock() / CLOCKS_PER_SEC;
    if (watch->due == 0.0)
        watch->due = now + INTERVAL;
    if (!watch->stopped && now >= watch->due) {
        watch->stopped = watch->interrupts();
        watch->due = now + INTERVAL;
    }
    return watch->stopped ? INTERRUPTED : DONE;
}
