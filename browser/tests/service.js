// The real service on a free port, and a browser on its page. Both end with the test file.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";

export const PYTHON = process.env.PYTHON;
export const SHOTS = process.env.SCREENSHOTS;
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PATIENCE = 300_000;

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Start the service and wait until it is ready; {origin, stop}. */
async function startService() {
  const origin = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(PYTHON, ["-m", "epsilond", "serve", "--port", new URL(origin).port], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, EPSILOND_STORE_PATH: ":memory:", EPSILOND_LEDGERS_IN_MEMORY: "yes", EPSILOND_LOG_LEVEL: "error", EPSILOND_DEADLINE_SECONDS: "300" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  for (const begin = Date.now(); ; await pause(200)) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    const ready = await fetch(`${origin}/readyz`).catch(() => null);
    if (ready?.ok) break;
    if (Date.now() - begin > PATIENCE) throw new Error("the service does not get ready");
  }
  return { origin, stop: () => (child.kill("SIGTERM"), ended) };
}

const startBrowser = () => chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** A page that writes down what went wrong in it and whom it asked; with `blank` it is not sent anywhere yet. */
async function openPage(browser, origin, hash = "", { blank = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1320, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const wrong = [];
  const hosts = new Set();
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => {
    // A browser reports every 4xx it is answered, and what a test cuts off; what the page does with them is tested by what it shows.
    if (message.type() === "error" && !/^Failed to load resource.*( (401|404|409|422|429) |ERR_FAILED)/.test(message.text())) wrong.push(message.text());
  });
  page.on("request", (request) => hosts.add(new URL(request.url()).origin));
  if (!blank) await page.goto(`${origin}/${hash}`);
  return { page, wrong, hosts, close: () => context.close() };
}

/**
 * The service and a browser for the tests of one file, started before them and stopped after them: its `origin`; `open`, a
 * page that its caller closes; and `on`, which runs `body` on a page of its own, in which nothing may go wrong and which asks
 * no other host. `prepare` sees that page before it is sent anywhere.
 */
export function site() {
  const running = {};
  let service;
  let browser;
  before(async () => {
    service = await startService();
    browser = await startBrowser();
    running.origin = service.origin;
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
  });
  running.open = (hash, options) => openPage(browser, running.origin, hash, options);
  running.on = async (path, options, body, prepare = async () => {}) => {
    const opened = await running.open("", { ...options, blank: true });
    try {
      await prepare(opened.page);
      await opened.page.goto(`${running.origin}/${path}`);
      await body(opened.page);
      assert.deepEqual(opened.wrong, []);
      assert.deepEqual([...opened.hosts].filter((host) => host !== "null"), [running.origin]);
    } finally {
      await opened.close();
    }
  };
  return running;
}

/** What axe finds that is serious. */
export async function serious(page) {
  // The page refuses scripts that are not its own, so axe is put in by the browser itself.
  await page.evaluate(readFileSync(AXE, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

/** Wait for the answer of an algorithm to what is on the screen now. */
export const answered = (page, algorithm) =>
  page.waitForSelector(`#answer[aria-busy="false"][data-answered="${algorithm}"]`, { timeout: PATIENCE });

/** Forget the answer that is shown, so that the next one can be waited for. */
export const forget = (page) => page.evaluate(() => delete document.getElementById("answer").dataset.answered);

export async function shoot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}

export const figure = (page) => page.textContent("#figures .lead .figure");
