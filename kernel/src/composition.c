/* What a composition holds: its memory, and whether its noise is cut. */
#include "composition.h"

#include <stdlib.h>
#include <string.h>

/* Whether noise beyond an end is left out. */
bool is_cut(const Composition *all)
{
    return isfinite(all->loss.end);
}

void forget_survey(Survey *survey)
{
    free(survey->log_first);
    memset(survey, 0, sizeof *survey);
}

void forget_line(Line *line)
{
    free(line->real);
    line->real = NULL;
}

void forget(Composition *all)
{
    for (int k = 0; k < SURVEYS; k++)
        forget_survey(&all->surveys[k]);
    for (int k = 0; k < LINES; k++)
        forget_line(&all->shared[k].line);
    for (int k = 0; k < CUTS; k++)
        if (all->cuts[k]) {
            forget(all->cuts[k]);
            free(all->cuts[k]);
        }
}
