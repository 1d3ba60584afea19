/* One step of a Gaussian mechanism on a batch drawn without replacement, for replace-one (certificate, A8).
 *
 * With x = u + d/2 and r(u) = 1 - q + q e^(du), u > 0, the loss is log r with the density phi(x) r, -log r with phi(x),
 * and 0 with the mass a = (1 - q) erf(d/sqrt 8) that is left. Of a mixture d is drawn, and public: the nodes of its
 * components are those of one law (A10). */
#include "drawn.h"
#include "loss.h"
#include "weigh.h"

/* A node: log r, and log of step g'(v) phi(x), with bounds of their errors, of the first relative (A8, "Floating point").
 */
typedef struct {
    double ratio, ratio_error, log_density, density_error;
} Node;

/* Return the number of components. */
int drawn_components(const Loss *loss)
{
    return loss->mixture ? loss->mixture->size : 1;
}

/* Return the loss of a component. */
Loss drawn_component(const Loss *loss, int k)
{
    Loss one = *loss;
    one.mixture = NULL;
    one.shift = loss->mixture ? loss->mixture->shift[k] : loss->shift;
    return one;
}

/* Return the rule of a component. */
const Rule *drawn_part(const Rule *rule, int k)
{
    return rule->parts ? &rule->parts[k] : rule;
}

/* Return log r(u) >= 0, a sum of positive terms (A8, "Floating point"). */
double drawn_log_ratio(const Loss *loss, double u)
{
    double y = loss->shift * u, q = loss->rate;
    return y > 300.0 ? y + log(q) + log1p((1.0 - q) / q * exp(-y)) : log1p(q * expm1(y));
}

/* Evaluate the node k of a rule: u errs by ten units, x by twelve, and log r moves by (1 + du) of what u does (A8). The
 * density is that of a component of the given weight. */
static Node node_at(const Loss *loss, const Rule *rule, int k, double log_weight_of_it)
{
    double scale = rule->origin, v = rule->step * (double)(rule->first + k) / scale, rest = log1p(exp(-fabs(v)));
    double u = scale * (fmax(v, 0.0) + rest), x = u + 0.5 * loss->shift, y = loss->shift * u;
    double log_weight = log(rule->step) - fmax(-v, 0.0) - rest;
    log_weight += log_weight_of_it;
    Node node = {drawn_log_ratio(loss, u), UNIT * (44.0 + 24.0 * y), log_weight - 0.5 * x * x - LOG_SQRT_2PI, 0.0};
    node.density_error = UNIT * (24.0 * x * x + 4.0 * fabs(log_weight) + 4.0 * fabs(node.log_density) + 48.0);
    node.density_error += 8 * UNIT * fabs(log_weight_of_it);
    return node;
}

/* Return the number of nodes of a rule. */
static int nodes_of(const Rule *rule)
{
    return (rule->size - 1) / 2;
}

/* The nodes of all components, one after the other. */
typedef struct {
    const Loss *loss;
    const Rule *rule;
    Loss one;
    int component, place;
} Walk;

static Walk walk_over(const Loss *loss, const Rule *rule)
{
    return (Walk){loss, rule, drawn_component(loss, 0), 0, 0};
}

static Node next_node(Walk *at)
{
    if (at->place == nodes_of(drawn_part(at->rule, at->component))) {
        at->one = drawn_component(at->loss, ++at->component);
        at->place = 0;
    }
    double log_weight = at->loss->mixture ? at->loss->mixture->log_weight[at->component] : 0.0;
    return node_at(&at->one, drawn_part(at->rule, at->component), at->place++, log_weight);
}

/* Add the masses of both losses of a node under the first law, and their errors (A8). */
static void add_masses(const Node *node, double *mass, double *moved)
{
    double down = exp(node->log_density), up = exp(node->log_density + node->ratio);
    double error = node->density_error + (node->ratio_error + 4 * UNIT) * node->ratio + 8 * UNIT;
    *mass += up + down;
    *moved += (up + down) * error;
}

/* Return the mass that stands at the loss 0, what the nodes leave of 1, and bound its error (A8, "Ends"). */
static double mass_at_zero(double mass, double moved, int size, double *error)
{
    *error = 1.01 * (moved + summation_error(size) * mass) + 2 * UNIT;
    return fmax(1.0 - mass, UNIT);
}

/* Set log masses and losses of all nodes; `extreme` bounds what the mass at the loss 0 errs by, `largest` is |log q|. */
void set_drawn_quadrature(const Loss *loss, Quadrature *at)
{
    int nodes = nodes_of(&at->rule);
    double mass = 0.0, moved = 0.0;
    Walk walk = walk_over(loss, &at->rule);
    for (int k = 0; k < nodes; k++) {
        Node node = next_node(&walk);
        add_masses(&node, &mass, &moved);
        at->log_first[k] = node.log_density + node.ratio;
        at->loss[k] = node.ratio;
        at->log_first[nodes + k] = node.log_density;
        at->loss[nodes + k] = -node.ratio;
    }
    at->log_first[2 * nodes] = log(mass_at_zero(mass, moved, 2 * nodes, &at->extreme));
    at->loss[2 * nodes] = 0.0;
    at->largest = -log(loss->rate);
}

