// What was run, as a spec of /v1/accounts, for those algorithms whose run is one.

const gaussian = (noise_multiplier) => ({ kind: "gaussian", noise_multiplier });
const repeated = (times, mechanism) => (times > 1 ? { kind: "repeated", times, mechanism } : mechanism);

/** Gaussian noise on batches of a client's own records. */
function batches({ parameters, guarantee }, body) {
  if (body.client_groups || body.participation) return null;
  const { batch_size, noise_multiplier, rounds } = parameters;
  const inner = gaussian(noise_multiplier);
  if (guarantee.sampling === "full") return repeated(rounds, inner);
  const draw = { kind: "subsampled", sampling: guarantee.sampling, mechanism: inner };
  const size = guarantee.sampling === "poisson" ? { rate: batch_size / body.samples_per_client } : { batch_size, population: body.samples_per_client };
  return repeated(rounds, { ...draw, ...size });
}

/** The Gaussian mechanism itself, whichever of its numbers was solved for. */
function plain({ parameters, guarantee }, body) {
  const known = { ...body, ...parameters };
  const inner = gaussian(known.noise_multiplier);
  if (guarantee.sampling === "full") return repeated(known.rounds, inner);
  const size = known.batch_size ? { batch_size: known.batch_size, population: known.population } : { rate: known.rate };
  return repeated(known.rounds, { kind: "subsampled", sampling: guarantee.sampling, ...size, mechanism: inner });
}

/** Clients that take part by chance, each protected as a whole. */
function clients({ parameters, guarantee }, body) {
  if (body.client_groups || guarantee.sampling === "without-replacement") return null;
  const inner = gaussian(parameters.noise_multiplier);
  const drawn = { kind: "subsampled", sampling: "poisson", rate: parameters.participation_rate, mechanism: inner };
  return repeated(parameters.rounds, guarantee.sampling === "full" ? inner : drawn);
}

/** Clients drawn for a round by a trusted server; with adaptive clipping both noisy sums are one Gaussian. */
function cohorts({ parameters, guarantee }, body) {
  const inner = gaussian(parameters.adaptive_clipping?.whole_noise_multiplier ?? parameters.noise_multiplier);
  if (guarantee.sampling === "full") return repeated(parameters.rounds, inner);
  const size = guarantee.sampling === "poisson" ? { rate: parameters.participation_rate } : { batch_size: parameters.participants, population: body.clients };
  return repeated(parameters.rounds, { kind: "subsampled", sampling: guarantee.sampling, ...size, level: "clients", mechanism: inner });
}

/** Truncated discrete Laplace noise on a grid, with the chance that the values move further than the sensitivities say. */
function quantised({ parameters }, body) {
  const { noise_levels, decay_rate, l1_sensitivity, linf_sensitivity, l2_sensitivity, log10_failure_delta } = parameters;
  const noise = { kind: "truncated_discrete_laplace", noise_levels, decay_rate, dimension: body.dimension, l1_sensitivity, linf_sensitivity };
  if (l2_sensitivity) noise.l2_sensitivity = l2_sensitivity;
  const run = repeated(parameters.rounds ?? body.rounds ?? 1, noise);
  if (typeof log10_failure_delta !== "number") return run;
  return { kind: "composed", mechanisms: [run, { kind: "approximate", epsilon: 1e-9, delta: 10 ** log10_failure_delta }] };
}

/** The last model of projected steps. */
function projected({ parameters }, body) {
  const names = ["clients", "lipschitz", "radius", "smoothness", "strong_convexity", "convex", "release", "suffix_fraction"];
  const given = Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));
  const { participants, step_schedule, noise_schedule } = parameters;
  return { kind: "projected_sgd", ...given, participants, step_schedule, noise_schedule };
}

/** What one Gaussian mechanism does, as the answer's own derivation says. */
function once({ derivation }) {
  const step = derivation.find(({ inputs }) => typeof inputs?.noise_multiplier === "number");
  return step ? gaussian(step.inputs.noise_multiplier) : null;
}

const SPECS = {
  gaussian: plain,
  "mb-sgd": batches,
  "accelerated-mb-sgd": batches,
  "one-pass-accelerated-mb-sgd": once,
  qtdl: quantised,
  "norm-fedavg": quantised,
  "projected-sgd": projected,
  ppsgd: clients,
  "mu2-sgd": once,
  "dp-fedavg": cohorts,
};

/** A request for the curve at these ε, or null where the run is not a single spec. */
export function accountOf(answer, body, epsilons) {
  const spec = SPECS[answer.algorithm]?.(answer, body);
  if (!spec) return null;
  const { relation, unit, observer } = answer.guarantee;
  return { spec, relation, unit, observer, query: { epsilons } };
}

/** Whether a curve's point agrees with the answer's certificate: only then is it the curve of this run. */
export function agrees(point, answer) {
  const [read, certified] = [point.log10_delta.upper, answer.guarantee.log10_delta.upper];
  return typeof read === "number" && typeof certified === "number" && Math.abs(read - certified) < 0.02 * Math.max(1, Math.abs(certified));
}
