// The documents under /guide on the real service: what axe says, whom they ask, and a formula that is evaluated.

import assert from "node:assert/strict";
import { test } from "node:test";
import { serious, shoot, site } from "./service.js";

const here = site();
const { on } = here;

for (const [size, viewport] of Object.entries({ desktop: { width: 1320, height: 900 }, phone: { width: 390, height: 844 } })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing serious: ${size}, ${colorScheme}`, async () => {
      for (const path of ["guide/", "guide/coverage.html", "guide/theorems/das.1.html", "guide/tutorials/sign-off.html", "guide/experiments.html", "guide/python.html", "guide/versions.html", "guide/theorems/none.html"]) {
        await on(path, { viewport, colorScheme }, async (page) => {
          assert.deepEqual(await serious(page), [], path);
          assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, path);
          const cut = await page.evaluate(() => [...document.querySelectorAll("pre > code")].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent));
          assert.deepEqual(cut, [], `code that is cut: ${path}`);
        });
      }
    });
  }
}

test("a formula is evaluated as its inputs change, and a fault is told", async () => {
  await on("guide/theorems/lowy.f.2.html", {}, async (page) => {
    await page.waitForSelector(".evaluate table");
    const first = await page.textContent(".evaluate table");
    await page.selectOption("#evaluate-reading", "corrected");
    await page.waitForFunction((text) => document.querySelector(".evaluate table")?.textContent !== text, first);
    await page.fill("#evaluate-inputs", '{"clients": 0}');
    await page.waitForSelector(".evaluate li");
    assert.match(await page.textContent(".evaluate"), /clients/);
    await page.fill("#evaluate-inputs", "{");
    await page.waitForFunction(() => document.querySelector(".evaluate").textContent.includes("not JSON yet"));
  });
});

test("a search finds the page, and asks no other host", async () => {
  await on("guide/", { viewport: { width: 1280, height: 800 } }, async (page) => {
    await page.click(".md-search__input");
    await page.keyboard.type("sign off a number");
    const found = page.locator('.md-search-result__link[href*="tutorials/sign-off.html"]').first();
    await found.waitFor();
    assert.deepEqual(await serious(page), []);
    await shoot(page, "guide-search");
    await found.click();
    await page.waitForURL(/\/guide\/tutorials\/sign-off\.html/);
    assert.match(await page.textContent("h1"), /Sign off a number/);
  });
});

test("every page names the version that it documents, which is the service's", async () => {
  const { info } = await (await fetch(`${here.origin}/openapi.json`)).json();
  for (const path of ["guide/", "guide/theorems/das.1.html", "guide/versions.html"]) {
    await on(path, {}, async (page) => {
      const header = (await page.textContent(".md-header__topic")).trim();
      assert.ok([`epsilond ${info.version}`, `epsilond ${info.version}+`].includes(header), header);
    });
  }
});
