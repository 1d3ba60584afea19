/* delta at epsilon, by one way after the other until the ends are close, and a quick bound of it (A5). */
#include "questions.h"
#include "chernoff.h"
#include "composition.h"
#include "cut.h"
#include "few.h"
#include "profile.h"
#include "saddle.h"
#include "shared.h"
#include "survey.h"


double width_of(Interval ends)
{
    return ends.upper == ends.lower ? 0.0 : ends.upper - ends.lower;
}

Answer no_answer(void)
{
    return (Answer){.width = INFINITY, .enough = GOOD_WIDTH};
}

/* The status of a question: DONE with an answer, and without one NO_DECAY if it is the reason for the whole composition,
 * whatever the reason of the ways that were tried later. */
Status end_of(Answer best, Status last, Status whole)
{
    if (ends_all(last))
        return last;
    if (best.width < INFINITY)
        return DONE;
    return whole == NO_DECAY ? NO_DECAY : last;
}

/* The width with which no other line is tried. */
double enough_of(const Line *line)
{
    return line->dear ? WIDEST : GOOD_WIDTH;
}

void keep_better(Answer *best, Interval ends, double width, const Line *line)
{
    if (width < best->width && ends.lower <= ends.upper)
        *best = (Answer){ends, width, enough_of(line)};
}

/* On a line that neighbours share, and where that is not good on one for this epsilon alone: at its saddle, which does
 * not serve cut noise. */
static Status evaluate_at(Composition *all, Located at, double epsilon, Answer *best)
{
    const Line *line;
    Interval ends;
    Status status = shared_line(all, at.saddle, &line);
    if (status == DONE)
        status = enclose(all, line, epsilon, &ends);
    if (status == DONE)
        keep_better(best, ends, width_of(ends), line);
    if (ends_all(status) || all->cut || best->width <= best->enough)
        return status;
    Line alone = {0};
    status = build(all, at, at.saddle.tilt, epsilon, 0.0, &alone);
    if (status == DONE)
        status = enclose(all, &alone, epsilon, &ends);
    if (status == DONE)
        keep_better(best, ends, width_of(ends), &alone);
    forget_line(&alone);
    return status;
}

/* Find the composition without giant losses and its saddle at an epsilon (A2, "Hard cut"). What giant losses hold is
 * chosen by delta, which is estimated on what is left. */
Status locate_cut(Composition *all, Saddle place, double epsilon, Composition **cut, Located *at)
{
    double before = INFINITY; /* What the last cut was asked to leave out: its address may be used again. */
    *at = (Located){place, 0.0};
    for (int k = 0; k < REMAKES; k++) {
        Status status = cut_for(all, log_delta_near(at->saddle, epsilon), cut);
        if (status == DONE && (*cut)->wanted == before)
            break;
        if (status == DONE)
            status = locate(*cut, (Target){AT_EPSILON, epsilon}, at);
        if (status != DONE)
            return status;
        before = (*cut)->wanted;
    }
    return DONE;
}

/* Enclose delta on the composition without giant losses (A2, "Hard cut"). */
static Status evaluate_cut(Composition *all, Saddle place, double epsilon, Answer *best)
{
    Composition *cut = NULL;
    Located at;
    Status status = locate_cut(all, place, epsilon, &cut, &at);
    return status == DONE ? evaluate_at(cut, at, epsilon, best) : status;
}

/* On a line for short runs of rare steps. */
static Status evaluate_few(Composition *all, double epsilon, Answer *best)
{
    const Line *line;
    Interval ends;
    Status status = few_line(all, epsilon, &line);
    if (status == DONE)
        status = enclose(all, line, epsilon, &ends);
    if (status == DONE)
        keep_better(best, ends, width_of(ends), line);
    return status;
}

Status evaluate(Composition *all, double epsilon, Answer *best)
{
    Located at;
    *best = no_answer();
    if (epsilon >= all->supremum) {
        *best = (Answer){{-INFINITY, -INFINITY}, 0.0, GOOD_WIDTH};
        return DONE;
    }
    Status status = locate(all, (Target){AT_EPSILON, epsilon}, &at);
    if (status != DONE)
        return status;
    bool rare = jumps(all, at.saddle);
    bool first = rare && is_few(all) && epsilon > 0.0;
    if (first)
        status = evaluate_few(all, epsilon, best);
    if (best->width <= FEW_WIDTH)
        return DONE;
    if (rare && !ends_all(status))
        status = evaluate_cut(all, at.saddle, epsilon, best);
    Status whole = DONE;
    if (!ends_all(status) && best->width > best->enough)
        status = whole = evaluate_at(all, at, epsilon, best);
    if (!ends_all(status) && best->width > best->enough && !rare)
        status = evaluate_cut(all, at.saddle, epsilon, best);
    if (!ends_all(status) && best->width > FEW_WIDTH && !first && is_short(all) && epsilon > 0.0)
        status = evaluate_few(all, epsilon, best);
    return end_of(*best, status, whole);
}

/* The Chernoff bound of log delta at one tilt. */
Status bound_at(Composition *all, Located at, double epsilon, double *found)
{
    Survey *survey;
    Status status = survey_of(all, at.reach, &survey);
    if (status != DONE)
        return status;
    double cumulant = upper_cumulant(all, survey, at.saddle.tilt), decrease = at.saddle.tilt * epsilon;
    double value = cumulant - decrease + log_chernoff_factor(at.saddle.tilt);
    value += 16 * UNIT * (1.0 + fabs(cumulant) + fabs(decrease) + fabs(value));
    if (isnan(value))
        return NO_TILT;
    *found = fmin(value, 0.0);
    return DONE;
}

/* Lower a bound of log delta to the Chernoff bound without giant losses, which is raised by what they hold (A1; A2, "Hard
 * cut"). Where giant losses rule K, the bound with them is far above delta. */
static Status lower_bound_by_cut(Composition *all, Saddle place, double epsilon, double *least)
{
    Composition *cut = NULL;
    Located at;
    double value;
    Status status = locate_cut(all, place, epsilon, &cut, &at);
    if (status == DONE)
        status = bound_at(cut, at, epsilon, &value);
    if (status == DONE)
        *least = fmin(*least, with_leak(cut, value));
    return status;
}

/* Bound log delta by the Chernoff bound at the saddle, and where giant losses have a share also without them (A1). */
Status bound(Composition *all, double epsilon, double *found)
{
    Located at;
    if (epsilon >= all->supremum) {
        *found = -INFINITY;
        return DONE;
    }
    Status status = locate(all, (Target){AT_EPSILON, epsilon}, &at);
    if (status == DONE)
        status = bound_at(all, at, epsilon, found);
    if (status == DONE && jumps(all, at.saddle)) {
        Status lowered = lower_bound_by_cut(all, at.saddle, epsilon, found);
        return ends_all(lowered) ? lowered : DONE;
    }
    return status;
}
