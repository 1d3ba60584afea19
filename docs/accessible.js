// Names and stops for the keyboard that the theme leaves out.

document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
for (const table of document.querySelectorAll(".md-typeset table:not([class])")) table.tabIndex = 0; // the theme lets wide ones scroll
