// What readers of the page ask for: who may look, ε as a bet, a policy's limit, several runs, what can be saved; the states.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PYTHON, answered, figure, forget, serious, shoot, site } from "./service.js";

const QUICK = "#/gaussian?solve_for=noise_multiplier&relation=add-or-remove-one&unit=record&observer=released-models&sampling=poisson&rate=0.01&rounds=1000&epsilon=1&delta=1e-6";
const TIGHT = "#/gaussian?solve_for=rounds&relation=add-or-remove-one&unit=record&observer=released-models&sampling=poisson&rate=0.5&noise_multiplier=1&epsilon=0.01&delta=1e-6";
const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 } };

const here = site();
const on = (hash, options, body, prepare) => here.on(hash, { ...DESKTOP, ...options }, body, prepare);

const post = async (path, body) =>
  (await fetch(`${here.origin}/${path}`, { method: "POST", headers: { "content-type": "application/json", prefer: "wait=60" }, body: JSON.stringify(body) })).json();
const standing = (page, state) => page.waitForSelector(`#answer[data-state="${state}"]`);
const stations = (page) => page.locator(".station").evaluateAll((all) => all.map((each) => [each.className.split(" ")[1], each.querySelector("strong").textContent]));

test("whose data is protected, and who looks, is chosen on top and drawn", async () => {
  await on(QUICK.replace("released-models", "server"), {}, async (page) => {
    await answered(page, "gaussian");
    assert.deepEqual(await stations(page), [["trusted", "Each client"], ["observer", "Server"]]);
    assert.equal(await page.locator(".group").first().locator("summary .legend").textContent(), "Protected unit and observer");
    await forget(page);
    await page.selectOption("#f-observer", JSON.stringify("released-models"));
    await answered(page, "gaussian");
    assert.deepEqual(await stations(page), [["trusted", "Each client"], ["trusted", "Server"], ["observer", "Anyone"]]);
    const record = Number(await figure(page));
    await forget(page);
    await page.selectOption("#f-unit", JSON.stringify("client"));
    await answered(page, "gaussian");
    assert.match(await page.textContent(".adversary figcaption"), /all data of one client/);
    assert.equal(Number(await figure(page)), record);
    await shoot(page, "adversary");
  });
  await on("#/mb-sgd?observer=final-model", {}, async (page) => {
    await page.waitForSelector("#f-observer"); // the page listens to its buttons from then on
    await page.click("#reset");
    await answered(page, "mb-sgd");
    await forget(page);
    await page.selectOption("#f-observer", JSON.stringify("final-model"));
    await answered(page, "mb-sgd");
    assert.deepEqual(await stations(page), [["trusted", "Each client"], ["plain", "Server"], ["observer", "Anyone"]]);
  });
});

test("ε is told as a bet, rounded against us", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    assert.match(await page.textContent(".odds"), /right at most 73\.2 % of the time/); // e/(1 + e) = 0.73106
    await forget(page);
    await page.fill("#f-epsilon", "8");
    await answered(page, "gaussian");
    assert.match(await page.textContent(".odds"), /right at most 100 % of the time/); // 0.99966
    await forget(page);
    await page.fill("#f-epsilon", "0.1");
    await answered(page, "gaussian");
    assert.match(await page.textContent(".odds"), /right at most 52\.5 % of the time/); // 0.52498
  });
});

test("a policy's limit is judged, drawn and kept in this browser", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.waitForSelector("#plot-noise canvas");
    assert.equal(await page.textContent(".judged"), "");
    await page.fill("#limit", "2");
    assert.match(await page.textContent(".judged"), /Kept: ε is at most 1\./);
    assert.match(await page.textContent("#plot-noise .legend"), /your limit, ε = 2/);
    await page.waitForSelector("#plot-profile .limited");
    assert.equal(await page.locator("#plot-rounds .limited").count(), 0); // ε is on neither of its axes
    await page.fill("#limit", "0.5");
    assert.match(await page.textContent(".judged"), /Broken: ε is at least 0\.999/);
    await page.fill("#limit", "two");
    assert.equal(await page.textContent(".judged"), "");
    assert.equal(await page.locator("#limit[data-unread]").count(), 1);
    await page.fill("#limit", "0.5");
    await page.reload();
    await answered(page, "gaussian");
    assert.equal(await page.inputValue("#limit"), "0.5");
    assert.match(await page.textContent(".judged"), /Broken/);
    assert.doesNotMatch(await page.evaluate(() => location.hash), /limit/);
    await shoot(page, "limit");
  });
});

