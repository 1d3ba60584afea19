// Numbers and names as people read them.

const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const power = (exponent) => `10${[...String(exponent)].map((sign) => SUPERSCRIPT[sign]).join("")}`;

/** A decimal mantissa and exponent of a positive number at `digits` digits, rounded "up", "down" or to the "nearest". */
function parts(value, digits, towards) {
  let exponent = Number(value.toExponential(15).split("e")[1]);
  const scaled = Number(value.toExponential(15).split("e")[0]) * 10 ** (digits - 1);
  const near = Math.round(scaled);
  const exact = Math.abs(near - scaled) < 1e-9 * scaled && Number(`${near}e${exponent - digits + 1}`) === value;
  let mantissa = exact || towards === "nearest" ? near : towards === "up" ? Math.ceil(scaled) : Math.floor(scaled);
  if (mantissa >= 10 ** digits) [mantissa, exponent] = [mantissa / 10, exponent + 1];
  return [mantissa, exponent];
}

/** A number in words and digits; an end of an interval is rounded outwards by "up" or "down". */
export function number(value, digits = 4, towards = "nearest") {
  if (typeof value === "string") return value === "unbounded" ? "∞" : value === "-unbounded" ? "−∞" : value;
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0";
  if (value < 0) return `−${number(-value, digits, { up: "down", down: "up" }[towards] ?? towards)}`;
  if (Number.isInteger(value) && value < 1e6) return value.toLocaleString("en-US");
  const [mantissa, exponent] = parts(value, digits, towards);
  if (exponent >= 6 || exponent < -3) {
    const text = trim((mantissa / 10 ** (digits - 1)).toFixed(digits - 1));
    return text === "1" ? power(exponent) : `${text} × ${power(exponent)}`;
  }
  const places = Math.max(0, digits - 1 - exponent);
  return trim(Number(`${mantissa}e${exponent - digits + 1}`).toFixed(places));
}
const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** A probability given by its base-10 logarithm. */
export function fromLog10(log10, digits = 3, towards = "nearest") {
  if (typeof log10 !== "number") return log10 === "-unbounded" ? "0" : "1";
  if (log10 > -300) return number(10 ** log10, digits, towards);
  const rounded = { up: Math.ceil, down: Math.floor, nearest: Math.round }[towards](log10 * 10) / 10;
  return power(Math.floor(rounded));
}

/** "lower to upper", rounded outwards; one number where nothing is between them at that precision. */
export function interval(ends, digits = 4) {
  const [lower, upper] = [number(ends.lower, digits, "down"), number(ends.upper, digits, "up")];
  return lower === upper || (ends.upper - ends.lower) / ends.upper < 10 ** -digits ? upper : `${lower} to ${upper}`;
}

const BITS = ["bits", "kbit", "Mbit", "Gbit", "Tbit", "Pbit"];
export function bits(count) {
  const step = count < 10000 ? 0 : Math.min(BITS.length - 1, Math.floor(Math.log10(count) / 3));
  return `${number(count / 1000 ** step, 4)} ${BITS[step]}`;
}

/** As a sentence: names of fields in words, and a capital where a word begins it; ids and Greek letters stay. */
export function capital(text) {
  const plain = text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => name.replace(/_/g, " "));
  return /^[a-z][a-z'’-]*(\s|,|:|$)/.test(plain) ? `${plain[0].toUpperCase()}${plain.slice(1)}` : plain;
}

/** samples_per_client → Samples per client. */
export function title(name) {
  const text = name.replace(/_/g, " ").replace("log10 ", "log₁₀ ").replace(/^(mu2|gaussian dp mu)$/, "Gaussian privacy μ");
  return text[0].toUpperCase() + text.slice(1);
}

export const NAMES = {
  "one-pass-accelerated-mb-sgd": "One pass, accelerated",
  "accelerated-mb-sgd": "Accelerated mini-batch SGD",
  "mb-sgd": "Mini-batch SGD",
  "shuffled-mb-sgd": "Shuffled mini-batch SGD",
  qtdl: "Quantised updates",
  "norm-fedavg": "Normalised FedAvg",
  "projected-sgd": "Projected SGD, last model",
  ppsgd: "Personalised SGD",
  "mu2-sgd": "Noise cancellation",
  "dp-fedavg": "DP-FedAvg",
  gaussian: "Gaussian mechanism",
};
export const nameOf = (algorithm) => NAMES[algorithm] ?? title(algorithm.replace(/-/g, "_"));

/** A sentence of the service with its algorithms as people call them. */
const IDS = new RegExp(`(?<![\\w-])(${Object.keys(NAMES).sort((one, other) => other.length - one.length).join("|")})(?![\\w-])`, "g");
export const inWords = (text) => text.replace(IDS, (name) => NAMES[name]);

/** A protected unit in one word: client-day for a client's contributions within one day. */
export const unitWord = (unit) => (unit?.of ? `${unit.of}-${unit.window}` : unit);

/** What a field or a parameter is, of the unit that is protected where that changes it. */
export const meaning = (schema, unit) => schema?.["x-of-unit"]?.replaceAll("{unit}", unit) ?? schema?.description ?? "";

export const DEFINITIONS = {
  local: "Local: no trusted party",
  shuffle: "Shuffled: a trusted shuffler",
  central: "Central: a trusted server",
  joint: "Joint: against all other clients",
};
export const TIGHT = {
  proved: "The bound is tight: it is the exact ε of the run.",
  witnessed: "The lower bound is attained by an instance of the run. The true ε is between the two bounds.",
  unknown: "The upper bound is proved. How far the true ε is below it is not known.",
};
export const OBJECTIVES = { population: "new data", empirical: "the data at hand", personalized: "new data, each client by its own model" };
export const MEASURES = { "excess-risk": "Excess risk", "gradient-norm": "Norm of the gradient", "squared-error": "Squared error" };
/** The mark of a bound that says nothing. */
export const noBetter = (baseline) => (baseline ? `no better than the start (${baseline.formula} = ${number(baseline.value, 4, "up")})` : "no better than the start");
export const STATUS = { proved: "Proved", refuted: "Refuted", unproved: "Unproved" };
