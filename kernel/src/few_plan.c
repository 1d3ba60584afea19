/* The tilt, the period, the weights and the last frequency of a line for a short run of rare steps (A9). */
#include "few_plan.h"
#include "chernoff.h"
#include "loss.h"

/* Log of the error by rounding with which no longer line is sought: a part in 10^6. */
static double log_rough(void)
{
    return log(0.01 * WIDEST);
}

double cell(int k)
{
    return FIRST_CELL + CELL * k;
}

/* Return log of a bound of phi r^(1 + l) on a cell: as log r is convex, the larger end and CELL^2/8 bound the logarithm. */
static double log_cell(const Cells *cells, int k, double tilt)
{
    double here = cells->log_first[k] + tilt * cells->ratio[k];
    double next = cells->log_first[k + 1] + tilt * cells->ratio[k + 1];
    return fmax(here, next) + (CELL * CELL / 8.0 + 1e-9);
}

void set_few_cells(const Steps *steps, Cells *cells)
{
    cells->loss = &steps->loss;
    cells->count = steps->count;
    for (int k = 0; k <= CELLS; k++) {
        cells->ratio[k] = log_ratio(&steps->loss, cell(k));
        cells->response[k] = response(&steps->loss, cell(k));
        cells->log_first[k] = cells->ratio[k] - 0.5 * cell(k) * cell(k) - LOG_SQRT_2PI;
    }
    for (int k = 0; k < CELLS; k++)
        cells->mass[k] = CELL * exp(log_cell(cells, k, 0.0));
    cells->mass[CELLS] = exp(cells->log_first[CELLS]); /* and all beyond */
}

/* Set sinh of the arguments of both weights, and what is kept on the axis. */
void set_few_weights(const Plan *plan, Cells *cells)
{
    for (int k = 0; k <= CELLS; k++) {
        cells->far_steep[k] = sinh((cell(k) - plan->far.centre) / plan->far.scale);
        cells->log_kept[k] = fmin(-cells->far_steep[k] * (1.0 - 1e-9), 0.0);
        if (plan->large.scale > 0.0)
            cells->large_steep[k] = sinh((cell(k) - plan->large.centre) / plan->large.scale);
    }
}

/* Return log of what a weight may grow by up to Im zeta = 1, as |1 + e^-sinh(zeta)| >= 1 - e^-u (A9). */
double weight_growth(void)
{
    double sine = sin(1.0), u = cos(1.0) * sqrt(PI * PI / (4.0 * sine * sine) - 1.0);
    return -log(-expm1(-u)) + 1e-9;
}

/* Return log of a bound of a weight, w or 1 - v, at a height above or below where sinh is given: it falls as sinh does. */
double log_weight(double steep, double scale, double height)
{
    double fallen = fmin(steep, 0.0) * (1.0 - 1e-9);
    return height > 0.0 ? weight_growth() + cos(height / scale) * fallen : fallen;
}

/* Return log of a bound of M(l), l >= 0, of the noise before a cell, or of what is kept of all noise: 1 and what exceeds it. */
static double log_moment_before(const Cells *cells, int end, double tilt)
{
    bool all = end == CELLS;
    double last = cells->log_first[CELLS] + tilt * cells->ratio[CELLS] + cells->log_kept[CELLS];
    double more = 1e-50 + (all ? exp(fmin(last, LARGEST)) : 0.0); /* beyond the cells, see `falls_beyond` */
    if (all && last > LARGEST)
        return INFINITY;
    for (int k = end - 1; k >= 0 && cells->ratio[k + 1] > 0.0; k--) {
        double grown = tilt * cells->ratio[k + 1], log_kept = all ? cells->log_kept[k] : 0.0;
        if (grown + log_kept > LARGEST)
            return INFINITY;
        if (grown + log_kept > -LARGEST)
            more += cells->mass[k] * (grown < LARGEST ? exp(log_kept) * expm1(grown) : exp(grown + log_kept));
    }
    return more < 1e200 ? log1p(more) * (1.0 + 1e-9) : INFINITY;
}

/* The same of all noise. */
double log_moment(const Cells *cells, double tilt)
{
    return log_moment_before(cells, CELLS, tilt);
}

