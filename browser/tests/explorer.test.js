// The page on the real service: every algorithm, the controls, the address, the copied calls, keyboard, axe.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { PYTHON, answered, figure, forget, serious, shoot, site } from "./service.js";

const QUICK = "#/gaussian?solve_for=noise_multiplier&relation=add-or-remove-one&unit=record&observer=released-models&sampling=poisson&rate=0.01&rounds=1000&epsilon=1&delta=1e-6";
const ROOT = new URL("../..", import.meta.url);

const here = site();
const { on } = here;

const algorithms = async () => (await (await fetch(`${here.origin}/v1/algorithms`)).json()).algorithms;

test("every algorithm yields an answer from its example", { timeout: 1_800_000 }, async () => {
  for (const { name } of await algorithms()) {
    await on(`#/${name}`, {}, async (page) => {
      await answered(page, name);
      assert.match(await figure(page), /\d/);
      assert.equal(await page.locator("#problem").textContent(), "");
      assert.match(await page.textContent("#spoken"), /Epsilon is at most/);
      assert.ok((await page.locator("#controls input[type=range]").count()) > 3);
    });
  }
});

test("a slider changes the number and its box, and stale answers never show", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    const first = await figure(page);
    await forget(page);
    const slider = page.locator("#f-epsilon-slider");
    await slider.focus();
    for (let step = 0; step < 20; step += 1) await slider.press("ArrowRight");
    await answered(page, "gaussian");
    await page.waitForFunction((before_) => document.querySelector("#figures .lead .figure").textContent !== before_, first);
    const epsilon = Number(await page.inputValue("#f-epsilon"));
    assert.ok(epsilon > 1);
    await page.waitForFunction((said) => document.getElementById("spoken").textContent.includes(said), "at most 1.8");
    assert.ok(Number(await figure(page)) < Number(first));
  });
});

test("what is solved for can be changed, and the number found before is given", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    const noise = Number(await figure(page));
    await forget(page);
    await page.selectOption("#f-solve_for", JSON.stringify("epsilon"));
    await answered(page, "gaussian");
    assert.equal(await page.locator("#f-epsilon").count(), 0);
    assert.ok(Math.abs(Number(await page.inputValue("#f-noise_multiplier")) - noise) < 0.01);
    assert.ok(Math.abs(Number(await figure(page)) - 1) < 0.01);
  });
});

test("a value that cannot be is told beside its field, and what is nearest is one click away", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.fill("#f-rate", "7");
    await page.waitForSelector("#f-rate[aria-invalid=true]");
    assert.match(await page.textContent("#f-rate-problem"), /allowed/);
    await page.fill("#f-rate", "0.5");
    await answered(page, "gaussian");
    assert.equal(await page.textContent("#f-rate-problem"), "");
  });
  const tight = "#/gaussian?solve_for=rounds&relation=add-or-remove-one&unit=record&observer=released-models&sampling=poisson&rate=0.5&noise_multiplier=1&epsilon=0.01&delta=1e-6";
  await on(tight, {}, async (page) => {
    const button = page.locator(".nearest button");
    await button.first().click();
    await answered(page, "gaussian");
    assert.equal(await page.locator(".nearest").count(), 0);
  });
});

test("the address holds the state and loads back exactly", async () => {
  const hash = "#/projected-sgd?epsilon=0.7&delta=3e-7&clients=100&participants=10&dimension=20&lipschitz=1&radius=1&smoothness=2&step_schedule.kind=constant&step_schedule.value=0.25&relation=replace-one&unit=record&observer=final-model";
  await on(hash, {}, async (page) => {
    await answered(page, "projected-sgd");
    const shown = await figure(page);
    const address = await page.evaluate(() => location.hash);
    await on(address, {}, async (other) => {
      await answered(other, "projected-sgd");
      assert.equal(await other.evaluate(() => location.hash), address);
      assert.equal(await figure(other), shown);
      assert.equal(await other.inputValue("#f-step_schedule-value"), "0.25");
      assert.equal(await other.inputValue("#f-delta"), "3e-7");
    });
  });
});

