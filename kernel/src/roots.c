/* epsilon at delta, certified on both sides, and epsilon at the size of a test (A5). */
#include "roots.h"
#include "composition.h"
#include "cut.h"
#include "few.h"
#include "profile.h"
#include "questions.h"
#include "saddle.h"
#include "shared.h"

/* How much farther than its reach a line may serve other tests: what it loses there shows in the width. */
#define FAR 5.0

/* Newton's iteration from the centre, and whether it ends within reach, or at 0 if delta is given. Where giant losses
 * begin to rule, the sum at the centre may be lost in its error; it is larger to the left. */
static Status newton(const Composition *all, const Line *line, Target target, double reach, double *root, bool *inside)
{
    double least = target.aim == AT_LOG_DELTA ? 0.0 : -INFINITY, centre = line->epsilon;
    double at = fmax(centre, least);
    Estimate here;
    for (int k = 1; k <= 2 && estimate(all, line, target.aim, at, &here) != DONE; k++)
        at = fmax(centre - 0.5 * k * reach, least);
    *inside = true;
    for (int k = 0; k < ITERATIONS; k++) {
        Status status = estimate(all, line, target.aim, at, &here);
        if (status != DONE)
            return status;
        double moved = fmax(at - (here.value - target.wanted) / here.slope, least);
        *root = moved;
        if (!(fabs(moved - centre) <= reach)) {
            *root = fmax(centre + copysign(2.0 * reach, moved - centre), least);
            *inside = false;
            return isfinite(*root) ? DONE : NO_TILT;
        }
        if (fabs(moved - at) <= fmax(1e-7 * reach, 1e-14 * fabs(at)))
            return DONE;
        at = moved;
    }
    return DONE;
}

/* A root of the target on a line that serves it: re-centred while the root lies outside the line's range, and once if
 * the enclosure there is wide. The first line is shared with neighbours, or `own`; one of its own is in `alone`, which
 * the caller forgets. */
static Status find_root(Composition *all, Located at, bool own, Target target, Line *alone, Root *root)
{
    bool refined = own || all->cut, inside;
    double epsilon = saddle_epsilon(at.saddle);
    Status status = DONE;
    for (int k = 0; status == DONE && k < REMAKES; k++) {
        if (own) {
            forget_line(alone);
            status = build(all, at, at.saddle.tilt, epsilon, REACH, alone);
            root->line = alone;
        } else
            status = shared_line(all, at.saddle, &root->line);
        if (status == DONE)
            status = newton(all, root->line, target, root->line->reach, &root->epsilon, &inside);
        if (status != DONE)
            return status;
        own = inside && !all->cut;
        if (inside) {
            status = enclose(all, root->line, root->epsilon, &root->here);
            bool near = fabs(root->epsilon - root->line->epsilon) < 0.05 * root->line->reach;
            if (status != DONE || refined || width_of(root->here) <= enough_of(root->line) || near)
                return status;
            refined = true;
        }
        epsilon = root->epsilon;
        status = locate(all, (Target){AT_EPSILON, epsilon}, &at);
    }
    return status == DONE ? NO_TILT : status;
}

/* The first of root + pad, root + 3 pad, root + 7 pad, ..., kept at or above 0, where log delta is certified to be at
 * most the target less slack, or above the target plus slack for pads below 0. */
static Status first_end(const Composition *all, const Root *root, double pad, double log_delta, double slack,
                        double *end)
{
    double offset = pad;
    for (int k = 0; k < ITERATIONS; k++) {
        Interval here;
        *end = fmax(root->epsilon + offset, 0.0);
        if (pad < 0.0 && *end <= 0.0)
            return DONE;
        Status status = enclose(all, root->line, *end, &here);
        if (status != DONE)
            return status;
        if (pad > 0.0 ? here.upper <= log_delta - slack : here.lower > fmin(log_delta + slack, -1e-300))
            return DONE;
        offset = 2.0 * offset + pad;
    }
    return NOT_POSITIVE;
}

/* The nearest ends around the root that are certified. Where these are far apart for the width of log delta, the root is
 * none, and a quarter of what they take in log delta stands for that width. */
static Status certify(const Composition *all, const Root *root, double log_delta, double slack, Answer *found)
{
    Estimate at;
    Interval *ends = &found->ends;
    Status status = estimate(all, root->line, AT_LOG_DELTA, root->epsilon, &at);
    if (status != DONE)
        return status;
    double off = 0.6 * width_of(root->here) + slack + 8 * UNIT * (1.0 + fabs(log_delta));
    double pad = off / fabs(at.slope) + 4 * UNIT * root->epsilon;
    if (!(pad > 0.0 && isfinite(pad)))
        return NOT_POSITIVE;
    status = first_end(all, root, pad, log_delta, slack, &ends->upper);
    if (status == DONE)
        status = first_end(all, root, -pad, log_delta, slack, &ends->lower);
    found->width = fmax(width_of(root->here), 0.25 * fabs(at.slope) * (ends->upper - ends->lower));
    return status;
}

/* From a place near the root: on shared lines, and where those are not good on lines of its own. */
static Status solve_from(Composition *all, Located at, double log_delta, double slack, Answer *best)
{
    Line alone = {0};
    Target target = {AT_LOG_DELTA, log_delta};
    Status status = DONE;
    for (int own = 0; own < (all->cut ? 1 : 2) && best->width > best->enough && !ends_all(status); own++) {
        Root root = {0};
        Answer found;
        status = find_root(all, at, own, target, &alone, &root);
        if (status == DONE)
            status = certify(all, &root, log_delta, slack, &found);
        if (status == DONE)
            keep_better(best, found.ends, found.width, root.line);
    }
    forget_line(&alone);
    return status;
}

