// What the page does while there is no answer yet. The service is real; what takes long is scripted between it and the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, figure, serious, shoot, site } from "./service.js";

const QUICK = "#/gaussian?solve_for=noise_multiplier&relation=add-or-remove-one&unit=record&observer=released-models&sampling=poisson&rate=0.01&rounds=1000&epsilon=1&delta=1e-6";
const SLOW = "#/shuffled-mb-sgd?epsilon=1&delta=1e-12&samples_per_client=10&clients=1000000&participants=2000&dimension=20&lipschitz=1&diameter=2&smoothness=1&batch_size=1&rounds=500&relation=replace-one&unit=record&observer=shuffled-server";
const BODY = { solve_for: "noise_multiplier", relation: "add-or-remove-one", unit: "record", observer: "released-models", sampling: "poisson", rate: 0.01, rounds: 1000, epsilon: 1, delta: 1e-6 };
const CALIBRATIONS = "**/v1/calibrations/gaussian";
const JOBS = "**/v1/jobs/**";
const PROBLEM = "application/problem+json";
const BUSY = { type: "/problems/too-many-requests", title: "Too many computations are waiting", status: 429, detail: "Too many." };
const INFEASIBLE = { type: "/problems/infeasible", title: "The target cannot be met", status: 409, detail: "No number of rounds meets it." };
const FAILED = { type: "/problems/internal-error", title: "The service failed", status: 500, detail: "Its logs have this request." };

const here = site();

const job = (id, state, more = {}) => ({ id, kind: "calibration", name: "gaussian", state, links: { self: `/v1/jobs/${id}` }, ...more });
const progress = { done: 3, of: 10, seconds_spent: 75, seconds_left: 20 };
const told = (each) => `event: progress\nid: 1\ndata: ${JSON.stringify(each)}\n\n`;

/**
 * Makes questions of a page become jobs, but those of pictures. `seen` has what was asked of them: the headers of POST, GET,
 * events and DELETE; `end(state, problem)` lets the job end that is looked at; `through` lets questions through.
 */
async function scripted(page) {
  const seen = { posts: [], looks: [], events: [], deletes: [] };
  const ends = new Map();
  const ending = (id) => {
    if (!ends.has(id)) {
      const each = {};
      each.promise = new Promise((resolve) => (each.resolve = resolve));
      ends.set(id, each);
    }
    return ends.get(id);
  };
  const script = { seen, through: false, end: (id, state, problem) => ending(id).resolve({ state, problem }) };
  await page.route(CALIBRATIONS, async (route) => {
    if (script.through) return route.continue();
    seen.posts.push(route.request());
    const found = job(`job_${seen.posts.length}`, "queued");
    return route.fulfill({ status: 202, json: found, headers: { location: `/v1/jobs/${found.id}`, "retry-after": "1" } });
  });
  await page.route(JOBS, async (route) => {
    const request = route.request();
    const [, id, rest] = /\/v1\/jobs\/(\w+)\/?(\w*)$/.exec(request.url());
    if (request.method() === "DELETE") {
      seen.deletes.push(id);
      return route.fulfill({ json: job(id, "cancelled") });
    }
    if (rest === "events") {
      seen.events.push(request);
      return route.fulfill({ contentType: "text/event-stream", body: told(job(id, "running", { progress })) });
    }
    if (rest === "result") {
      const answer = await fetch(`${here.origin}/v1/calibrations/gaussian`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(BODY) });
      return route.fulfill({ json: await answer.json() });
    }
    seen.looks.push(request);
    const { state, problem } = await ending(id).promise;
    return route.fulfill({ json: job(id, state, problem ? { problem } : {}) }).catch(() => {}); // it may have been given up
  });
  return script;
}

async function on(options, body, hash = QUICK) {
  let script;
  await here.on(hash, options, (page) => body(page, script), async (page) => (script = await scripted(page)));
}

const standing = (page, state) => page.waitForSelector(`#answer[data-state="${state}"]`);

