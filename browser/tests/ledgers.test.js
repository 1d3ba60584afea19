// The page of ledgers on the real service, whose ledgers are in memory: every state of it, what-if, entries, keyboard, axe.

import assert from "node:assert/strict";
import { test } from "node:test";
import { serious, shoot, site } from "./service.js";

const TRAINING = { kind: "repeated", times: 1000, mechanism: { kind: "subsampled", sampling: "poisson", rate: 0.01, mechanism: { kind: "gaussian", noise_multiplier: 1 } } };
const PROBLEM = "application/problem+json";

const here = site();
const on = (hash, options, body, prepare) => here.on(`ledgers${hash}`, options, body, prepare);
let ledger;
let number = 0;

const opening = (name, more = {}) => ({
  name,
  dataset: name,
  block: "2025",
  unit: "record",
  relation: "add-or-remove-one",
  observer: "released-models",
  target: { epsilon: 8, delta: 1e-6 },
  plan: [{ name: "train", spec: TRAINING }],
  slots: [{ kind: "gdp", capacity: "largest" }],
  declared: { inputs: "functions-of-releases", sealed: true, released_before: false },
  ...more,
});

async function call(path, body, method = "POST") {
  const headers = { "content-type": "application/json", "idempotency-key": `test-${(number += 1)}` };
  const response = await fetch(`${here.origin}/v1/${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const answer = await response.json();
  assert.ok(response.ok, `${path}: ${answer.title}. ${answer.detail}`);
  return answer;
}

const stands = (page, state) => page.waitForSelector(`#content[data-state="${state}"]`);
const room = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.getElementById("what-if-room")?.textContent ?? ""), pattern.source);

test("without a ledger the page says how one is opened, and its POST example opens one", async () => {
  await on("", {}, async (page) => {
    await stands(page, "shown");
    const words = await page.textContent(".empty");
    assert.match(words, /no ledger yet/);
    assert.match(words, /epsilond ledger open/);
    const example = /-d '(\{.*\})'/s.exec(words)[1];
    assert.deepEqual(await serious(page), []);
    await shoot(page, "ledgers-empty");
    await page.fill("#o-name", "opened here");
    await page.fill("#o-dataset", "opened here");
    await page.click("#open-ledger button[type=submit]");
    assert.equal(await page.locator("#o-sealed:invalid").count(), 1, "what is declared is not declared by default");
    await page.check("#o-sealed");
    await page.check("#o-before");
    await page.click("#open-ledger button[type=submit]");
    await page.waitForSelector("#promise");
    assert.match(await page.textContent("#promise"), /opened here/);
    const { ledgers } = await call("ledgers", undefined, "GET");
    assert.deepEqual(ledgers.map(({ name, target, sealed }) => [name, target.epsilon, target.delta, sealed]), [["opened here", 8, 1e-6, true]]);
    const made = await call("ledgers", JSON.parse(example));
    assert.equal(made.state, "open");
    await page.goto(`${here.origin}/ledgers`);
    await page.waitForSelector(`.ledger[data-id="${made.id}"]`);
  });
});

test("every ledger that the form may open is one that the service opens", async () => {
  await on("", {}, async (page) => {
    const bodies = await page.evaluate(async () => {
      const { bodyOf } = await import("/explorer/opening.js");
      const values = { block: "", unit: "client", relation: "replace-one", observer: "server", epsilon: "3", delta: "1e-7" };
      return ["gdp", "zcdp", "pure"].map((slot) => bodyOf({ ...values, slot, name: slot, dataset: slot }));
    });
    for (const body of bodies) assert.equal((await call("ledgers", body)).slots[0].kind, body.slots[0].kind);
  });
});