test("a name in the address is never code in the copied call", async () => {
  const name = 'x=exec("raise SystemExit(3)"), y';
  const odd = [name, "lambda", "two words", "ünlaut"];
  const query = odd.map((each) => `${encodeURIComponent(each)}=1`).join("&");
  await on(`#/mb-sgd?${query}&clients=null`, {}, async (page) => {
    await page.waitForFunction(() => document.getElementById("text-python")?.textContent.includes("epsilond.calibrate"));
    const python = await page.textContent("#text-python");
    const read = `
import ast, json, sys
(call,) = [each for each in ast.walk(ast.parse(sys.stdin.read())) if isinstance(each, ast.Call) and ast.unparse(each.func) == "epsilond.calibrate"]
found = {}
for each in call.keywords:
    found |= {each.arg: ast.literal_eval(each.value)} if each.arg else ast.literal_eval(each.value)
print(json.dumps(found))`;
    const found = JSON.parse(execFileSync(PYTHON, ["-c", read], { encoding: "utf8", input: python }));
    for (const each of odd) assert.equal(found[each], 1);
    assert.equal(found.clients, null);
  });
});

test("an address that is not an address shows the first algorithm", async () => {
  const [first] = await algorithms();
  for (const hash of ["#/%E0%A4%A", "#/%", "#/nothing?%=%", "#?", "#/"]) {
    await on(hash, {}, async (page) => {
      await answered(page, first.name);
      assert.match(await figure(page), /\d/);
    });
  }
});

test("the copied calls give what is on the screen", async () => {
  await on(QUICK, { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await answered(page, "gaussian");
    const shown = await figure(page);
    await page.click("#copy-curl");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const answer = JSON.parse(execFileSync("sh", ["-c", copied], { encoding: "utf8" }));
    assert.equal(answer.parameters.noise_multiplier.toPrecision(4), shown);
    const python = await page.textContent("#text-python");
    const printed = execFileSync(PYTHON, ["-c", python], { encoding: "utf8", cwd: ROOT });
    assert.ok(printed.includes(String(answer.parameters.noise_multiplier)));
    const script = await page.textContent("#text-typescript");
    const logged = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    assert.ok(logged.includes(String(answer.parameters.noise_multiplier)));
  });
});

test("every picture is drawn, with its numbers in a table", { timeout: 900_000 }, async () => {
  await on("#/mb-sgd", {}, async (page) => {
    await answered(page, "mb-sgd");
    for (const id of ["plot-noise", "plot-rounds", "plot-course", "plot-profile", "plot-risk"]) {
      const press = page.locator(`#${id} .note button`);
      await page.waitForSelector(`#${id} .note button, #${id} canvas`);
      if (await press.count()) await press.click();
      await page.waitForSelector(`#${id} canvas`);
      await page.waitForFunction((each) => document.querySelectorAll(`#${each} tbody tr`).length > 4, id);
      assert.match(await page.getAttribute(`#${id} .plot`, "aria-label"), /from .* to /);
    }
    const words = await page.textContent("#printed");
    assert.match(words, /Proved/);
    assert.match(words, /Refuted/);
    await shoot(page, "desktop-light");
  });
});

