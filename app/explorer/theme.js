// Light, dark, or as the system says. Runs before the page is painted, so that nothing flashes.
(() => {
  const names = { auto: "as the system", light: "light", dark: "dark" };
  const kept = () => {
    try {
      return localStorage.getItem("epsilond-theme");
    } catch {
      return null; // storage may be closed to this page
    }
  };
  let chosen = kept() in names ? kept() : "auto";
  const show = () => {
    if (chosen === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  };
  show();
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const tell = () => (button.textContent = `Theme: ${names[chosen]}`);
    tell();
    button.addEventListener("click", () => {
      const order = Object.keys(names);
      chosen = order[(order.indexOf(chosen) + 1) % order.length];
      try {
        localStorage.setItem("epsilond-theme", chosen);
      } catch {
        // then it lasts as long as the page
      }
      show();
      tell();
      dispatchEvent(new Event("theme"));
    });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("theme")));
})();