test("a ledger is found from the explorer, and shows what the service says of it", async () => {
  ledger = await call("ledgers", opening("models"));
  const held = await call(`ledgers/${ledger.id}/reservations`, { item: "train", count: 300 });
  await call(`reservations/${held.id}/commits`, { count: 100 });
  const query = { slot: "gdp", spec: { kind: "gaussian", noise_multiplier: 3 } };
  const asked = await call(`ledgers/${ledger.id}/reservations`, { ...query, count: 4 });
  await call(`reservations/${asked.id}/commits`, { count: 3 });
  ledger = await call(`ledgers/${ledger.id}`, undefined, "GET");
  const opened = await here.open();
  await opened.page.click("nav a[href=ledgers]");
  await opened.page.click(`.ledger[data-id="${ledger.id}"] a`);
  await opened.page.waitForSelector("#plan-curve canvas");
  await opened.close();
  await on(`#/${ledger.id}`, {}, async (page) => {
    await page.waitForSelector("#plan-curve canvas");
    assert.equal(await page.textContent(".sentence"), ledger.guarantee.in_words);
    const [slot] = ledger.slots;
    const shown = await page.locator(".slot .part").first().locator("dd").allTextContents();
    assert.deepEqual(shown, [slot.used, slot.reserved, slot.remaining, slot.capacity].map(({ mu_squared }) => mu_squared));
    assert.match(await page.getAttribute(".slot .balance >> nth=0", "aria-label"), /used \d+ %, reserved \d+ %, free \d+ %/);
    const cells = await page.locator(".plan tbody tr").first().locator("td").allTextContents();
    assert.deepEqual(cells.slice(0, 5), ["1,000", "200", "100", "0", "700"]);
    assert.equal(await page.locator("#conditions li").count(), ledger.declared_conditions.length);
    assert.equal(await page.locator("#plan-curve tbody tr").count(), ledger.curve.length);
    for (const path of [`v1/ledgers/${ledger.id}/report`, "v1/log/checkpoint", "v1/keys"]) {
      const href = await page.getAttribute(`#proofs a[href$="${path}"]`, "href");
      assert.ok((await fetch(href)).ok, href);
    }
    await shoot(page, "ledger");
  });
});

test("what-if tells what fits, and the service agrees to the last run", async () => {
  await on(`#/${ledger.id}`, {}, async (page) => {
    await room(page, /more fit/);
    assert.match(await page.textContent("#what-if-answer h3"), /It fits: 1 run/);
    assert.match(await page.textContent("#runs-out-first"), /^Runs out first: train: 30 % used or held, 700 runs left\.$/);
    assert.match(await page.textContent("#what-if-first"), /^After the job, the first to run out: train: 30 % used or held/);
    const most = Number(/([\d,]+) more fit/.exec(await page.textContent("#what-if-room"))[1].replaceAll(",", ""));
    const spec = { kind: "gaussian", noise_multiplier: 20 };
    assert.equal((await call(`ledgers/${ledger.id}/what-if`, { slot: "gdp", spec, count: most })).fits, true);
    assert.equal((await call(`ledgers/${ledger.id}/what-if`, { slot: "gdp", spec, count: most + 1 })).fits, false);
    await page.fill("#w-count", String(most + 1));
    await page.waitForSelector("#what-if-answer[data-state=refused]");
    assert.match(await page.textContent("#what-if-answer"), /would fit with a noise multiplier of/);
    await page.selectOption("#w-source", "item:train");
    await room(page, /This shape: 700 more fit/);
    assert.equal(await page.locator("#w-noise_multiplier").count(), 0);
  });
});