test("what several runs lose is composed as one where the run is known, and added up where it is not", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.click("#again summary");
    await page.waitForSelector("#again tbody");
    const shown = await page.locator("#again tbody td:nth-child(2)").allTextContents();
    const { parameters } = await post("v1/calibrations/gaussian", { solve_for: "noise_multiplier", relation: "add-or-remove-one", unit: "record", observer: "released-models", sampling: "poisson", rate: 0.01, rounds: 1000, epsilon: 1, delta: 1e-6 });
    const step = { kind: "subsampled", sampling: "poisson", rate: 0.01, mechanism: { kind: "gaussian", noise_multiplier: parameters.noise_multiplier } };
    const { guarantee } = await post("v1/accounts", { spec: { kind: "repeated", times: 8000, mechanism: step }, relation: "add-or-remove-one", unit: "record", observer: "released-models", query: { delta: 1e-6 } });
    assert.equal(shown.length, 4);
    assert.ok(Number(shown[3]) >= guarantee.epsilon.lower && Number(shown[3]) < guarantee.epsilon.upper * 1.001);
    assert.match(await page.textContent("#again"), /All runs are composed/);
    await shoot(page, "again");
  });
  await on("#/shuffled-mb-sgd", {}, async (page) => {
    await answered(page, "shuffled-mb-sgd");
    await page.click("#again summary");
    await page.waitForSelector("#again tbody");
    const [once, twice] = await page.locator("#again tbody td:nth-child(2)").allTextContents();
    assert.ok(Math.abs(Number(twice) - 2 * Number(once)) < 0.002 * Number(twice));
    assert.match(await page.textContent("#again"), /added up/);
  });
});

test("the report that is saved is verified, and the answer that is saved is the answer", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    const saving = async (button) => {
      const download = page.waitForEvent("download");
      await page.click(button);
      return download;
    };
    const report = await saving("#save-report");
    assert.equal(report.suggestedFilename(), "gaussian.html");
    const path = await report.path();
    const told = execFileSync(PYTHON, ["-m", "epsilond", "verify", path], { encoding: "utf8", cwd: new URL("../..", import.meta.url) });
    assert.match(told, /ε|epsilon/);
    assert.match(readFileSync(path, "utf8"), /<html/);
    const answer = await saving("#save-answer");
    assert.equal(answer.suggestedFilename(), "gaussian.json");
    const saved = JSON.parse(readFileSync(await answer.path(), "utf8"));
    assert.equal(saved.parameters.noise_multiplier.toPrecision(4), await figure(page));
    assert.deepEqual(saved, await post("v1/calibrations/gaussian", { solve_for: "noise_multiplier", relation: "add-or-remove-one", unit: "record", observer: "released-models", sampling: "poisson", rate: 0.01, rounds: 1000, epsilon: 1, delta: 1e-6 }));
    assert.equal(await page.textContent("#downloads .told"), "Saved");
    await page.fill("#f-rate", "7"); // what was answered is not what is asked now
    await standing(page, "invalid");
    assert.ok(await page.isDisabled("#save-report"));
    assert.ok(await page.isDisabled("#save-answer"));
  });
});

test("invalid, infeasible and partial look like what they are, on the service's own answers", async () => {
  await on(TIGHT, {}, async (page) => {
    await standing(page, "infeasible");
    assert.match(await page.getAttribute("#problem .card", "class"), /infeasible/);
    assert.ok((await page.locator(".nearest button").count()) >= 1);
    assert.deepEqual(await serious(page), []);
    await shoot(page, "real-infeasible");
    await page.fill("#f-epsilon", "-1");
    await standing(page, "invalid");
    assert.match(await page.textContent("#problem .wrong"), /Epsilon/);
    await page.click("#problem .wrong button");
    assert.equal(await page.evaluate(() => document.activeElement.id), "f-epsilon");
  });
  let let_go;
  const held = new Promise((resolve) => (let_go = resolve));
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.waitForSelector('#plot-rounds[data-state="partial"]');
    assert.match(await page.textContent("#plot-rounds .note"), /Drawing/);
    await page.waitForSelector('#plot-profile[data-state="complete"]');
    assert.notEqual(await page.locator("#plot-rounds").evaluate((each) => getComputedStyle(each).borderTopStyle), await page.locator("#plot-profile").evaluate((each) => getComputedStyle(each).borderTopStyle));
    let_go();
    await page.waitForSelector('#plot-rounds[data-state="complete"]');
  }, (page) => page.route("**/v1/calibrations/gaussian/sweeps", async (route) => {
    await held;
    await route.continue();
  }));
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.click("#compare-start");
    await page.waitForSelector('#compared[data-state="partial"]');
    assert.match(await page.textContent("#compare [role=status]"), /^\d+ of \d+ have answered; the others say why not\.$/);
    assert.match(await page.textContent("#compared .kind:last-child"), /Not known: it took too long/);
    await shoot(page, "partial");
  }, (page) => page.route("**/v1/plans", async (route) => {
    const plan = await post("v1/plans", route.request().postDataJSON());
    Object.assign(plan.entries[0], { applies: "undecidable", why: [{ message: "it took too long" }] });
    await route.fulfill({ json: plan });
  }));
});

