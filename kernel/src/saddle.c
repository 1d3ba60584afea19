/* Where to put the line: a tilt near the saddle of F(l) = K(l) - l epsilon - log l - log(1 + l). Nothing is certified.
 *
 * F is convex, its poles keep the tilt above 0, and any tilt > 0 gives true ends; a good one gives few nodes. */
#include "saddle.h"
#include "drawn.h"
#include "survey.h"

/* Tilt up to which the first survey reaches where nothing tells more. */
#define FIRST_REACH 12.0
/* Ratio of the reaches of neighbouring surveys. */
#define GROWTH 4.0
/* A tilt is good enough within this fraction of the integrand's width, in units of 1/width. */
#define CLOSE 0.05

/* The largest tilt of a survey: 1 + l is then still another double than l. */
static double largest_tilt(void)
{
    return 0.1 / UNIT;
}

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

static double value(Target target, Saddle place)
{
    double epsilon = saddle_epsilon(place);
    if (target.aim == AT_EPSILON)
        return epsilon - target.wanted;
    double log_delta = log_delta_near(place, epsilon);
    /* log Q(S > epsilon) is about log delta + log lambda - epsilon. */
    return target.wanted - (target.aim == AT_LOG_DELTA ? log_delta : log_delta + log(place.tilt) - epsilon);
}

static double slope(Target target, Saddle place)
{
    if (target.aim == AT_EPSILON)
        return place.curvature;
    if (target.aim == AT_LOG_DELTA)
        return place.tilt * place.curvature;
    return (1.0 + place.tilt) * place.curvature - 1.0 / place.tilt;
}

/* About the largest tilt that questions are asked at. Small losses have the variance q^2 (e^(s^2) - 1), and giant ones
 * take over at a tilt of about 2 log(1/q)/s^2. 0 where nothing is known, as of cut noise. */
static double usual_tilt(const Composition *all)
{
    double variance = all->square, giant = INFINITY;
    if (all->cut || all->laplace_kinds)
        return 0.0;
    for (int k = 0; k < all->kinds; k++) {
        const Loss *loss = &all->steps[k].loss;
        for (int j = 0; j < (loss->mixture ? loss->mixture->size : 1); j++) {
            double shift = loss->mixture ? loss->mixture->shift[j] : loss->shift, square = shift * shift;
            double rate = !loss->mixture ? loss->rate : loss->mixture->weight[j] * (loss->drawn ? loss->rate : 1.0);
            variance += all->steps[k].count * rate * rate * expm1(fmin(square, 50.0));
            if (loss->right > 0.0 && square > 0.0)
                giant = fmin(giant, -2.5 * log(rate) / square);
        }
    }
    if (variance < 1e-24)
        return 0.0;
    /* Standard deviations behind a delta of one in a million; more where no tilt makes nodes more. */
    return fmin((giant < INFINITY ? 4.8 : 12.0) / sqrt(variance), giant);
}

/* The reach to climb from: where questions are asked, lower where a quadrature for tilts up to there has many nodes.
 * Where all have many, as at large shifts, twice as many are allowed, then four times, up to MOST_NODES. */
static Status first_reach(Composition *all, double *reach)
{
    double components = 0.0;
    for (int k = 0; k < all->kinds; k++)
        components += all->steps[k].loss.drawn ? drawn_components(&all->steps[k].loss) : 1.0;
    double first = FIRST_REACH, usual = fmin(usual_tilt(all), largest_tilt());
    while (!all->first_reach && first < usual)
        first *= 2.0;
    for (int share = 8; !all->first_reach && share > 0; share /= 2)
        for (double rung = first; !all->first_reach && rung > 1e-3 * FIRST_REACH; rung /= GROWTH) {
            Survey *survey;
            Status status = survey_of(all, rung, &survey);
            if (ends_all(status))
                return status;
            if (status == DONE && survey->nodes <= MOST_NODES / share * fmax(components, 1.0))
                all->first_reach = rung;
        }
    if (!all->first_reach)
        all->first_reach = FIRST_REACH;
    *reach = all->first_reach;
    return DONE;
}

/* The lowest survey that reaches beyond a tilt, at most eight times GROWTH as far. */
Status survey_for(Composition *all, double tilt, Survey **survey)
{
    double reach;
    Status status = first_reach(all, &reach);
    if (status != DONE || !(tilt > 0.0 && tilt <= largest_tilt()))
        return status == DONE ? NO_TILT : status;
    while (reach < tilt)
        reach *= GROWTH;
    while (reach / GROWTH > 8.0 * tilt)
        reach /= GROWTH;
    return survey_of(all, reach, survey);
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
    return (Rungs){all, survey, first ? RUNGS : 5, first ? 1.4 : sqrt(2.0)};
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

/* The last rung but one, or one above which the target is met and with whose next below it is not. */
static int bracket(Rungs *ladder, Target target)
{
    int above = 0, below = ladder->count - 1;
    while (below - above > 1) {
        int middle = (above + below) / 2;
        if (value(target, place(ladder, middle)) >= 0.0)
            above = middle;
        else
            below = middle;
    }
    return above;
}

/* Two tilts between which the target crosses zero and a guess; false if it does so above the reach only. */
static bool scan(Rungs *ladder, Target target, double bottom, double *low, double *high, double *tilt)
{
    if (value(target, place(ladder, 0)) < 0.0)
        return false;
    int above, below = ladder->count - 1;
    Saddle last = place(ladder, below);
    if (value(target, last) >= 0.0) {
        *low = bottom;
        *high = last.tilt;
        *tilt = bottom > 0.0 ? sqrt(bottom * last.tilt) : 0.1 * last.tilt;
        return true;
    }
    above = bracket(ladder, target);
    below = above + 1;
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

static Status search(Composition *all, Target target, Located *at)
{
    double bottom = 0.0, reach, low, high, tilt;
    Status status = first_reach(all, &reach);
    while (status == DONE) {
        Survey *survey;
        status = survey_of(all, reach, &survey);
        if (status != DONE)
            return status;
        Rungs ladder = rungs(all, survey);
        if (scan(&ladder, target, bottom, &low, &high, &tilt)) {
            *at = (Located){polish(all, survey, target, low, high, tilt), reach};
            bool usable = at->saddle.curvature > 0.0 && isfinite(at->saddle.curvature) && at->saddle.tilt > 0.0;
            return usable ? DONE : NO_TILT;
        }
        bottom = reach;
        reach *= GROWTH;
        if (reach > largest_tilt())
            return NO_TILT;
    }
    return status;
}

/* Where a target is met. A bound and the ends are asked for at the same epsilon, which is kept. */
Status locate(Composition *all, Target target, Located *at)
{
    if (target.aim == AT_EPSILON && all->located_known && all->located_at == target.wanted) {
        *at = all->located;
        return DONE;
    }
    Status status = search(all, target, at);
    if (target.aim == AT_EPSILON && status == DONE) {
        all->located = *at;
        all->located_at = target.wanted;
        all->located_known = true;
    }
    return status;
}