/* Return an upper bound of T K(l): the plain sum, raised by the errors of rule, masses and losses (A8).
 *
 * With |log_first| >= x^2/2 - log r and du <= log r - log q, the errors of a node follow from what is kept of it. */
double upper_drawn_cumulant(const Steps *steps, const Quadrature *at, double tilt, double *work)
{
    int size = at->rule.size;
    double top = -INFINITY, total = 0.0, moved = 0.0;
    for (int k = 0; k < size; k++) {
        work[k] = at->log_first[k] + tilt * at->loss[k];
        top = fmax(top, work[k]);
    }
    for (int k = 0; k < size; k++) {
        double below = work[k] - top, ratio = fabs(at->loss[k]), term = below > -NEGLIGIBLE ? exp(below) : exp(-NEGLIGIBLE);
        double of_density = 56.0 * (fabs(at->log_first[k]) + ratio) + 64.0;
        double of_loss = (1.0 + tilt) * ratio * (48.0 + 24.0 * (ratio + at->largest));
        total += term;
        moved += term * (of_density + of_loss + 4.0 * fabs(work[k]));
    }
    double relative = 1.01 * (UNIT * moved / total + at->extreme * exp(-top) / total) + summation_error(size);
    double log_moment = top + log(total);
    return steps->count * (log_moment + relative + 1.01 * at->rule.error + 8 * UNIT * (fabs(top) + fabs(log_moment)));
}

/* Set K(l) = log(1 + sum) from logs of the positive terms of M(l) - 1 and their errors, which `deviation` holds (A8). */
static void set_drawn_cumulant(int nodes, Weighing *at)
{
    const double *log_term = at->deviation, *relative = at->deviation + nodes;
    double top = 0.0, sum = 0.0, moved = 0.0;
    for (int k = 0; k < nodes; k++)
        top = fmax(top, log_term[k]);
    for (int k = 0; k < nodes; k++)
        if (log_term[k] > top - LARGEST) {
            double term = exp(log_term[k] - top);
            sum += term;
            moved += term * (relative[k] + 4 * UNIT * fabs(log_term[k]));
        }
    double least = exp(-top);
    moved += summation_error(nodes) * sum + nodes * exp(-LARGEST);
    at->cumulant = top > 0.0 ? top + log(least + sum) : log1p(sum);
    at->cumulant_error = 1.01 * moved / (least + sum) + 4 * UNIT * (fabs(at->cumulant) + top);
}

/* Weigh both losses of every node and the loss 0 under the law tilted by e^(lL), with K and the errors of all (A8, A4). */
void weigh_drawn(const Steps *steps, const Rule *rule, double tilt, Weighing *at)
{
    const Loss *loss = &steps->loss;
    int nodes = nodes_of(rule);
    double mass = 0.0, moved = 0.0, of_zero;
    Walk walk = walk_over(loss, rule);
    for (int k = 0; k < nodes; k++) {
        Node node = next_node(&walk);
        double up = (1.0 + tilt) * node.ratio, down = tilt * node.ratio;
        add_masses(&node, &mass, &moved);
        /* (e^up - 1)(1 - e^-down) = e^up (1 - e^-up)(1 - e^-down) */
        at->deviation[k] = node.log_density + up + log(-expm1(-up)) + log(-expm1(-down));
        at->deviation[nodes + k] = node.density_error + (2.0 + up) * node.ratio_error + UNIT * (4.0 * up + 32.0);
        at->exponent[k] = node.log_density + up;
        at->exponent[nodes + k] = node.log_density - down;
        at->error[k] = node.density_error + up * (node.ratio_error + 4 * UNIT);
        at->error[nodes + k] = node.density_error + down * (node.ratio_error + 4 * UNIT);
        at->loss[k] = node.ratio;
        at->loss[nodes + k] = -node.ratio;
        at->loss_error[k] = at->loss_error[nodes + k] = node.ratio_error * node.ratio;
    }
    set_drawn_cumulant(nodes, at);
    for (int k = 0; k < 2 * nodes; k++) {
        at->error[k] += at->cumulant_error + UNIT * (4.0 * fabs(at->exponent[k]) + fabs(at->cumulant) + 32.0);
        at->weight[k] = exp(at->exponent[k] - at->cumulant);
    }
    double zero = mass_at_zero(mass, moved, 2 * nodes, &of_zero);
    at->weight[2 * nodes] = zero * exp(-at->cumulant);
    at->error[2 * nodes] = of_zero / zero + at->cumulant_error + 32 * UNIT * (1.0 + fabs(at->cumulant));
    at->loss[2 * nodes] = at->loss_error[2 * nodes] = 0.0;
    at->at_ends = 0.0;
}