test("a field that is wrong is shown where its group is folded", async () => {
  await on("#/mb-sgd", PHONE, async (page) => {
    await answered(page, "mb-sgd");
    const groups = await page.locator(".group").evaluateAll((all) => all.map((each) => [each.querySelector(".legend").textContent, each.open]));
    assert.deepEqual(groups, [["Protected unit and observer", false], ["Privacy goal", true], ["The run", false], ["The learning problem", false]]);
    assert.match(await page.locator(".group .digest").nth(2).textContent(), /^n\u00a01,000, N\u00a050/);
    const fold = await page.evaluate(() => document.getElementById("answer").getBoundingClientRect().top);
    assert.ok(fold < 2 * PHONE.viewport.height, `the answer begins ${fold} pixels down`);
  });
  await on("#/mb-sgd?rounds=-3&epsilon=1", PHONE, async (page) => {
    await standing(page, "invalid");
    await page.waitForSelector("#f-rounds[aria-invalid=true]:visible");
  });
});

test("the form says what is below its fold, and shows it", async () => {
  await on("#/mb-sgd", {}, async (page) => {
    await answered(page, "mb-sgd");
    const foot = await page.locator("#controls").evaluate((each) => each.getBoundingClientRect().bottom);
    assert.ok(foot <= DESKTOP.viewport.height, `the panel ends ${foot} pixels down`);
    assert.match(await page.textContent("#below"), /^\d+ more below ↓$/);
    const cut = await page.evaluate(() => {
      const bar = document.getElementById("below").getBoundingClientRect().top;
      return document.elementFromPoint(200, bar + 5).id;
    });
    assert.equal(cut, "below");
    await page.click("#below");
    await page.waitForFunction(() => document.getElementById("controls").scrollTop > 0);
    await page.evaluate(() => {
      for (let step = 0; step < 6; step += 1) document.getElementById("below").click();
    });
    await page.waitForSelector("#below.gone", { state: "attached" });
    assert.ok(await page.locator("#reset").evaluate((each) => each.getBoundingClientRect().bottom < innerHeight));
  });
});

test("the ring of a slider covers nothing beside it", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    await page.focus("#f-epsilon");
    await page.keyboard.press("Tab");
    const found = await page.evaluate(() => {
      const range = document.activeElement;
      const { outlineWidth, outlineOffset, outlineStyle } = getComputedStyle(range);
      const { top, bottom } = range.getBoundingClientRect();
      const reach = parseFloat(outlineWidth) + parseFloat(outlineOffset);
      const beside = [document.getElementById("f-epsilon"), document.getElementById("f-epsilon-about")].map((each) => each.getBoundingClientRect());
      return { id: range.id, outlineStyle, clear: top - reach >= beside[0].bottom && bottom + reach <= beside[1].top };
    });
    assert.deepEqual(found, { id: "f-epsilon-slider", outlineStyle: "solid", clear: true });
  });
});

test("the contents lead to each part, and the address stays what it is", async () => {
  await on(QUICK, {}, async (page) => {
    await answered(page, "gaussian");
    const links = page.locator(".outline a:visible");
    assert.ok((await links.count()) >= 6);
    for (let place = 0; place < (await links.count()); place += 1) {
      const id = (await links.nth(place).getAttribute("href")).slice(1);
      await links.nth(place).click();
      assert.equal(await page.evaluate(() => document.activeElement.id), id);
      assert.ok(await page.locator(`#${id}`).evaluate((each) => each.getBoundingClientRect().top < innerHeight));
    }
    assert.match(await page.evaluate(() => location.hash), /^#\/gaussian\?/);
  });
});
