/* Where to put the line: saddle.py. Nothing is certified here. */
#include "saddle.h"
#include "composition.h"
#include "survey.h"

#define FIRST_REACH 12.0
#define GROWTH 4.0
#define LEAST_REACH 0.01
#define ROOM 8.0
#define FEW_NODES 2048
#define LARGEST_TILT 1e15
#define ITERATIONS 40
#define CLOSE 0.05
#define DEVIATIONS 4.8
#define MORE_DEVIATIONS 12.0
#define BEYOND 1.25
#define LEAST_VARIANCE 1e-24

/* K' - 1/lambda - 1/(1 + lambda). */
double saddle_epsilon(Saddle place)
{
    return place.mean - 1.0 / place.tilt - 1.0 / (1.0 + place.tilt);
}

double log_delta_near(Saddle place, double epsilon)
{
    double offset = (epsilon - saddle_epsilon(place)) / saddle_width(place);
    double poles = log(place.tilt) + log1p(place.tilt);
    double log_scale = place.cumulant - place.tilt * epsilon;
    return log_scale - poles - 0.5 * log(2.0 * PI * place.curvature) - 0.5 * offset * offset;
}

double log_chernoff_factor(double tilt)
{
    return tilt > 0.0 ? -log1p(tilt) - tilt * log1p(1.0 / tilt) : 0.0;
}

static double value(Target target, Saddle place)
{
    double epsilon = saddle_epsilon(place);
    return target.at_epsilon ? epsilon - target.wanted : target.wanted - log_delta_near(place, epsilon);
}

static double slope(Target target, Saddle place)
{
    return target.at_epsilon ? place.curvature : place.tilt * place.curvature;
}

/* About the largest tilt that questions are asked at: parts.py, `usual_tilt`. Of cut noise nothing is known. */
static double usual_tilt(const Composition *all)
{
    const Loss *loss = &all->loss;
    double square = loss->shift * loss->shift, variance = all->count * loss->rate * loss->rate * expm1(fmin(square, 50.0));
    if (is_cut(all) || variance < LEAST_VARIANCE)
        return 0.0;
    if (loss->right < 0.0)
        return MORE_DEVIATIONS / sqrt(variance);
    return fmin(DEVIATIONS / sqrt(variance), -2.0 * BEYOND * log(loss->rate) / square);
}

/* The rung to climb from: where questions are asked, lower where a quadrature for tilts up to there takes many nodes. */
Status first_reach(Composition *all, double *reach)
{
    double rung = FIRST_REACH, usual = fmin(usual_tilt(all), LARGEST_TILT);
    while (!all->first_reach && rung < usual)
        rung *= 2.0;
    for (; !all->first_reach && rung > LEAST_REACH; rung /= GROWTH) {
        Survey *survey;
        Status status = survey_of(all, rung, &survey);
        if (status == NO_MEMORY)
            return status;
        if (status == FOUND && survey->rule.size <= FEW_NODES)
            all->first_reach = rung;
    }
    if (!all->first_reach)
        all->first_reach = FIRST_REACH;
    *reach = all->first_reach;
    return FOUND;
}

/* The lowest survey that reaches beyond a tilt, not too far beyond a small one. */
Status survey_for(Composition *all, double tilt, Survey **found)
{
    double reach;
    Status status = first_reach(all, &reach);
    if (status != FOUND || !isfinite(tilt))
        return status == FOUND ? NO_TILT : status;
    while (reach < tilt)
        reach *= GROWTH;
    while (reach / GROWTH > ROOM * tilt)
        reach /= GROWTH;
    return survey_of(all, reach, found);
}

/* A ladder's places, falling from the reach, evaluated when they are first asked for. */
typedef struct {
    Composition *all;
    Survey *survey;
    int count;
    double ratio;
} Rungs;

static Rungs rungs(Composition *all, Survey *survey)
{
    bool first = survey->reach == all->first_reach;
    return (Rungs){all, survey, first ? PLACES : 5, first ? 1.4 : sqrt(2.0)};
}

static Saddle place(Rungs *ladder, int k)
{
    Survey *survey = ladder->survey;
    if (!survey->known[k]) {
        survey->places[k] = place_at(ladder->all, survey, survey->reach * pow(ladder->ratio, -k));
        survey->known[k] = true;
    }
    return survey->places[k];
}