for (const colorScheme of ["light", "dark"]) {
  test(`a long question is computed as a job, whose answer is shown: ${colorScheme}`, async () => {
    await on({ colorScheme }, async (page, script) => {
      await standing(page, "computing");
      await page.waitForSelector(".progress progress:visible");
      assert.equal(await page.textContent(".progress h3"), "Computing Gaussian mechanism at ε = 1, δ = 10⁻⁶");
      assert.match(await page.textContent(".progress"), /3 of 10 done, 1 min 1[5-9] s so far, about (20|1\d) s left/);
      assert.deepEqual(await page.locator(".progress progress").evaluate(({ value, max }) => [value, max]), [3, 10]);
      assert.equal(await page.getAttribute("#answer", "aria-busy"), "true");
      assert.match(await page.textContent("#spoken"), /^Computing Gaussian mechanism/);
      assert.equal(await page.getAttribute("#spoken", "aria-live"), "polite");
      assert.doesNotMatch(await page.textContent("body"), /no answer|deadline/i);
      assert.deepEqual(await serious(page), []);
      await shoot(page, `computing-${colorScheme}`);
      script.end("job_1", "done");
      await answered(page, "gaussian");
      assert.match(await figure(page), /\d/);
      assert.equal(await page.locator(".progress").count(), 0);
      const headers = await script.seen.posts[0].allHeaders();
      assert.equal(headers.prefer, "wait=2");
      assert.match(headers["idempotency-key"], /^[0-9a-f]{32}$/);
      assert.match((await script.seen.looks[0].allHeaders()).prefer, /^wait=\d+$/);
      assert.deepEqual(script.seen.deletes, []);
    });
  });
}

test("a computation can be cancelled, and asked for again", async () => {
  await on({}, async (page, script) => {
    await standing(page, "computing");
    const gone = page.waitForRequest((request) => request.method() === "DELETE");
    await page.click("#cancel");
    assert.match((await gone).url(), /\/v1\/jobs\/job_1$/);
    await standing(page, "cancelled");
    assert.match(await page.textContent(".progress"), /Cancelled.*was not computed/);
    assert.equal(await page.evaluate(() => document.activeElement.id), "ask-again");
    assert.deepEqual(await serious(page), []);
    script.through = true;
    await page.keyboard.press("Enter");
    await answered(page, "gaussian");
    assert.equal(await page.locator(".progress").count(), 0);
  });
});

test("a number that is moved cancels the job of the question before, and one that has ended is left alone", async () => {
  await on({}, async (page, script) => {
    await standing(page, "computing");
    const gone = page.waitForRequest((request) => request.method() === "DELETE");
    await page.fill("#f-epsilon", "2");
    await gone;
    await page.waitForFunction(() => document.querySelector(".progress h3")?.textContent.includes("ε = 2"));
    script.end("job_2", "done");
    await answered(page, "gaussian");
    await page.fill("#f-epsilon", "3");
    await page.waitForFunction(() => document.querySelector(".progress h3")?.textContent.includes("ε = 3"));
    assert.equal(await page.isVisible("#stale"), true);
    assert.deepEqual(await serious(page), []);
    script.end("job_3", "done");
    await answered(page, "gaussian");
    assert.equal(await page.isVisible("#stale"), false);
    assert.deepEqual(script.seen.deletes, ["job_1"]);
  });
});

test("a page that is left cancels its job, and asks again where it is come back to", async () => {
  await on({}, async (page, script) => {
    await standing(page, "computing");
    const gone = page.waitForRequest((request) => request.method() === "DELETE");
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })));
    await gone;
    script.through = true;
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
    await answered(page, "gaussian");
  });
});

test("the key goes along with events, looks and cancellation", async () => {
  await on({}, async (page, script) => {
    await standing(page, "computing");
    await page.click("#access summary");
    await page.fill("#key", "a-key");
    const sent = [/job_2\/events$/, /job_2$/].map((address) => page.waitForRequest(address));
    await page.click("#key-form button");
    for (const request of await Promise.all(sent)) {
      assert.equal((await request.allHeaders()).authorization, "Bearer a-key");
    }
    const gone = page.waitForRequest((request) => request.method() === "DELETE" && request.url().endsWith("job_2"));
    await page.click("#cancel");
    assert.equal((await (await gone).allHeaders()).authorization, "Bearer a-key");
  });
});

test("the problem of a job is told in its own words, and the states look different", async () => {
  const looks = new Map();
  const look = async (page, state) => {
    await standing(page, state);
    const card = page.locator("#problem .card, .progress.card").first();
    looks.set(state, await card.evaluate((each) => {
      const { backgroundColor, borderTopColor, borderTopStyle, borderLeftColor } = getComputedStyle(each);
      return [backgroundColor, borderTopColor, borderTopStyle, borderLeftColor].join();
    }));
    assert.deepEqual(await serious(page), []);
    await shoot(page, `state-${state}`);
  };
  await on({}, async (page, script) => {
    await look(page, "computing");
    script.end("job_1", "failed", INFEASIBLE);
    await look(page, "infeasible");
    assert.match(await page.textContent("#problem"), /The target cannot be met\s*No number of rounds meets it\./);
    assert.equal(await page.getAttribute("#answer", "aria-busy"), "false");
    await page.fill("#f-epsilon", "2");
    await standing(page, "computing");
    script.end("job_2", "failed", FAILED);
    await look(page, "failed");
    assert.match(await page.textContent("#problem"), /The service failed\s*Its logs have this request\./);
    script.through = true;
    await page.fill("#f-epsilon", "-2");
    await look(page, "invalid");
    await page.fill("#f-epsilon", "2");
    await answered(page, "gaussian");
    assert.equal(await page.locator("#problem .card").count(), 0);
  });
  assert.equal(new Set(looks.values()).size, looks.size, JSON.stringify([...looks]));
});