test("the room of a slot is what the service says, and the picture ends at the last release that fits", async () => {
  for (const [relation, kind] of [["add-or-remove-one", "gdp"], ["replace-one", "gdp"], ["replace-one", "zcdp"], ["add-or-remove-one", "pure"]]) {
    const slots = [{ kind, capacity: kind === "pure" ? { epsilon: "1.05", delta: "0" } : "largest" }];
    const made = await call("ledgers", opening(`room-${relation}-${kind}`, { plan: [], relation, slots }));
    const spec = kind === "pure" ? { kind: "laplace", scale_multiplier: 10 } : { kind: "gaussian", noise_multiplier: 10 };
    const held = await call(`ledgers/${made.id}/reservations`, { slot: kind, spec, count: 3 });
    await call(`reservations/${held.id}/commits`, { count: 2 });
    await on(`#/${made.id}`, {}, async (page) => {
      await page.waitForSelector("#ledger-picture canvas");
      const count = Number(/Room for ([\d,]+) more releases/.exec(await page.textContent(".slot .room"))[1].replaceAll(",", ""));
      const fits = async (runs) => (await call(`ledgers/${made.id}/what-if`, { slot: kind, spec, count: runs })).fits;
      assert.deepEqual([await fits(count), await fits(count + 1)], [true, false]);
      await page.fill(kind === "pure" ? "#w-scale_multiplier" : "#w-noise_multiplier", "10");
      await page.waitForFunction(() => / with (noise multiplier|Laplace scale) 10 fit/.test(document.querySelector("#ledger-picture .note").textContent));
      const note = await page.textContent("#ledger-picture .note");
      assert.match(note, new RegExp(`So far 2 releases.* ${count.toLocaleString("en-US")} more .* The last that fits is release ${(count + 2).toLocaleString("en-US")}, at (9\\d|100)`));
      assert.deepEqual(await serious(page), []);
      await shoot(page, `ledger-picture-${relation}-${kind}`);
    });
  }
});

