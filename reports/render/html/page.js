
"use strict";
// Tables get buttons to sort by and a field to filter with; without this script they are as they are.
for (const table of document.querySelectorAll("table.list")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.order === undefined ? cell.textContent : Number(cell.dataset.order);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === typeof b) return a.localeCompare(b, "en", { numeric: true });
    return typeof a === "number" ? -1 : 1;  // what has no number comes last
  };
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
      body.append(...(descending ? rows.reverse() : rows));
    });
  });
  addFilter(table.parentElement, table.getAttribute("aria-label"), () => [...body.rows]);
}
for (const list of document.querySelectorAll(".findings")) {
  addFilter(list, list.getAttribute("aria-label"), () => [...list.children]);
}
function addFilter(before, label, items) {
  const few = 8;
  if (items().length < few) return;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "filter: words that must all occur";
  field.setAttribute("aria-label", "filter " + label);
  const count = document.createElement("span");
  count.className = "muted";
  count.setAttribute("aria-live", "polite");
  const bar = document.createElement("div");
  bar.className = "filter";
  bar.append(field, count);
  before.before(bar);
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    let shown = 0;
    for (const item of items()) {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every(word => text.includes(word));
      if (!item.hidden) ++shown;
    }
    count.textContent = shown + " of " + items().length;
  };
  field.addEventListener("input", apply);
  apply();
}
