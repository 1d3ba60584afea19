// Amounts of a ledger are decimal strings: shown as they are given, and compared exactly. Only widths of bars are rough.

import { number } from "./words.js";

const PLACES = 18;
const NAMES = { mu_squared: "μ²", eta: "η", rho: "ρ", epsilon: "ε", delta: "δ" };
export const KINDS = { gdp: "Gaussian slot", zcdp: "Zero-concentrated slot", rdp: "Rényi slot", pure: "Pure slot" };

/** How a part of a slot is called: μ², or "order 2" of Rényi orders. */
export const partName = (part) => NAMES[part] ?? part.replace(":", " ");

/** A decimal string in units of its last possible place. */
export function units(text) {
  const match = /^(\d+)(?:\.(\d{1,18}))?$/.exec(text);
  if (!match) throw new RangeError(`${text} is not an amount`);
  return BigInt(match[1] + (match[2] ?? "").padEnd(PLACES, "0"));
}

/** How much of a whole an amount is, from 0 to 1: for the width of a bar, and for nothing else. */
export function share(amount, whole) {
  const all = units(whole);
  return all === 0n ? 0 : Math.min(1, Number((units(amount) * 100000n) / all) / 100000);
}

/** How much of a part of a slot is used or reserved, from 0 to 1. */
const taken = ({ used, reserved, capacity }, part) => share(used[part] ?? "0", capacity[part]) + share(reserved[part] ?? "0", capacity[part]);

/** The part that says how full a slot is: its fullest; of Rényi orders, which bear the budget together, the emptiest. */
export function fullest(slot) {
  const parts = Object.keys(slot.capacity);
  const sign = slot.kind === "rdp" ? -1 : 1;
  return parts.reduce((best, part) => (sign * taken(slot, part) > sign * taken(slot, best) ? part : best), parts[0]);
}

/** How full a slot is, from 0 to 1. */
export const fullness = (slot) => Math.min(1, taken(slot, fullest(slot)));

/** How many runs that cost `each` are paid for by `remaining`, exactly; Infinity where they cost nothing. */
export function runsFor(each, remaining) {
  const counts = Object.entries(each)
    .filter(([, cost]) => units(cost) > 0n)
    .map(([part, cost]) => Number(units(remaining[part] ?? "0") / units(cost)));
  return Math.min(Infinity, ...counts);
}

/** Noise for which the room of a slot is said. */
export const USUAL_NOISE = 10;
/** How far one unit of protection moves a sum, in units of its largest contribution. */
const MOVES = { "replace-one": 2n };

/**
 * How many releases with the usual noise the rest of a slot allows at least: Gaussian noise, in a pure slot Laplace noise.
 * null for slots of several orders, whose parts do not say how many fit.
 */
export function roomOf({ kind, remaining }, relation) {
  const moved = MOVES[relation] ?? 1n;
  const noise = BigInt(USUAL_NOISE);
  const one = 10n ** BigInt(PLACES);
  const costs = {
    gdp: ["mu_squared", (moved * moved * one) / (noise * noise)],
    zcdp: ["rho", (moved * moved * one) / (2n * noise * noise)],
    pure: ["epsilon", (moved * one) / noise],
  };
  if (!(kind in costs)) return null;
  const [part, cost] = costs[kind];
  const charged = cost + cost / 10n ** 12n + 1n; // a charge is rounded up by less than that
  return Number(units(remaining[part]) / charged);
}

/** The room of a slot in words. */
export function roomWords(slot, relation) {
  const count = roomOf(slot, relation);
  if (count === null) return null;
  const noise = slot.kind === "pure" ? "Laplace scale" : "noise multiplier";
  const most = count === 0 ? "no release" : count === 1 ? "one more release" : `${count.toLocaleString("en-US")} more releases`;
  return `Room for ${most} with ${noise} ${USUAL_NOISE}`;
}

/** Which resource runs out first, in words. */
export function scarcest({ item, slot, part, share_used: used, remaining }) {
  const name = item ?? `${KINDS[slot]}, ${partName(part)}`;
  const left = item ? `${Number(remaining).toLocaleString("en-US")} runs` : number(Number(remaining), 6, "down");
  return `${name}: ${number(100 * used, 3, "up")} % used or held, ${left} left`;
}

/** Parts and their amounts in one line, rounded up to six digits; parts of which nothing is taken are left out: μ² 0.01. */
export const said = (parts) =>
  Object.entries(parts)
    .filter(([, amount]) => Number(amount) !== 0)
    .map(([part, amount]) => `${partName(part)} ${number(rounded(amount), 6, "up")}`)
    .join(", ") || "nothing";

/** An amount as a number. The safety margin of a charge, in its last digits, is no reason to round it up. */
const rounded = (amount) => Number(Number(amount).toPrecision(12));