test("the page of the organisation shows every data set, who holds what, and what returns first", async () => {
  const blocks = ["2024", "2025"];
  const made = [];
  for (const block of blocks) made.push(await call("ledgers", opening(`shared ${block}`, { dataset: "shared data", block })));
  const query = { slot: "gdp", spec: { kind: "gaussian", noise_multiplier: 3 } };
  const later = await call(`ledgers/${made[0].id}/reservations`, { item: "train", count: 400, expires_in: 90_000 });
  await call(`reservations/${later.id}/commits`, { count: 150 });
  const sooner = await call(`ledgers/${made[1].id}/reservations`, { ...query, count: 2, expires_in: 7_300 });
  const ended = await call(`ledgers/${made[1].id}/reservations`, { ...query, count: 1 });
  await call(`reservations/${ended.id}/commits`, { count: 1 });
  for (const [name, width] of [["phone", 400], ["desk", 1400]]) {
    await on("", { viewport: { width, height: 900 } }, async (page) => {
      await page.waitForSelector(`#holds li[data-id="${sooner.id}"]`);
      const card = page.locator('.dataset[data-name="shared data"]');
      assert.equal(await card.count(), 1, "the blocks of a data set are in one card");
      assert.deepEqual(await card.locator(".ledger").evaluateAll((all) => all.map((each) => each.dataset.id)), made.map(({ id }) => id));
      const plan = card.locator(`.ledger[data-id="${made[0].id}"] .balance`).first();
      assert.equal(await plan.getAttribute("aria-label"), "Plan, train: committed 15 %, reserved 25 %, planned 60 %");
      assert.match(await card.textContent(), /150 of 1,000 runs committed, 250 reserved, 600 planned/);
      const order = await page.locator("#holds li").evaluateAll((all) => all.map((each) => each.dataset.id));
      assert.ok(order.indexOf(sooner.id) < order.indexOf(later.id), "what returns first comes first");
      assert.ok(!order.includes(ended.id), "what is committed is not held");
      const words = await page.textContent(`#holds li[data-id="${later.id}"]`);
      assert.match(words, /returns in 1 day/);
      assert.match(words, /holds 250 runs of train in shared 2024/);
      assert.match(await page.textContent(`#holds li[data-id="${sooner.id}"]`), /returns in 2 hours.*holds 2 runs of slot gdp in shared 2025/s);
      assert.match(await page.textContent("#summary"), /Next to return.*shared 2025 returns in 2 hours/s);
      assert.match(await page.textContent("#summary"), /\d+ % taken/);
      assert.deepEqual(await serious(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is cut off");
      await shoot(page, `organisation-${name}`);
    });
  }
});

test("what is held is computed from entries, and named with its caller", async () => {
  await on("", {}, async (page) => {
    const found = await page.evaluate(async () => {
      const { heldIn, inOrder, returns, span } = await import("/explorer/holds.js");
      const entries = [
        { kind: "expired", reservation: "c", count: 1 },
        { kind: "reserved", reservation: "c", count: 1, slot: "gdp", requested_by: "cem" },
        { kind: "cancelled", reservation: "b", count: 1 },
        { kind: "committed", reservation: "b", count: 2 },
        { kind: "committed", reservation: "a", count: 3 },
        { kind: "committed", reservation: "older than what was read", count: 3 },
        { kind: "reserved", reservation: "b", count: 3, item: "train", requested_by: "ben" },
        { kind: "reserved", reservation: "a", count: 4, item: "train", requested_by: "ada" },
      ];
      const times = [["x", null, "2026-01-02"], ["y", "2026-03-01", "2026-01-01"], ["z", "2026-02-01", "2026-01-01"], ["w", null, "2026-01-01"]];
      const held = times.map(([id, expires, created]) => ({ id, expires, created }));
      const now = Date.parse("2026-02-01");
      return [heldIn(entries), inOrder(held).map(({ id }) => id), held.map((hold) => returns(hold, now)), [59, 60, 7199, 172_800].map(span)];
    });
    assert.deepEqual(found, [
      [{ id: "a", by: "ada", what: "train" }],
      ["z", "y", "w", "x"],
      ["never expires", "returns in 28 days", "has expired: it returns within a minute", "never expires"],
      ["under a minute", "1 minute", "1 hour", "2 days"],
    ]);
  });
});

test("pending moves are listed, and approved or rejected by a button", async () => {
  const id = ledger.id;
  const path = `**/v1/ledgers/${id}`;
  const base = { ledger: id, state: "pending", requested_by: "alice", requested_at: "2026-01-02T03:04:05.000Z" };
  let moves = [
    { ...base, id: "move_1", kind: "amend", body: { lower: [{ name: "train", planned: 500 }] }, expires_at: "2026-01-09T03:04:05.000Z" },
    { ...base, id: "move_2", kind: "void", body: { reservation: "r", count: 1 }, expires_at: "2026-01-09T03:04:05.000Z" },
    { ...base, id: "move_3", kind: "reconcile", body: { size: 3 } },
  ];
  const asked = [];
  const prepare = async (page) => {
    await page.route(path, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), approval: true } });
    });
    await page.route(`${path}/pending`, (route) => route.fulfill({ json: moves }));
    await page.route(`${path}/pending/*/*`, async (route) => {
      const [name, decision] = new URL(route.request().url()).pathname.split("/").slice(-2);
      asked.push([route.request().method(), name, decision]);
      if (name === "move_2") return route.fulfill({ status: 409, contentType: PROBLEM, json: { title: "same", detail: "alice requested the move, so alice cannot approve it.", status: 409 } });
      moves = moves.filter(({ id: each }) => each !== name);
      return route.fulfill({ json: { ...base, id: name, kind: "amend", body: {}, state: "approved", closed_by: "vera" } });
    });
  };
  await on(`#/${id}`, {}, async (page) => {
    await page.waitForSelector("#pending tbody tr");
    assert.equal(await page.locator("#pending tbody tr").count(), 3);
    assert.match(await page.textContent("#promise"), /a second person approves/);
    assert.match(await page.textContent("#pending tbody tr"), /by alice/);
    assert.equal(await page.locator("#pending tbody tr").nth(2).locator("button").count(), 1, "a reconciliation is not rejected");
    assert.deepEqual(await serious(page), []);
    await shoot(page, "ledger-pending");
    await page.locator("#pending tbody tr").nth(1).locator("[data-decision=approve]").click();
    await page.waitForFunction(() => /alice cannot approve it/.test(document.querySelector("#pending [role=status]").textContent));
    await page.locator("#pending tbody tr").nth(0).locator("[data-decision=approve]").click();
    await page.waitForFunction(() => document.querySelectorAll("#pending tbody tr").length === 2);
    assert.deepEqual(asked, [["POST", "move_2", "approve"], ["POST", "move_1", "approve"]]);
  }, prepare);
});

