// The pop-up for the key of the service, which every page has.

import { accessKey, useKey } from "./api.js";
import { byId } from "./dom.js";

/** Keep what is typed into it, and call changed(); Escape closes it. */
export function keyForm(changed) {
  byId("key").value = accessKey();
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("access").open = false;
    useKey(byId("key").value);
    changed();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") byId("access").open = false;
  });
}

/** Links to a place on the page move the eye and the focus and not the address, which holds what is shown. */
export function skipLinks(id) {
  for (const link of document.querySelectorAll(`a[href='#${id}']`)) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      byId(id).focus();
      byId(id).scrollIntoView();
    });
  }
}