/* Whether the tilted density of what is kept falls by a nat and more per standard deviation beyond the cells. */
static bool falls_beyond(const Plan *plan, const Loss *loss, double tilt)
{
    double zeta = (cell(CELLS) - plan->far.centre) / plan->far.scale;
    return zeta > 6.0 && (1.0 + tilt) * loss->shift + 1.0 <= cell(CELLS) + 0.5 * cosh(fmin(zeta, LARGEST)) / plan->far.scale;
}

/* Return log C(mu) + T log M(mu), bounded. */
static double log_chernoff(const Cells *cells, int end, double tilt)
{
    double value = cells->count * log_moment_before(cells, end, tilt) + log_chernoff_factor(tilt);
    return value + 1e-9 * (1.0 + fabs(value));
}

/* Return log of a bound of T times the mass of noise in cells from `first` on, times a weight at their other end or beginning. */
static double log_mass(const Cells *cells, Weight weight, int first, int side)
{
    double total = cells->mass[CELLS] + (side > 0 ? 1e-17 * exp(fmin(sinh((FIRST_CELL - weight.centre) / weight.scale), 0.0)) : 0.0);
    for (int k = CELLS - 1; k >= first; k--) {
        double steep = side * sinh((cell(side > 0 ? k + 1 : k) - weight.centre) / weight.scale);
        if (cells->mass[k] > 0.0 && steep > -LARGEST)
            total += cells->mass[k] * exp(log_weight(steep, weight.scale, 0.0));
        else if (side > 0 && steep <= -LARGEST)
            break;
    }
    total += CELLS * exp(-LARGEST);
    return log(total) + log(cells->count) + 1e-9;
}

/* Leave out far noise, all of which holds e^log_small. */
static bool set_far(Cells *cells, double scale, double log_small, Plan *plan)
{
    double low = 0.0, high = 32.0;
    plan->far = (Weight){high, scale};
    while (high - low > 2.0 * CELL) {
        plan->far.centre = 0.5 * (low + high);
        if (log_mass(cells, plan->far, 0, 1) <= log_small)
            high = plan->far.centre;
        else
            low = plan->far.centre;
    }
    plan->far.centre = high;
    plan->few.log_leak = log_mass(cells, plan->far, 0, 1);
    return plan->few.log_leak <= log_small;
}

/* Set the shortest period for a tilt, and the tilt whose Chernoff bound it is for. */
static bool set_period(const Cells *cells, double tilt, double epsilon, double log_small, Plan *plan)
{
    double unit = 1.0 / log_ratio(cells->loss, plan->far.centre);
    plan->tilt = tilt;
    plan->period = INFINITY;
    for (int k = -1; k < 5; k++) {
        double above = tilt + ldexp(unit, k), log_bound = log_chernoff(cells, CELLS, above);
        double period = (log_bound - above * epsilon - log_small) / (above - tilt);
        if (period < plan->period && falls_beyond(plan, cells->loss, above)) {
            plan->period = period;
            plan->few.above = above;
            plan->few.log_above = log_bound;
        }
    }
    plan->period = fmax(plan->period, 1.02 * epsilon - cells->count * log1p(-cells->loss->rate));
    return isfinite(plan->period);
}

/* Find the noise up to which all steps together do not reach epsilon, but for a probability that is small: the last such
 * cell's beginning, or 0. */
static int small_end(const Cells *cells, double epsilon, double log_small, Few *few)
{
    int low = 0, high = CELLS;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        double best = INFINITY, tilt = 0.0, log_best = INFINITY;
        for (int k = -1; k < 12; k++) {
            double trial = ldexp(1.0, k) / epsilon, log_bound = log_chernoff(cells, middle, trial);
            if (log_bound - trial * epsilon < best) {
                best = log_bound - trial * epsilon;
                log_best = log_bound;
                tilt = trial;
            }
        }
        if (best <= log_small) {
            low = middle;
            few->small_tilt = tilt;
            few->log_small = log_best;
        } else
            high = middle;
    }
    return low;
}