test("a picture is read by the keyboard", async () => {
  await on(`#/${ledger.id}`, {}, async (page) => {
    await page.waitForSelector("#plan-curve canvas");
    await page.locator("#plan-curve .plot").focus();
    const first = await page.locator("#plan-curve tbody tr").first().allTextContents();
    await page.keyboard.press("Home");
    await page.waitForFunction(() => document.querySelector("#plan-curve .readout").textContent.startsWith("δ "));
    const read = () => page.textContent("#plan-curve .readout");
    const start = await read();
    assert.ok(first[0].includes(start.split(": ")[1].split(" ").at(-1)), `${first[0]} has what is read: ${start}`);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((said) => document.querySelector("#plan-curve .readout").textContent !== said, start);
    assert.equal(await page.getAttribute("#plan-curve .readout", "aria-live"), "polite");
  });
});

test("of runs whose charges do not add up, the page searches, and says at least", async () => {
  await on(`#/${ledger.id}`, {}, async (page) => {
    await room(page, /more fit/);
    await page.selectOption("#w-shape", "subsampled");
    await room(page, /This shape: at least [\d,]+ more fit\.$/);
    const most = Number(/([\d,]+) more fit/.exec(await page.textContent("#what-if-room"))[1].replaceAll(",", ""));
    const mechanism = { kind: "gaussian", noise_multiplier: 1 };
    const body = { slot: "gdp", spec: { kind: "subsampled", sampling: "poisson", rate: 0.01, mechanism }, count: most };
    assert.equal((await call(`ledgers/${ledger.id}/what-if`, body)).fits, true);
    assert.ok(most > 100);
  });
});

test("amounts are compared exactly, where doubles would miss by one", async () => {
  await on("", {}, async (page) => {
    const found = await page.evaluate(async () => {
      const { runsFor, share, units } = await import("/explorer/amounts.js");
      const refused = ["", "-1", "1e-5", "0.0000000000000000001"].filter((text) => {
        try {
          units(text);
        } catch {
          return true;
        }
        return false;
      });
      return [String(units("12.000000000000000003")), runsFor({ a: "0.1" }, { a: "0.3" }), runsFor({ a: "0.1", b: "2" }, { a: "0.3", b: "3.999999999999999999" }), runsFor({ a: "0" }, { a: "0" }), share("1", "4"), share("5", "4"), share("1", "0"), refused.length];
    });
    assert.deepEqual(found, ["12000000000000000003", 3, 1, Infinity, 0.25, 1, 0, 4]);
  });
});

test("a slider is asked about once it rests, and what was asked before is given up", async () => {
  let asked = 0;
  let first;
  const route = (page) =>
    page.route("**/what-if", async (each) => {
      asked += 1;
      if (asked > 1) return each.continue();
      first = each; // never answered: the page has to give it up
    });
  await on(
    `#/${ledger.id}`,
    {},
    async (page) => {
      await page.waitForFunction(() => document.getElementById("w-count"));
      while (!first) await page.waitForTimeout(20);
      const given = page.waitForEvent("requestfailed", (request) => request.url().endsWith("what-if"));
      await page.locator("#w-noise_multiplier-slider").focus();
      for (let step = 0; step < 30; step += 1) await page.keyboard.press("ArrowRight");
      await given;
      await room(page, /more fit/);
      assert.ok(asked < 10, `asked ${asked} times`);
      assert.ok(Number(await page.inputValue("#w-noise_multiplier")) > 20);
    },
    route,
  );
});

test("entries are shown newest first, a page at a time, whatever others write between them", async () => {
  const mine = await call("ledgers", opening("paged", { plan: [], slots: [{ kind: "gdp", capacity: "largest" }] }));
  const other = await call("ledgers", opening("other", { plan: [] }));
  const query = { slot: "gdp", spec: { kind: "gaussian", noise_multiplier: 100 } };
  for (let each = 0; each < 50; each += 1) await call(`ledgers/${each % 2 ? other.id : mine.id}/reservations`, query);
  for (let each = 0; each < 75; each += 1) await call(`ledgers/${other.id}/reservations`, query);
  for (let each = 0; each < 25; each += 1) await call(`ledgers/${mine.id}/reservations`, query);
  const all = (await call(`ledgers/${mine.id}/entries?limit=1000`, undefined, "GET")).entries.map(({ seq }) => seq).reverse();
  await on(`#/${mine.id}`, {}, async (page) => {
    await page.waitForSelector(".entries tbody tr");
    while (await page.isVisible("#more-entries")) {
      const shown = await page.locator(".entries tbody th").count();
      assert.ok(shown < all.length);
      await page.click("#more-entries");
      await page.waitForFunction((count) => document.querySelectorAll(".entries tbody tr").length > count, shown);
    }
    assert.deepEqual((await page.locator(".entries tbody th").allTextContents()).map(Number), all);
    assert.match(await page.textContent("#entries"), /All 51 are shown/);
    assert.match(await page.locator(".entries tbody tr").last().textContent(), /opened/);
  });
});

