// A panel that scrolls by itself says so: how much of it is out of sight below, and a button that goes there.

const MARGIN = 12;
/** Pixels between the panel and the edges of the window, as in the style sheet. */

/** Keep a button at the foot of a panel up to date; `count` finds what is counted. */
export function below(panel, button, count) {
  const tell = () => {
    // What stands above the panel at first takes from its room, so that its foot is always in sight.
    panel.style.setProperty("--room", `${innerHeight - Math.max(MARGIN, panel.getBoundingClientRect().top) - MARGIN}px`);
    const foot = panel.getBoundingClientRect().bottom;
    const left = panel.scrollHeight - panel.clientHeight > 2 ? [...panel.querySelectorAll(count)].filter((each) => !each.closest("details:not([open])") && each.getBoundingClientRect().bottom > foot).length : 0;
    button.classList.toggle("gone", left === 0);
    const text = `${left} more below ↓`;
    if (left && button.textContent !== text) button.textContent = text; // what is observed changes only where it has to
  };
  button.addEventListener("click", () => panel.scrollBy({ top: 0.75 * panel.clientHeight, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" }));
  panel.addEventListener("scroll", tell, { passive: true });
  panel.addEventListener("toggle", tell, true); // it does not bubble
  addEventListener("scroll", tell, { passive: true });
  addEventListener("resize", tell);
  new ResizeObserver(tell).observe(panel);
  new MutationObserver(tell).observe(panel, { childList: true, subtree: true, attributes: true, attributeFilter: ["open"] });
  tell();
}
