/* What a composition holds, and its memory. */
#include "composition.h"
#include "loss.h"
#include "laplace_run.h"
#include "survey.h"

#include <stdlib.h>
#include <string.h>

/* Room for kinds of steps and of Laplace losses, which the caller sets; `complete` must follow. */
Status make(Composition *all, int kinds, int laplace_kinds)
{
    memset(all, 0, sizeof *all);
    all->kinds = kinds;
    all->laplace_kinds = laplace_kinds;
    all->wanted = all->log_leak = -INFINITY;
    all->steps = calloc((size_t)kinds + 1, sizeof *all->steps);
    all->laplace = calloc((size_t)laplace_kinds + 1, sizeof *all->laplace);
    return all->steps && all->laplace ? DONE : NO_MEMORY;
}

/* What follows from its parts: the largest loss, rounded up, and the atoms of a run. */
Status complete(Composition *all)
{
    double most = all->square > 0.0 ? INFINITY : 0.0;
    for (int k = 0; k < all->kinds; k++)
        most += largest_loss(&all->steps[k].loss) * all->steps[k].count;
    for (int k = 0; k < all->laplace_kinds; k++)
        most += all->laplace[k].shift * all->laplace[k].count;
    all->supremum = most * (1.0 + 4 * UNIT * (all->kinds + all->laplace_kinds + 1.0));
    return set_atoms(all);
}

void forget_line(Line *line)
{
    free(line->real);
    line->real = NULL;
}

void forget(Composition *all)
{
    for (int k = 0; k < KEPT; k++)
        forget_survey(&all->surveys[k]);
    for (int k = 0; k < KEPT; k++)
        forget_line(&all->shared[k].line);
    for (int k = 0; k < KEPT / 4; k++)
        forget_line(&all->few[k].line);
    for (int k = 0; k < (KEPT / 4); k++)
        if (all->cuts[k]) {
            forget(all->cuts[k]);
            free(all->cuts[k]);
        }
    free(all->steps);
    free(all->mixtures);
    free(all->laplace);
    free(all->atoms[0].log_mass);
    free(all->atoms[1].log_mass);
    memset(all, 0, sizeof *all);
}