test("what is closed, not sealed, or without a slot is said in words", async () => {
  const declared = { inputs: "functions-of-releases", sealed: false, released_before: false };
  const closed = await call("ledgers", opening("closed", { slots: [], declared }));
  await on(`#/${closed.id}`, {}, async (page) => {
    await stands(page, "shown");
    assert.match(await page.textContent(".warnings"), /not sealed/);
    assert.match(await page.textContent("#balances"), /no slots/);
    await page.waitForSelector("#what-if-answer[data-state=refused]");
    await call(`ledgers/${closed.id}/close`);
    await page.click("#look-again");
    await page.waitForFunction(() => /is closed/.test(document.querySelector(".warnings").textContent));
    assert.equal(await page.locator("#what-if").count(), 0);
  });
});

test("a contradicted ledger shows its observations and no ε", async () => {
  const made = await call("ledgers", opening("contradicted"));
  const held = await call(`ledgers/${made.id}/reservations`, { item: "train", count: 300 });
  await call(`reservations/${held.id}/commits`, { count: 100 });
  const observation = { premise: "fresh-draw", message: "a step used the batch of an earlier step", remedy: "Iterate over the data loader.", count: 12 };
  await call(`ledgers/${made.id}/contradictions`, { observations: [observation] });
  await on(`#/${made.id}`, {}, async (page) => {
    await stands(page, "shown");
    assert.match(await page.textContent(".sentence"), /there is no ε/);
    assert.match(await page.textContent("#observations"), /fresh-draw: a step used the batch of an earlier step \(12 times\)\. Iterate over the data loader\./);
    assert.doesNotMatch(await page.textContent("#promise"), /at most/);
    assert.match(await page.textContent(".warnings"), /nothing more is reserved or committed/);
    assert.equal(await page.locator("#what-if, #plan-curve").count(), 0);
    await page.waitForFunction(() => /contradicted/.test(document.querySelector(".entries tbody tr")?.textContent ?? ""));
    assert.match(await page.locator(".entries tbody tr").nth(1).textContent(), /committed.*100 runs.*contradicted/);
    assert.deepEqual(await serious(page), []);
  });
  await on("", {}, async (page) => {
    await page.waitForSelector(`.ledger[data-id="${made.id}"]`);
    assert.match(await page.textContent(`.ledger[data-id="${made.id}"] .state`), /contradicted: no ε/);
  });
});

test("every kind of slot is shown with all of its parts", async () => {
  const slots = [
    { kind: "rdp", capacity: { orders: [8, 16], weights: [0.5, 0.5], budget: "0.01" } },
    { kind: "pure", capacity: { epsilon: "0.5", delta: "0" } },
    { kind: "zcdp", capacity: { rho: "0.01", delta: "0.00000001" } },
  ];
  const made = await call("ledgers", opening("kinds", { plan: [], slots, unit: "client" }));
  await on(`#/${made.id}`, {}, async (page) => {
    await stands(page, "shown");
    for (const slot of made.slots) {
      const shown = await page.locator(`.slot[data-kind=${slot.kind}] dd`).allTextContents();
      assert.deepEqual(shown, Object.keys(slot.capacity).flatMap((part) => [slot.used, slot.reserved, slot.remaining, slot.capacity].map((each) => each[part])));
      await page.selectOption("#w-source", `slot:${slot.kind}`);
      await page.selectOption("#w-shape", slot.kind === "pure" ? "laplace" : "gaussian");
      await page.waitForSelector("#what-if-answer[data-state=asking]", { state: "detached" });
      await room(page, /(more fits?|none fits)\.$/);
    }
  });
});

