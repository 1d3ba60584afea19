/* Rare giant losses left out: steps with noise beyond an end x_b that hardly matters (A2, "Hard cut", "Cut midway").
 *
 * Where they rule the transform, its period must hold them, and nodes of the noise follow their phase. With what is left
 * out charged to the upper end the law is as tame as any other. */
#include "cut.h"
#include "composition.h"
#include "loss.h"
#include "saddle.h"
#include "survey.h"

#include <stdlib.h>

/* What is left out is e^-LEAK of delta at most, in steps of so many nats that neighbours share it. */
#define LEAK 22.0
#define QUANTUM 4.0
/* Ends are multiples of this, so that nodes are exact. */
#define GRID 64
#define FARTHEST 60
/* T steps err by e^-END_NATS at the end, if the tilt need not be lower than this share of the saddle's. */
#define END_NATS 25.0
#define LEAST_SHARE 0.5
/* The share of the saddle's tilt that serves where the noise is not cut, and by how many nats the sum may then exceed
 * delta more than at the saddle. */
#define SHARE 0.65
#define MOST_LOST 3.0
/* lambda times the integrand's width, in units of that of a Gaussian loss, from which giant losses have a share. */
#define JUMPY 1.9

/* Whether giant losses have a share at a place. */
bool jumps(const Composition *all, Saddle place)
{
    double gaussian = sqrt(1.0 - 2.0 * fmin(log_delta_near(place, saddle_epsilon(place)), 0.0));
    return all->loss.density > 0.0 && place.tilt * saddle_width(place) > JUMPY * gaussian;
}

/* To remove, where giant losses are those of large noise and one factor alone has a phase. */
static bool can_be_cut(const Composition *all)
{
    return all->loss.density > 0.0 && all->loss.left == 0.0 && !is_cut(all);
}

/* log of a bound of T P(x > end), P the first law. */
static double log_beyond(const Composition *all, double end)
{
    const Loss *loss = &all->loss;
    double logs[2] = {log1p(-loss->rate) + upper_log_tail(end), log(loss->rate) + upper_log_tail(end - loss->shift)};
    double found = log(all->count) + log_sum(logs, 2);
    return found + 1e-12 * (1.0 + fabs(found));
}

/* The composition with its noise cut where it holds about e^-LEAK of a delta. */
Status cut_for(Composition *all, double log_delta, Composition **found)
{
    if (!can_be_cut(all))
        return NO_TILT;
    double wanted = QUANTUM * floor((log_delta - LEAK) / QUANTUM);
    if (!isfinite(wanted))
        return NO_TILT;
    for (int k = 0; k < CUTS; k++)
        if (all->cuts[k] && all->cuts[k]->wanted == wanted) {
            *found = all->cuts[k];
            return FOUND;
        }
    int low = (int)fmin(ceil(GRID * (all->loss.shift + 1.0)), GRID * FARTHEST), high = GRID * FARTHEST;
    if (log_beyond(all, FARTHEST) > wanted)
        return NO_TILT;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (log_beyond(all, (double)middle / GRID) <= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    double end = (double)high / GRID;
    if (!(end >= all->loss.shift && response(&all->loss, end) <= 0.5))
        return NO_TILT;
    Composition *made = calloc(1, sizeof *made);
    if (!made)
        return NO_MEMORY;
    made->loss = all->loss;
    made->loss.end = end;
    made->count = all->count;
    made->supremum = all->supremum;
    made->wanted = wanted;
    made->log_leak = log_beyond(all, end);
    Composition **place = &all->cuts[all->next_cut];
    all->next_cut = (all->next_cut + 1) % CUTS;
    if (*place)
        forget(*place);
    free(*place);
    *found = *place = made;
    return FOUND;
}

/* A tilt at which the masses of several giant losses fall fast with their number, or else the saddle's. */
static double shorter(const Composition *all, Survey *survey, Saddle saddle)
{
    Saddle lower = place_at(all, survey, SHARE * saddle.tilt);
    double lost = lower.cumulant - saddle.cumulant + (saddle.tilt - lower.tilt) * saddle_epsilon(saddle);
    return lost <= MOST_LOST ? lower.tilt : saddle.tilt;
}

/* The tilt at which to lay a line for a saddle, itself or lower. Of cut noise so that what the end adds is small beside
 * delta; of noise that is not, where giant losses have a share, for a shorter period. */
double aside(const Composition *all, Survey *survey, Saddle saddle)
{
    const Rule *rule = &survey->rule;
    if (!is_cut(all))
        return jumps(all, saddle) ? shorter(all, survey, saddle) : saddle.tilt;
    double log_moment = saddle.cumulant / all->count;
    double log_share = log(all->count) + rule->log_end + (1.0 + saddle.tilt) * rule->ratio_end - log_moment;
    double lower = fmax(log_share + END_NATS, 0.0) / rule->ratio_end;
    return saddle.tilt - fmin(lower, (1.0 - LEAST_SHARE) * saddle.tilt);
}

/* An upper bound of log delta of what the transform sees, with what it leaves out. */
double with_leak(const Composition *all, double upper)
{
    if (!is_cut(all))
        return upper;
    double larger = fmax(upper, all->log_leak), less = fabs(upper - all->log_leak);
    return fmin(larger + log1p(exp(-less)) + 4 * UNIT * (1.0 + fabs(larger)), 0.0);
}