test("the picture of ε over the run stops where the run does, at what the accountant says", { timeout: 900_000 }, async () => {
  const hash = "#/gaussian?solve_for=noise_multiplier&relation=add-or-remove-one&unit=record&observer=released-models&sampling=poisson&rate=0.01&rounds=1000&epsilon=2&delta=1e-5";
  await on(hash, {}, async (page) => {
    await answered(page, "gaussian");
    await page.waitForSelector("#plot-course[data-state=complete] canvas");
    const note = await page.textContent("#plot-course .note");
    assert.match(note, /stops: after 1,000 rounds, 10 epochs, at ε ≤ 2/);
    const rows = await page.locator("#plot-course tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => Number(cell.textContent))));
    assert.ok(rows.length > 8 && rows.every(([, epsilon], index) => index === 0 || epsilon >= rows[index - 1][1]), "ε grows with the epochs");
    const ask = async (path, body) => (await fetch(`${here.origin}/v1/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
    const setting = { relation: "add-or-remove-one", unit: "record", observer: "released-models" };
    const { parameters } = await ask("calibrations/gaussian", { ...setting, solve_for: "noise_multiplier", sampling: "poisson", rate: 0.01, rounds: 1000, epsilon: 2, delta: 1e-5 });
    const mechanism = { kind: "subsampled", sampling: "poisson", rate: 0.01, mechanism: { kind: "gaussian", noise_multiplier: parameters.noise_multiplier } };
    const { guarantee } = await ask("accounts", { ...setting, spec: { kind: "repeated", times: 2000, mechanism }, query: { delta: 1e-5 } });
    const [epochs, epsilon] = rows.at(-1);
    assert.equal(epochs, 20);
    assert.ok(Math.abs(epsilon / guarantee.epsilon.upper - 1) < 1e-3, `${epsilon} is drawn for ${guarantee.epsilon.upper}`);
    await shoot(page, "explorer-course");
  });
});

test("a bound that is no better than the start is marked", async () => {
  const hash = "#/mb-sgd?epsilon=0.05&delta=1e-5&samples_per_client=1000&clients=50&participants=25&dimension=100000000&lipschitz=1&diameter=2&smoothness=1&batch_size=100&rounds=100&relation=replace-one&unit=record&observer=server";
  await on(hash, {}, async (page) => {
    await answered(page, "mb-sgd");
    assert.match(await page.textContent(".vacuous .silent"), /Says nothing: no better than the start \(L·D = 2\)/);
    assert.match(await page.textContent("#brief"), /says nothing/);
    const room = await page.locator(".vacuous .silent").evaluate((mark) => [mark.scrollWidth, mark.clientWidth, mark.scrollHeight, mark.clientHeight]);
    assert.ok(room[0] <= room[1] && room[2] <= room[3], `the mark is cut off: ${room}`);
    assert.match(await page.textContent("#printed"), /Its risk, at most.*no better than the start/);
  });
});

test("open rounds show what fewer of them cost", async () => {
  const open = "#/one-pass-accelerated-mb-sgd?epsilon=1&delta=1e-6&samples_per_client=1000&clients=50&dimension=10&lipschitz=1&diameter=2&smoothness=1&relation=replace-one&unit=record&observer=server";
  await on(open, {}, async (page) => {
    await answered(page, "one-pass-accelerated-mb-sgd");
    await page.waitForSelector("#plot-frontier canvas");
    assert.match(await page.getAttribute("#plot-frontier .plot", "aria-label"), /from .* to /);
    assert.ok((await page.locator("#plot-frontier tbody tr").count()) >= 5);
    assert.match(await page.textContent("#plot-frontier table"), /the answer, certified/);
    assert.match(await page.textContent("#plot-frontier .note"), /rounds and .* bits from a client/);
    await shoot(page, "frontier");
  });
  await on(`${open}&rounds=10&batch_size=100`, {}, async (page) => {
    await answered(page, "one-pass-accelerated-mb-sgd");
    assert.equal(await page.locator("#plot-frontier").isVisible(), false);
  });
});

test("DP-FedAvg shows its rounds, its profile and what it does not cover", async () => {
  await on("#/dp-fedavg", {}, async (page) => {
    await answered(page, "dp-fedavg");
    assert.match(await page.textContent("main"), /fixed beforehand/);
  });
  const open = "epsilon=2&delta=1e-8&clients=1000000&participants=10000&dimension=1000000&clipping_norm=1&relation=add-or-remove-one&unit=client&observer=released-models";
  await on(`#/dp-fedavg?${open}`, {}, async (page) => {
    await answered(page, "dp-fedavg");
    await page.waitForSelector("#plot-frontier canvas");
    assert.match(await page.textContent("#plot-frontier .note"), /The answer takes 2,000 rounds/);
    await shoot(page, "dp-fedavg");
  });
});

test("all algorithms are compared", { timeout: 900_000 }, async () => {
  await on("#/mb-sgd", {}, async (page) => {
    await answered(page, "mb-sgd");
    await page.click("#compare-start");
    await page.waitForFunction(() => document.querySelector("#compare [role=status]").textContent === "All have answered.", null, { timeout: 600_000 });
    assert.ok((await page.locator("#compared tbody tr").count()) >= 9);
    const kinds = await page.locator("#compared .kind").evaluateAll((all) => all.map((each) => [each.querySelector("h3").textContent, each.querySelectorAll(".dot").length]));
    assert.equal(new Set(kinds.map(([heading]) => heading)).size, kinds.length);
    assert.ok(kinds.filter(([heading]) => /protects one (record|client)/.test(heading)).length >= 4);
    assert.ok(kinds.some(([, dots]) => dots >= 2) && kinds.every(([, dots]) => dots !== 1), "dots are only set beside one another");
    assert.match(await page.textContent("#recommended h3"), /^Recommended: /);
    assert.equal(await page.locator("#recommended tbody tr").count(), 4);
    assert.doesNotMatch(await page.textContent("#compare"), /\b(mb-sgd|dp-fedavg|deadline-exceeded)\b/);
    await page.check("input[value=bits]");
    assert.match(await page.textContent("#compared"), /bit/);
    await shoot(page, "compared");
  });
});

test("the risk bounds of all algorithms are listed", { timeout: 900_000 }, async () => {
  await on("#/mb-sgd", {}, async (page) => {
    await answered(page, "mb-sgd");
    await page.click("#bounds-start");
    await page.waitForFunction(() => /have bounds/.test(document.querySelector("#bounds [role=status]").textContent), null, { timeout: 600_000 });
    const shown = await page.locator("#bounded [data-algorithm]").evaluateAll((all) => all.map((each) => each.dataset.algorithm));
    const without = await page.locator("#bounded [role=region] caption").evaluateAll((all) => all.filter((each) => /without/.test(each.textContent)).length);
    assert.ok(shown.includes("mb-sgd") && shown.length >= 9);
    assert.equal(without, shown.length < (await algorithms()).length ? 1 : 0);
    assert.match(await page.textContent("#bounded [data-algorithm=mb-sgd]"), /At most [\d.]+/);
    assert.match(await page.textContent("#bounded"), /No method is below the order of/);
    await page.fill("#f-epsilon", "2");
    await page.waitForFunction(() => /previous numbers/.test(document.querySelector("#bounds [role=status]").textContent));
    await shoot(page, "bounded");
  });
});

test("the keyboard alone is enough", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "answer");
    assert.match(await page.evaluate(() => location.hash), /^#\/gaussian/);
    await page.evaluate(() => document.activeElement.blur());
    const reached = new Set();
    await page.locator("#algorithm").focus();
    for (let step = 0; step < 70; step += 1) {
      await page.keyboard.press("Tab");
      const [tag, id, outline] = await page.evaluate(() => {
        const { tagName, id: name } = document.activeElement;
        return [tagName, name, getComputedStyle(document.activeElement).outlineStyle];
      });
      if (tag !== "BODY") assert.notEqual(outline, "none", `${tag} ${id}`); // past the last one, the window has it
      reached.add(id);
    }
    for (const id of ["f-epsilon", "f-epsilon-slider", "f-rounds", "reset", "compare-start", "copy-curl"]) assert.ok(reached.has(id), id);
    await page.locator("#theme").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  });
});

test("an access key is sent to the service and kept for the tab alone", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.click("#access summary");
    await page.fill("#key", "a-key");
    const isSigned = (request) => request.method() === "POST" && request.headers().authorization === "Bearer a-key";
    const signed = page.waitForRequest(isSigned); // a question of before the key may still be on its way
    await page.click("#key-form button");
    await signed;
    const kept = await page.evaluate(() => [JSON.stringify(localStorage), location.href, document.getElementById("text-curl").textContent]);
    for (const each of kept) assert.ok(!each.includes("a-key"));
  });
});

for (const [name, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }],
  ["phone-dark", { viewport: { width: 360, height: 740 }, colorScheme: "dark" }],
]) {
  test(`axe finds nothing serious, and nothing is cut off: ${name}`, async () => {
    await on("#/ppsgd", options, async (page) => {
      await answered(page, "ppsgd");
      await page.waitForSelector("#plot-profile canvas");
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = each.id !== "access")));
      assert.deepEqual(await serious(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.evaluate(() => document.querySelectorAll("details:not(.all, .warnings)").forEach((each) => (each.open = false)));
      await shoot(page, name);
    });
  });
}