/* Cubic interpolation of the tilt's logarithm as a function of the target, linear and away from the ends else. */
static double guess(Saddle above, Saddle below, Target target)
{
    double high = value(target, above), drop = value(target, below) - high;
    double share = -high / drop, span = log(below.tilt / above.tilt), rest = 1.0 - share;
    double first = drop / (slope(target, above) * above.tilt) / span;
    double last = drop / (slope(target, below) * below.tilt) / span;
    double found = share * share * (3.0 - 2.0 * share) + share * rest * (rest * first - share * last);
    if (!(0.0 < found && found < 1.0))
        found = fmin(fmax(share, 0.1), 0.9);
    return above.tilt * exp(found * span);
}

/* Two tilts between which the target crosses zero and a guess; false if it does so above the reach only. */
static bool scan(Rungs *ladder, Target target, double bottom, double *low, double *high, double *tilt)
{
    if (value(target, place(ladder, 0)) < 0.0)
        return false;
    int above = 0, below = ladder->count - 1;
    Saddle last = place(ladder, below);
    if (value(target, last) >= 0.0) {
        *low = bottom;
        *high = last.tilt;
        *tilt = bottom > 0.0 ? sqrt(bottom * last.tilt) : 0.1 * last.tilt;
        return true;
    }
    while (below - above > 1) {
        int middle = (above + below) / 2;
        if (value(target, place(ladder, middle)) >= 0.0)
            above = middle;
        else
            below = middle;
    }
    *low = place(ladder, below).tilt;
    *high = place(ladder, above).tilt;
    *tilt = guess(place(ladder, above), place(ladder, below), target);
    return true;
}

/* Newton inside a shrinking bracket, geometric bisection where it leaves it. */
static Saddle polish(const Composition *all, Survey *survey, Target target, double low, double high, double tilt)
{
    Saddle found = {0};
    for (int k = 0; k < ITERATIONS; k++) {
        found = place_at(all, survey, tilt);
        double off = value(target, found), step = off / slope(target, found);
        if (off < 0.0)
            low = tilt;
        else
            high = tilt;
        if (fabs(step) * saddle_width(found) < CLOSE)
            break;
        tilt -= step;
        if (!(low < tilt && tilt < high))
            tilt = low > 0.0 ? sqrt(low * high) : 0.1 * high;
    }
    return found;
}

static Status searched(Composition *all, Target target, Found *found)
{
    double bottom = 0.0, reach, low, high, tilt;
    Status status = first_reach(all, &reach);
    while (status == FOUND) {
        Survey *survey;
        status = survey_of(all, reach, &survey);
        if (status != FOUND)
            return status;
        Rungs ladder = rungs(all, survey);
        if (scan(&ladder, target, bottom, &low, &high, &tilt)) {
            *found = (Found){polish(all, survey, target, low, high, tilt), reach};
            return found->place.curvature > 0.0 ? FOUND : NO_TILT;
        }
        bottom = reach;
        reach *= GROWTH;
        if (reach > LARGEST_TILT)
            return NO_TILT;
    }
    return status;
}

/* A bound and the ends are asked for at the same epsilon. */
Status find(Composition *all, Target target, Found *found)
{
    if (target.at_epsilon && all->found_known && all->found_at == target.wanted) {
        *found = all->found;
        return FOUND;
    }
    Status status = searched(all, target, found);
    if (target.at_epsilon && status == FOUND) {
        all->found = *found;
        all->found_at = target.wanted;
        all->found_known = true;
    }
    return status;
}

/* A tilt on the lowest ladder with about the least Chernoff bound at an epsilon. */
Status best_rung(Composition *all, double epsilon, Found *found)
{
    double reach;
    Survey *survey;
    Status status = first_reach(all, &reach);
    if (status == FOUND)
        status = survey_of(all, reach, &survey);
    if (status != FOUND)
        return status;
    Rungs ladder = rungs(all, survey);
    Target target = {true, epsilon};
    int above = 0, below = ladder.count - 1;
    while (below - above > 1) {
        int middle = (above + below) / 2;
        if (value(target, place(&ladder, middle)) >= 0.0)
            above = middle;
        else
            below = middle;
    }
    Saddle first = place(&ladder, above), last = place(&ladder, below);
    double of_first = first.cumulant - first.tilt * epsilon + log_chernoff_factor(first.tilt);
    double of_last = last.cumulant - last.tilt * epsilon + log_chernoff_factor(last.tilt);
    *found = (Found){of_first <= of_last ? first : last, reach};
    return FOUND;
}
