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

/* Step in nats of the mass that is left out: questions whose log delta differs by less mostly share a cut. */
#define QUANTUM 4.0
/* Ends are multiples of 1/GRID of a standard deviation, so that nodes are exact. */
#define GRID 64
/* The share of the saddle's tilt that serves where the noise is not cut. */
#define SHARE 0.65
/* Most nats by which the sum may exceed delta more there than at the saddle: rounding errors grow twentyfold. */
#define MOST_LOST 3.0
/* The tilt times the integrand's width, in units of that of a Gaussian loss, from which giant losses have a share. */
#define JUMPY 1.9

/* To remove, where giant losses are those of large noise and one factor alone has a phase. */
static bool can_be_cut(const Loss *loss)
{
    return loss->density > 0.0 && loss->left == 0.0 && !isfinite(loss->end);
}

/* Whether giant losses have a share at a place. */
bool jumps(const Composition *all, Saddle place)
{
    bool rare = false;
    for (int k = 0; k < all->kinds && !rare; k++)
        rare = all->steps[k].loss.density > 0.0;
    double gaussian = sqrt(1.0 - 2.0 * fmin(log_delta_near(place, saddle_epsilon(place)), 0.0));
    return rare && place.tilt * saddle_width(place) > JUMPY * gaussian;
}

/* log of a bound of T P(x > end), P the first law. */
static double log_beyond(const Steps *steps, double end)
{
    const Loss *loss = &steps->loss;
    double logs[MOST_COMPONENTS] = {log1p(-loss->rate) + upper_log_tail(end), log(loss->rate) + upper_log_tail(end - loss->shift)};
    int size = loss->mixture ? loss->mixture->size : 2;
    for (int k = 0; loss->mixture && k < size; k++) {
        double beyond = end - loss->mixture->shift[k];
        logs[k] = loss->mixture->log_weight[k] + (beyond > 0.0 ? upper_log_tail(beyond) : 0.0);
    }
    double found = log(steps->count) + log_sum(logs, size);
    return found + 1e-12 * (1.0 + fabs(found));
}

/* The least end beyond which steps hold e^wanted at most; infinite where there is none that the proof allows. */
static double end_for(const Steps *steps, double wanted)
{
    const Loss *loss = &steps->loss;
    double least = loss->mixture ? 0.0 : loss->shift; /* of two components both tails are bounded beyond their means */
    int low = (int)fmin(ceil(GRID * (least + 1.0)), GRID * FARTHEST), high = GRID * FARTHEST;
    if (!(log_beyond(steps, FARTHEST) <= wanted))
        return INFINITY;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (log_beyond(steps, (double)middle / GRID) <= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    double end = (double)high / GRID;
    return end >= least && upper_turn(loss, response(loss, end)) <= 0.5 ? end : INFINITY;
}

/* A copy with the noise of its steps cut where all of them hold about e^wanted. */
static Status make_cut(const Composition *all, double wanted, int cuttable, Composition *cut)
{
    Status status = make(cut, all->kinds, all->laplace_kinds);
    if (status != DONE)
        return status;
    cut->square = all->square;
    cut->wanted = wanted;
    double total = 0.0;
    for (int k = 0; k < all->kinds; k++) {
        Steps *steps = &cut->steps[k];
        *steps = all->steps[k];
        double end = can_be_cut(&steps->loss) ? end_for(steps, wanted - log(cuttable)) : INFINITY;
        if (isfinite(end)) {
            total += exp(log_beyond(steps, end) - wanted);
            steps->loss.end = end;
            cut->cut = true;
        }
    }
    for (int k = 0; k < all->laplace_kinds; k++)
        cut->laplace[k] = all->laplace[k];
    cut->log_leak = wanted + log(total * (1.0 + 1e-9) + 1e-300);
    cut->supremum = all->supremum;
    return cut->cut && isfinite(cut->log_leak) ? DONE : NO_TILT;
}

/* The composition with its noise cut where it holds about a hundredth of GOOD_WIDTH of a delta. */
Status cut_for(Composition *all, double log_delta, Composition **cut)
{
    int cuttable = 0;
    double wanted = QUANTUM * floor((log_delta + log(0.01 * GOOD_WIDTH)) / QUANTUM);
    for (int k = 0; k < all->kinds; k++)
        cuttable += can_be_cut(&all->steps[k].loss);
    if (all->cut || !cuttable || !isfinite(wanted))
        return NO_TILT;
    for (int k = 0; k < (KEPT / 4); k++)
        if (all->cuts[k] && all->cuts[k]->wanted == wanted) {
            *cut = all->cuts[k];
            (*cut)->watch = all->watch;
            return DONE;
        }
    Composition *made = calloc(1, sizeof *made);
    if (!made)
        return NO_MEMORY;
    Status status = make_cut(all, wanted, cuttable, made);
    if (status != DONE) {
        forget(made);
        free(made);
        return status;
    }
    Composition **kept = &all->cuts[all->next_cut];
    all->next_cut = (all->next_cut + 1) % (KEPT / 4);
    if (*kept)
        forget(*kept);
    free(*kept);
    *cut = *kept = made;
    made->watch = all->watch;
    return DONE;
}

/* A tilt at which the masses of several giant losses fall fast with their number, or else the saddle's. */
static double lower_tilt(const Composition *all, Survey *survey, Saddle saddle)
{
    Saddle lower = place_at(all, survey, SHARE * saddle.tilt);
    double lost = lower.cumulant - saddle.cumulant + (saddle.tilt - lower.tilt) * saddle_epsilon(saddle);
    return lost <= MOST_LOST ? lower.tilt : saddle.tilt;
}

/* The tilt of a line for a saddle, itself or lower. Of cut noise so that what the ends add is small beside delta; of
 * noise that is not, where giant losses have a share, for a shorter period. */
double line_tilt(const Composition *all, Survey *survey, Saddle saddle)
{
    double less = 0.0;
    if (!all->cut)
        return jumps(all, saddle) ? lower_tilt(all, survey, saddle) : saddle.tilt;
    for (int k = 0; k < all->kinds; k++) {
        const Rule *rule = &survey->quadratures[k].rule;
        if (!isfinite(rule->log_end))
            continue;
        double log_share = rule->log_end + (1.0 + saddle.tilt) * rule->ratio_end;
        log_share += log(all->steps[k].count) - step_cumulant(survey, k, saddle.tilt);
        less = fmax(less, fmax(log_share + NATS, 0.0) / rule->ratio_end);
    }
    return saddle.tilt - fmin(less, 0.5 * saddle.tilt);
}

/* An upper bound of log delta of what the transform sees, with what it leaves out. */
double with_leak(const Composition *all, double upper)
{
    if (!all->cut)
        return upper;
    double larger = fmax(upper, all->log_leak), less = fabs(upper - all->log_leak);
    return fmin(larger + log1p(exp(-less)) + 4 * UNIT * (1.0 + fabs(larger)), 0.0);
}