test("a job that somebody else cancels is told, and can be asked for again", async () => {
  await on({}, async (page, script) => {
    await standing(page, "computing");
    script.end("job_1", "cancelled");
    await standing(page, "failed");
    assert.match(await page.textContent("#problem"), /was cancelled/);
    script.through = true;
    await page.click("#problem .again");
    await answered(page, "gaussian");
  });
});

test("a busy service is asked again after a while that can be seen", async () => {
  const opened = await here.open("", { blank: true });
  const { page } = opened;
  const keys = [];
  await page.route(CALIBRATIONS, async (route) => {
    keys.push((await route.request().allHeaders())["idempotency-key"]);
    if (keys.length > 2) return route.continue();
    return route.fulfill({ status: 429, contentType: PROBLEM, headers: { "retry-after": keys.length === 1 ? "0" : "200" }, body: JSON.stringify(BUSY) });
  });
  await page.goto(`${here.origin}/${QUICK}`);
  await page.waitForFunction(() => /The question is sent again in (3 min \d+|2 min \d+) s/.test(document.querySelector(".progress")?.textContent));
  await standing(page, "busy");
  assert.match(await page.textContent(".progress h3"), /Too many computations are waiting/);
  assert.match(await page.textContent("#spoken"), /Too many computations are waiting/);
  const before_ = await page.textContent(".progress p");
  await page.waitForFunction((text) => document.querySelector(".progress p").textContent !== text, before_);
  assert.deepEqual(await serious(page), []);
  await shoot(page, "state-busy");
  await page.click("#ask-now");
  await answered(page, "gaussian");
  assert.equal(new Set(keys).size, 1);
  assert.equal(keys.length, 3);
  assert.deepEqual(opened.wrong, []);
  await opened.close();
});

test("a network that fails is borne while a job runs, and told of a question", async () => {
  await on({}, async (page, script) => {
    await standing(page, "computing");
    await page.unroute(JOBS);
    await page.route(JOBS, (route) => route.abort());
    script.end("job_1", "running"); // the look that is under way ends, the next ones fail
    await standing(page, "busy");
    assert.match(await page.textContent(".progress h3"), /does not answer/);
    await page.click("#cancel");
    await standing(page, "cancelled");
    await page.route(CALIBRATIONS, (route) => route.abort());
    await page.click("#ask-again");
    await standing(page, "failed");
    assert.match(await page.textContent("#problem"), /The service does not answer/);
  });
});

test("algorithms are compared as a job, which says how far it is and can be cancelled", async () => {
  await on({}, async (page, script) => {
    script.through = true;
    await page.unroute(CALIBRATIONS);
    await page.route("**/v1/plans", (route) => route.fulfill({ status: 202, json: { ...job("job_9", "queued"), kind: "plan" } }));
    await page.click("#compare-start");
    await page.waitForFunction(() => /3 of 10 done/.test(document.getElementById("compare").textContent));
    const gone = page.waitForRequest((request) => request.method() === "DELETE");
    await page.click("#compare-stop");
    assert.match((await gone).url(), /job_9$/);
    assert.match(await page.textContent("#compare [role=status]"), /Cancelled/);
  });
});

test("a question that the service takes long for is followed, and cancelled there when it is given up", async () => {
  const opened = await here.open("", { blank: true });
  const { page } = opened;
  await page.route("**/v1/calibrations/shuffled-mb-sgd", (route) => route.continue({ headers: { ...route.request().headers(), prefer: "wait=0" } }));
  await page.goto(`${here.origin}/${SLOW}`);
  await standing(page, "computing");
  assert.match(await page.textContent(".progress h3"), /^Computing Shuffled mini-batch SGD at/);
  const { jobs } = await (await fetch(`${here.origin}/v1/jobs?kind=calibration&limit=1`)).json();
  assert.equal(jobs[0].name, "shuffled-mb-sgd");
  await page.click("#cancel");
  await standing(page, "cancelled");
  const ended = await (await fetch(`${here.origin}${jobs[0].links.self}`, { headers: { prefer: "wait=60" } })).json();
  assert.equal(ended.state, "cancelled");
  assert.deepEqual(opened.wrong, []);
  await opened.close();
});
