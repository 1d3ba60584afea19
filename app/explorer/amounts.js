// Amounts of a ledger are decimal strings: shown as they are given, and compared exactly. Only widths of bars are rough.

const PLACES = 18;
const NAMES = { mu_squared: "μ²", eta: "η", rho: "ρ", epsilon: "ε", delta: "δ" };
export const KINDS = { gdp: "Gaussian slot", zcdp: "Zero-concentrated slot", rdp: "Rényi slot", pure: "Pure slot" };

/** How a part of a slot is called: μ², or "order 2" of Rényi orders. */
export const partName = (part) => NAMES[part] ?? part.replace(":", " ");

/** A decimal string in units of its last possible place. */
export function units(text) {
  const match = /^(\d+)(?:\.(\d{1,18}))?$/.exec(text);
  if (!match) throw new RangeError(`${text} is no amount`);
  return BigInt(match[1] + (match[2] ?? "").padEnd(PLACES, "0"));
}

/** How much of a whole an amount is, from 0 to 1: for the width of a bar, and for nothing else. */
export function share(amount, whole) {
  const all = units(whole);
  return all === 0n ? 0 : Math.min(1, Number((units(amount) * 100000n) / all) / 100000);
}

/** How many runs that cost `each` are paid for by `remaining`, exactly; Infinity where they cost nothing. */
export function runsFor(each, remaining) {
  const counts = Object.entries(each)
    .filter(([, cost]) => units(cost) > 0n)
    .map(([part, cost]) => Number(units(remaining[part] ?? "0") / units(cost)));
  return Math.min(Infinity, ...counts);
}

/** Parts and their amounts in one line: μ² 0.01, η 0. */
export const said = (parts) =>
  Object.entries(parts)
    .map(([part, amount]) => `${partName(part)} ${amount}`)
    .join(", ");