/* Set bounds of the integral of |phi r^(1 + l) w (1 - v)| over each cell, the weights at a height and all else on the axis. */
static void set_shares(const Plan *plan, double tilt, double height, Cells *cells)
{
    for (int k = 0; k < CELLS; k++) {
        double weight = log_weight(-cells->far_steep[k], plan->far.scale, height);
        if (plan->large.scale > 0.0)
            weight += log_weight(cells->large_steep[k + 1], plan->large.scale, height);
        cells->log_share[k] = log_cell(cells, k, tilt) + weight;
    }
}

/* Return log of a bound of the transform of large losses at a height: the sum of the shares, each times e^(-t theta), and what
 * lies outside the cells; before them r <= 1. */
static double log_turned(const Plan *plan, const Cells *cells, double height, double frequency)
{
    double top = -INFINITY, total = 0.0;
    for (int k = 0; k < CELLS; k++)
        top = fmax(top, cells->log_share[k] - frequency * cells->turn[k]);
    for (int k = 0; k < CELLS; k++) {
        double below = cells->log_share[k] - frequency * cells->turn[k] - top;
        total += below > -NEGLIGIBLE ? exp(below) : 0.0;
    }
    total = (total + CELLS * exp(-NEGLIGIBLE)) * CELL;
    double before = upper_log_tail(-FIRST_CELL) + weight_growth();
    if (plan->large.scale > 0.0)
        before += log_weight(cells->large_steep[0], plan->large.scale, height);
    double logs[3] = {top + log(total), before, cells->log_share[CELLS - 1]};
    return log_sum(logs, 3) + 0.5 * height * height + 1e-9;
}

/* Return the highest line of the noise. */
double highest(const Plan *plan, const Loss *loss)
{
    double most = fmin(fmin(STEEPEST / loss->shift, 3.0), plan->far.scale);
    return plan->large.scale > 0.0 ? fmin(most, plan->large.scale) : most;
}

static void set_turns(Cells *cells, double height)
{
    double angle = cells->loss->shift * height, sine = sin(angle), half = sin(0.5 * angle);
    for (int k = 0; k < CELLS; k++) {
        double p = cells->response[k];
        cells->turn[k] = atan2(p * sine, 1.0 - 2.0 * p * half * half) * (1.0 - 1e-9);
    }
}

/* Return log of what bounds the integral of |phi r^(1 + l) w (1 - v)| at a height, and that on the axis; set its shares. */
double log_integral(const Plan *plan, Cells *cells, double tilt, double height)
{
    set_shares(plan, tilt, height, cells);
    return log_turned(plan, cells, height, 0.0);
}

/* Return log of a bound of the sum beyond a frequency, in units of e^(-l epsilon). */
static double log_beyond(const Plan *plan, const Cells *cells, double log_m, double height, double t)
{
    double count = cells->count, log_bound = log_turned(plan, cells, height, t);
    double log_power = plan->large.scale > 0.0 ? log(count) + (count - 1.0) * log_m + log_bound : count * log_bound;
    return log_power + log(atan2(plan->tilt, t) / (PI * plan->tilt)) + 1e-9;
}

/* Set the last frequency and what lies beyond it; INFINITY if it is too far. */
static void set_last(Cells *cells, double log_small, double epsilon, Plan *plan)
{
    double spacing = 2.0 * PI / plan->period, wanted = log_small + plan->tilt * epsilon;
    double log_m = log_moment(cells, plan->tilt), height = highest(plan, cells->loss);
    double low = spacing, high = spacing * (MOST_NODES - 2);
    set_shares(plan, plan->tilt, height, cells);
    set_turns(cells, height);
    plan->last = INFINITY;
    plan->log_truncation = log_beyond(plan, cells, log_m, height, high);
    if (!(plan->log_truncation <= wanted))
        return;
    while (high > 1.1 * low) {
        double middle = sqrt(low * high), there = log_beyond(plan, cells, log_m, height, middle);
        if (there <= wanted) {
            high = middle;
            plan->log_truncation = there;
        } else
            low = middle;
    }
    plan->last = high;
}

/* Return log of about what rounding moves delta by, relatively: the line's terms are of the order T C M^(T-1), or M^T. */
static double log_rounding(const Plan *plan, Cells *cells, double epsilon, double log_once)
{
    double log_m = log_moment(cells, plan->tilt), value = cells->count * log_m;
    if (plan->large.scale > 0.0)
        value += log(cells->count) - log_m + log_integral(plan, cells, plan->tilt, 0.0);
    return value - QUADRATURE_NATS - plan->tilt * epsilon - log_once - log(fmin(plan->tilt * plan->period, 1.0));
}