/* On the composition without giant losses. */
static Status solve_cut(Composition *all, double log_delta, double slack, Answer *best)
{
    Composition *cut;
    Located at;
    Status status = cut_for(all, log_delta, &cut);
    if (status == DONE)
        status = locate(cut, (Target){AT_LOG_DELTA, log_delta}, &at);
    if (status == DONE && !(saddle_epsilon(at.saddle) > 0.0))
        status = locate(cut, (Target){AT_EPSILON, 0.0}, &at);
    return status == DONE ? solve_from(cut, at, log_delta, slack, best) : status;
}

/* On lines for short runs of rare steps. */
static Status solve_few(Composition *all, double log_delta, double slack, Answer *best)
{
    Target target = {AT_LOG_DELTA, log_delta};
    const Line *before = NULL;
    Root root = {.epsilon = few_epsilon(all, log_delta)};
    Answer found;
    bool inside = false;
    Status status = root.epsilon > 0.0 ? DONE : NO_TILT;
    for (int k = 0; k < REMAKES && status == DONE; k++) {
        status = few_line(all, root.epsilon, &root.line);
        if (status != DONE || (inside && root.line == before))
            break;
        before = root.line;
        status = newton(all, root.line, target, root.line->reach, &root.epsilon, &inside);
    }
    if (status == DONE)
        status = enclose(all, root.line, root.epsilon, &root.here);
    if (status == DONE)
        status = certify(all, &root, log_delta, slack, &found);
    if (status == DONE)
        keep_better(best, found.ends, found.width, root.line);
    return status;
}

/* The least epsilon >= 0 with log delta at most the target. */
Status solve(Composition *all, double log_delta, double slack, Answer *best)
{
    Located at;
    *best = no_answer();
    Status status = locate(all, (Target){AT_LOG_DELTA, log_delta}, &at);
    if (status != DONE)
        return status;
    if (!(saddle_epsilon(at.saddle) > 0.0)) {
        double least;
        status = bound_at(all, at, 0.0, &least);
        if (status != DONE)
            return status;
        if (least <= log_delta - slack) {
            *best = (Answer){{0.0, 0.0}, 0.0, GOOD_WIDTH};
            return DONE;
        }
        status = locate(all, (Target){AT_EPSILON, 0.0}, &at);
        if (status != DONE)
            return status;
    }
    bool rare = jumps(all, at.saddle);
    bool first = rare && is_few(all);
    if (first)
        status = solve_few(all, log_delta, slack, best);
    if (best->width <= FEW_WIDTH)
        return DONE;
    if (rare && !ends_all(status))
        status = solve_cut(all, log_delta, slack, best);
    Status whole = DONE;
    if (!ends_all(status) && best->width > best->enough)
        status = whole = solve_from(all, at, log_delta, slack, best);
    if (!ends_all(status) && best->width > best->enough && !rare)
        status = solve_cut(all, log_delta, slack, best);
    if (!ends_all(status) && best->width > FEW_WIDTH && !first && is_short(all))
        status = solve_few(all, log_delta, slack, best);
    return end_of(*best, status, whole);
}

/* About the epsilon, of any sign, at which the test S > epsilon has a size under the second law. A line of its own is in
 * `alone`, which the caller forgets. */
Status root_at_size(Composition *all, double log_size, Line *alone, Root *root)
{
    Located at;
    Target target = {AT_LOG_SIZE, log_size};
    Status status = locate(all, target, &at);
    return status == DONE ? find_root(all, at, false, target, alone, root) : status;
}

/* The same on a line that was laid elsewhere, where log delta is still known well. */
Status far_root_at_size(const Composition *all, const Line *line, double log_size, Root *root)
{
    bool inside;
    Target target = {AT_LOG_SIZE, log_size};
    root->line = line;
    Status status = newton(all, line, target, FAR * line->reach, &root->epsilon, &inside);
    if (status == DONE)
        status = inside ? enclose(all, line, root->epsilon, &root->here) : NO_TILT;
    return status == DONE && !(width_of(root->here) <= GOOD_WIDTH) ? NO_TILT : status;
}

static Status threshold_on(Composition *all, double log_size, Threshold *found)
{
    Line alone = {0};
    Root root = {0};
    Status status = root_at_size(all, log_size, &alone, &root);
    if (status == DONE) {
        double width = width_of(root.here);
        if (width < found->width)
            *found = (Threshold){root.epsilon, width, 1.0 + root.line->place.tilt};
    }
    forget_line(&alone);
    return status;
}

Status threshold(Composition *all, double log_size, Threshold *found)
{
    Located at;
    found->width = INFINITY;
    Status status = locate(all, (Target){AT_LOG_SIZE, log_size}, &at);
    if (status != DONE)
        return status;
    if (jumps(all, at.saddle)) {
        Composition *cut;
        status = cut_for(all, log_delta_near(at.saddle, saddle_epsilon(at.saddle)), &cut);
        if (status == DONE)
            status = threshold_on(cut, log_size, found);
    }
    if (!ends_all(status) && found->width > GOOD_WIDTH)
        status = threshold_on(all, log_size, found);
    return found->width < INFINITY && !ends_all(status) ? DONE : status;
}