test("an unknown ledger, a key that is asked for, and a service that is down are told in words", async () => {
  await on("#/ledger_nothing", {}, async (page) => {
    await page.waitForSelector("#problem .problem");
    assert.match(await page.textContent("#problem"), /no ledger/i);
  });
  let key = null;
  await on("", {}, async (page) => {
    await page.waitForSelector("#problem .problem");
    assert.match(await page.textContent("#problem"), /Access key/);
    assert.equal(await page.locator("#access").getAttribute("open"), "");
    await page.fill("#key", "a-key");
    await page.click("#key-form button");
    await stands(page, "shown");
    assert.equal(key, "Bearer a-key");
    assert.equal(await page.textContent("#problem"), "");
    const saved = page.waitForEvent("download");
    await page.click(`.ledger[data-id="${ledger.id}"] a`);
    await page.click("#proofs a >> nth=0");
    assert.equal((await saved).suggestedFilename(), `${ledger.id}.html`);
  }, (page) => page.route("**/v1/ledgers", async (each) => {
    key = (await each.request().allHeaders()).authorization ?? null;
    if (key) return each.continue();
    return each.fulfill({ status: 401, contentType: PROBLEM, json: { type: "/problems/unauthorized", title: "Credentials are needed", status: 401, detail: "Send a key." } });
  }));
  let down = true;
  await on("", {}, async (page) => {
    await stands(page, "failed");
    assert.match(await page.textContent("#problem"), /does not answer/);
    down = false;
    await page.click("#problem .again");
    await stands(page, "shown");
  }, (page) => page.route("**/v1/ledgers", (each) => (down ? each.abort() : each.continue())));
});

test("a busy service is waited for, and the wait can be cancelled", async () => {
  const busy = { status: 429, contentType: PROBLEM, headers: { "retry-after": "60" }, json: { type: "/problems/too-many-requests", title: "Too many computations are waiting", status: 429, detail: "Too many." } };
  let through = false;
  await on("", {}, async (page) => {
    await page.waitForSelector(".progress[data-state=busy]");
    await page.click("#cancel");
    await stands(page, "cancelled");
    through = true;
    await page.click("#ask-again");
    await stands(page, "shown");
    assert.equal(await page.locator(".progress").count(), 0);
  }, (page) => page.route("**/v1/ledgers", (each) => (through ? each.continue() : each.fulfill(busy))));
});

test("the keyboard alone is enough", async () => {
  await on(`#/${ledger.id}`, {}, async (page) => {
    await room(page, /more fit/);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "content");
    assert.match(await page.evaluate(() => location.hash), /^#\/ledger_/);
    const reached = new Set();
    for (let step = 0; step < 50; step += 1) {
      await page.keyboard.press("Tab");
      const [tag, id, outline] = await page.evaluate(() => [document.activeElement.tagName, document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]);
      if (tag !== "BODY") assert.notEqual(outline, "none", `${tag} ${id}`);
      reached.add(id);
    }
    for (const id of ["look-again", "w-source", "w-shape", "w-noise_multiplier", "w-noise_multiplier-slider", "w-count"]) assert.ok(reached.has(id), id);
  });
});

for (const [name, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }],
  ["phone-dark", { viewport: { width: 360, height: 740 }, colorScheme: "dark" }],
]) {
  test(`axe finds nothing serious, and nothing is cut off: ${name}`, async () => {
    await on("", options, async (page) => {
      await page.waitForSelector(".ledger");
      assert.deepEqual(await serious(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await shoot(page, `ledgers-${name}`);
    });
    await on(`#/${ledger.id}`, options, async (page) => {
      await room(page, /more fit/);
      await page.waitForSelector(".entries tbody tr");
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = each.id !== "access")));
      assert.deepEqual(await serious(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = false)));
      await shoot(page, `ledger-${name}`);
    });
  });
}
