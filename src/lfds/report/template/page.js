"use strict";
(() => {
  // Values under the pointer: titles of shapes, tips of cells, and lines at the same epoch.
  const value = document.createElement("div");
  value.id = "value";
  value.hidden = true;
  value.setAttribute("role", "status");
  document.body.append(value);

  function show(text, x, y) {
    value.textContent = text;
    value.hidden = false;
    const box = value.getBoundingClientRect();
    value.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
    value.style.top = (y - box.height - 12 < 4 ? y + 18 : y - box.height - 12) + "px";
  }

  // The script shows titles itself, at once: the browser shall not show them a second time.
  for (const title of document.querySelectorAll("svg .tip > title")) {
    title.parentNode.setAttribute("data-tip", title.textContent);
    title.remove();
  }

  function readingsOf(svg) {
    svg.readings = svg.readings || JSON.parse(svg.dataset.readings);
    return svg.readings;
  }

  function cursorOf(svg) {
    let line = svg.querySelector(".cursor");
    if (!line) {
      line = document.createElementNS(svg.namespaceURI, "line");
      line.setAttribute("class", "cursor");
      svg.append(line);
    }
    return line;
  }

  function read(svg, event) {
    const found = readingsOf(svg);
    const [left, right, low, high] = found.axis;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const count = Math.max(...found.lines.map(([, values]) => values.length));
    const at = Math.round(low + (point.x - left) / (right - left) * (high - low));
    const number = Math.max(found.first, Math.min(at, found.first + count - 1));
    const x = left + (number - low) / (high - low) * (right - left);
    const line = cursorOf(svg);
    for (const [name, place] of [["x1", x], ["x2", x], ["y1", found.span[0]], ["y2", found.span[1]]]) {
      line.setAttribute(name, place);
    }
    const rows = found.lines
      .map(([name, values]) => [name, values[number - found.first]])
      .filter(([, one]) => one !== null && one !== undefined)
      .sort((a, b) => b[1] - a[1]);
    return found.unit + " " + number + "\n" + rows.map(([name, one]) => name + " " + one.toFixed(1) + " %").join("\n");
  }

  document.addEventListener("pointermove", (event) => {
    const tip = event.target.closest("[data-tip]");
    const lines = event.target.closest("svg[data-readings]");
    for (const line of document.querySelectorAll(".cursor")) if (line.parentNode !== lines) line.remove();
    if (tip) show(tip.dataset.tip, event.clientX, event.clientY);
    else if (lines) show(read(lines, event), event.clientX, event.clientY);
    else value.hidden = true;
  });
  document.addEventListener("pointerleave", () => { value.hidden = true; });
  addEventListener("scroll", () => { value.hidden = true; }, { passive: true });

  // Tables are sorted by a click on the head of a column; a second click turns the order round.
  function keyOf(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    const number = Number(text.replace(/,/g, "").split(" ")[0]);
    return text !== "" && !Number.isNaN(number) ? number : text;
  }

  function compare(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return typeof a === "number" ? a - b : a.localeCompare(b);
  }

  function sort(table, head, column) {
    // Numbers begin with the largest, names with the first letter.
    const numbers = [...table.tBodies[0].rows].some((row) => typeof keyOf(row, column) === "number");
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numbers;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, column), row]);
    // What has no number stays below, in either direction.
    rows.sort(([a], [b]) => (down && typeof a === typeof b ? -1 : 1) * compare(a, b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    if (!table.tBodies[0] || table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
  }
})();