/* Return about the work that a plan takes: frequencies times nodes of the noise. */
static double work_of(const Plan *plan, const Loss *loss)
{
    return plan->last * plan->period / highest(plan, loss);
}

/* Take over a plan if it is the better one: exact enough with less work, or else less rough. */
static void keep_plan(const Loss *loss, const Plan *trial, double rounding, Plan *best, double *least)
{
    if (!(trial->last < INFINITY))
        return;
    bool rough = fmax(rounding, *least) > log_rough();
    if (*least < INFINITY && (rough ? rounding >= *least : work_of(trial, loss) >= work_of(best, loss)))
        return;
    *best = *trial;
    *least = rounding;
}

/* Periods of a ladder of tilts. */
typedef struct {
    Plan rungs[RUNGS];
    int size;
} Ladder;

static void set_ladder(const Cells *cells, double epsilon, double log_small, const Plan *base, Ladder *ladder)
{
    double tilt = 40.0 / epsilon;
    ladder->size = 0;
    for (int k = 0; k < RUNGS; k++, tilt *= 0.5) {
        ladder->rungs[ladder->size] = *base;
        if (set_period(cells, tilt, epsilon, log_small, &ladder->rungs[ladder->size]))
            ladder->size++;
    }
}

/* Choose a tilt: of those with which rounding is fine the one with the shortest period, or else the one with the least rounding. */
static double set_tilt(Cells *cells, const Ladder *ladder, double epsilon, double log_once, Plan *plan)
{
    double least = INFINITY;
    for (int k = 0; k < ladder->size; k++) {
        Plan trial = *plan;
        const Plan *rung = &ladder->rungs[k];
        trial.tilt = rung->tilt;
        trial.period = rung->period;
        trial.few.above = rung->few.above;
        trial.few.log_above = rung->few.log_above;
        double rounding = fmax(log_rounding(&trial, cells, epsilon, log_once), log_rough());
        if (rounding < least || (rounding == least && trial.period < 0.85 * plan->period)) {
            least = rounding;
            *plan = trial;
        }
    }
    return least;
}

/* Divide losses from about a cell on by a weight, the highest with which the small losses beyond it are rare enough. */
static void set_large(Cells *cells, int end, double scale, double log_small, Plan *plan)
{
    plan->large = (Weight){cell(end) - 2.5 * scale, scale};
    while ((plan->few.log_tail = log_mass(cells, plan->large, end, -1)) > log_small && plan->large.centre > FIRST_CELL)
        plan->large.centre -= 2.0 * CELL;
    set_few_weights(plan, cells);
}

/* Choose weights, tilt, period and last frequency, with errors of about so many nats below delta, of which T times the profile
 * of one step is an estimate. Losses are not divided (the scale 0), or divided by a narrow or a wide weight. */
Status make_plan(Cells *cells, double epsilon, double log_once, double nats, Plan *plan)
{
    static const double FAR[] = {0.2, 0.5}, LARGE[] = {0.0, 0.15, 0.3};
    double log_small = log_once - nats, least = INFINITY;
    Few few = {0};
    Ladder ladder;
    int end = small_end(cells, epsilon, log_small, &few);
    for (int i = 0; i < 2; i++) {
        Plan base = {.few = few};
        if (!set_far(cells, FAR[i] / cells->loss->shift, log_small, &base))
            continue;
        set_few_weights(&base, cells);
        set_ladder(cells, epsilon, log_small, &base, &ladder);
        for (int k = 0; k < (end > 0 ? 3 : 1); k++) {
            Plan trial = base;
            if (LARGE[k] > 0.0)
                set_large(cells, end, LARGE[k], log_small, &trial);
            double rounding = set_tilt(cells, &ladder, epsilon, log_once, &trial);
            if (!(rounding < INFINITY))
                continue;
            set_last(cells, log_small, epsilon, &trial);
            keep_plan(cells->loss, &trial, rounding, plan, &least);
        }
    }
    return least < INFINITY ? DONE : NO_DECAY;
}
