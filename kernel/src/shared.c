/* Lines at tilts of a grid, which neighbouring questions share; what was asked before changes no answer. */
#include "shared.h"
#include "composition.h"
#include "cut.h"
#include "profile.h"
#include "saddle.h"
#include "survey.h"

#include <string.h>


static Status line_at(Composition *all, double tilt, const Line **line)
{
    for (int k = 0; k < KEPT; k++)
        if (all->shared[k].tilt == tilt) {
            *line = &all->shared[k].line;
            return all->shared[k].status;
        }
    Shared *fresh = &all->shared[all->next_shared];
    all->next_shared = (all->next_shared + 1) % KEPT;
    forget_line(&fresh->line);
    memset(fresh, 0, sizeof *fresh);
    Survey *survey;
    Status status = survey_for(all, tilt, &survey);
    if (status == DONE) {
        Located at = {place_at(all, survey, tilt), survey->reach};
        double used = line_tilt(all, survey, at.saddle);
        status = build(all, at, used, saddle_epsilon(at.saddle), REACH, &fresh->line);
    }
    if (!ends_all(status)) {
        fresh->tilt = tilt;
        fresh->status = status;
    }
    *line = &fresh->line;
    return status;
}

/* Whether a line at a tilt would serve an epsilon. */
static bool serves(Composition *all, double tilt, double epsilon)
{
    Survey *survey;
    if (survey_for(all, tilt, &survey) != DONE)
        return false;
    Saddle place = place_at(all, survey, tilt);
    return fabs(saddle_epsilon(place) - epsilon) <= REACH * saddle_width(place);
}

/* A line laid at the tilt of a grid that is nearest to the place's. Where giant losses begin to rule, a little lower tilt
 * may need far fewer nodes: if there are too many at the nearest, or no end of them, the next below are tried. */
Status shared_line(Composition *all, Saddle place, const Line **line)
{
    double bits = ceil(log2(0.7 * place.tilt * saddle_width(place)));
    if (isnan(bits))
        return NO_TILT;
    int shift = (int)fmin(fmax(bits, 2.0), 40.0);
    double exponent = nearbyint(ldexp(log2(place.tilt), shift));
    Status status = BEYOND_BUDGET;
    for (int lower = 0; lower <= 2 && (status == BEYOND_BUDGET || status == NO_DECAY); lower++) {
        double tilt = exp2(ldexp(exponent - lower, -shift));
        if (lower && !serves(all, tilt, saddle_epsilon(place)))
            break;
        status = line_at(all, tilt, line);
    }
    return status;
}
