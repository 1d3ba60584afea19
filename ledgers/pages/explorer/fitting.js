// How many runs of a mechanism a ledger still allows: what its what-if says, asked as few times as it takes.

import { runsFor } from "./amounts.js";

const MOST = 1e15;
const FAR = [1e6, 1e10, MOST];
/** What is asked for in turn, where no rule says how many fit: a refusal comes soon, and names the largest count. */

/** How many times it is asked for ten times as many, where no rule says how many fit. */

/**
 * {count, exact} of the most that fit. `answer` is that to `count` runs, asked(count) asks of others, and told(found) hears
 * of what is known on the way. Runs whose charges add up are counted from the balance; of others, whose charge says less
 * than the sum, the service searches, and its largest count may be a little less than the most.
 */
export async function mostThatFit(ledger, job, count, answer, asked, told) {
  if (job.item) {
    const item = ledger.plan.find(({ name }) => name === job.item);
    const all = await asked(MOST);
    return { count: all.nearest.largest_count ?? item.planned - item.reserved - item.committed, exact: true };
  }
  const known = answer.fits ? count : answer.nearest.largest_count ?? 0;
  const fits = answer.fits ? answer : known || count > 1 ? await asked(known || 1) : answer;
  if (!fits.fits) return { count: 0, exact: true };
  const slot = ledger.slots.find(({ kind }) => kind === job.slot);
  // A Rényi slot with several orders may overdraw some of them: its parts do not say how many fit.
  if (fits.charge.each && slot.kind !== "rdp") return { count: runsFor(fits.charge.each, slot.remaining), exact: true };
  let least = Math.max(1, known);
  if (!answer.fits) return { count: least, exact: false };
  for (const many of FAR.filter((each) => each > least)) {
    told({ count: least, exact: false, searching: true });
    const more = await asked(many);
    if (!more.fits) return { count: Math.max(least, more.nearest.largest_count ?? 0), exact: false };
    least = many;
  }
  return { count: least, exact: false };
}
