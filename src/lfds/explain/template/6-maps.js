// Averages over all graphs: the usage of each slot, and the slots of each class.
const maps = { bars: [], pools: [] };

function showUsage(pool) {
  const chart = byId("usage");
  chart.replaceChildren();
  // As wide as the screen, so that letters keep their size.
  const wide = Math.max(300, Math.min(900, chart.parentElement.clientWidth || 640));
  const [count, middle, height, left] = [pool.usage.length, 84, 66, 8];
  const step = (wide - 2 * left) / count;
  chart.setAttribute("viewBox", "0 0 " + wide + " 172");
  const most = Math.max(...pool.usage), mostPicked = Math.max(...pool.picked, 1e-9);
  const even = middle - height / most / count;
  chart.setAttribute("aria-label", "Mass and channels won of each slot, over all graphs");
  maps.bars = Array.from(pool.usage, (value, slot) => {
    const x = left + slot * step, width = Math.max(0.5, step - Math.min(1.5, step / 4));
    const up = element("rect", { class: "mark", x, width, y: middle - height * value / most, height: height * value / most }, chart);
    const down = element("rect", { class: "mark", x, width, y: middle + 12, height: height * pool.picked[slot] / mostPicked }, chart);
    const hit = element("rect", { x, width: step, y: 0, height: 172, fill: "transparent" }, chart);
    up.style.setProperty("--v", "85%");
    down.style.setProperty("--v", "35%");
    for (const one of [up, down, hit]) one.dataset.slot = slot;
    up.dataset.value = value.toFixed(6);
    if (slot % Math.ceil(18 / step) === 0) label(chart, x + width / 2, middle + 9, slot, "middle");
    if (pool.idle[slot]) label(chart, x + width / 2, middle - 3, "\u00d7", "middle");
    return [up, down];
  });
  element("line", { class: "even", x1: left, x2: wide - left, y1: even, y2: even }, chart);
  label(chart, left, 9, "mass, up to " + percent(most) + "; dashed: mean mass, " + percent(1 / count), "start");
  label(chart, left, 170, "channels won, up to " + percent(mostPicked), "start");
  byId("won").textContent = "Channels won: for each channel the readout takes the maximum over the slots; the slot that holds it wins the channel." +
    (pool.extraReadout ? " The readout also takes " + pool.extraReadout + ", which no slot wins: what decides is shown above." : "");
  const idle = pool.idle.filter(Boolean).length;
  byId("usage-text").textContent = "Mean over " + atlas.total + " graphs. " + (idle
    ? idle + " of " + count + " slots are idle (\u00d7): they receive less than a hundredth of the mean mass."
    : "No slot is idle: each receives at least a hundredth of the mean mass.")
    + (pool.topographicError === null ? "" : " Of " + percent(1 - pool.topographicError)
    + " of the nodes the two largest shares are on neighbouring slots (" + percent(1 - pool.randomError)
    + " if the slots were arranged at random).");
}

function label(parent, x, y, text, anchor) {
  element("text", { x, y, "text-anchor": anchor }, parent).textContent = text;
}

function showMaps(pool) {
  const place = byId("maps");
  place.parentElement.hidden = !atlas.classes.length;
  place.replaceChildren();
  maps.pools = [];
  pool.classMaps.forEach((map, position) => {
    const box = html("div", place, undefined, pool.columns ? "column" : "");
    const frame = pool.columns ? "-100 -101 14 202" : "-104 -104 208 208";
    const pane = element("svg", { viewBox: frame, role: "img" }, box);
    if (pool.columns) pane.setAttribute("preserveAspectRatio", "none");
    pane.setAttribute("aria-label", "Slots of graphs of class " + atlas.classes[position]);
    html("strong", box, atlas.classes[position] + " ");
    html("span", box, String(atlas.counts[position]), "count");
    const marks = drawSlots(pool, pane, true);
    if (map) maps.pools.push({ marks, map });
  });
  byId("maps-text").textContent = "Mean over the graphs of each class" +
    (atlas.grouped ? "" : ", as predicted: the true classes are unknown") + ".";
  shadeMaps(pool);
}

function shadeMaps(pool) {
  const difference = byId("difference").checked;
  const values = maps.pools.map(({ map }) => difference ? map.map((value, slot) => value - pool.usage[slot]) : map);
  const most = Math.max(1e-9, ...values.flat().map(Math.abs));
  maps.pools.forEach(({ marks }, i) => shade(marks, values[i], most));
  const line = byId("maps-scale");
  line.replaceChildren();
  html("span", line, difference ? "less by " + percent(most) : "fraction of the nodes: 0");
  html("i", line, undefined, difference ? "both" : "").setAttribute("aria-hidden", "true");
  html("span", line, difference ? "more by " + percent(most) : percent(most));
}

function markInMaps(state) {
  const slot = state.kind === "slot" ? state.number : -1;
  maps.bars.forEach((pair, i) => pair.forEach((bar) => bar.classList.toggle("selected", i === slot)));
  maps.pools.forEach(({ marks }) => marks.forEach((one, i) => one.classList.toggle("selected", i === slot)));
}

// The nodes with the largest shares on each slot, each with its neighbours, and the mix of labels.
function showMeanings(pool, select) {
  const place = byId("meanings");
  place.replaceChildren();
  pool.typical.forEach((nodes, slot) => {
    if (pool.idle[slot] || !nodes.length) return;
    const card = html("div", place, undefined, "card");
    const head = html("button", card, "slot " + slot);
    head.type = "button";
    head.addEventListener("click", () => select("slot", slot));
    const mix = largest(pool.mix[slot] || [], 3).filter((one) => pool.mix[slot][one] >= 0.05);
    if (mix.length) {
      html("p", card, mix.map((one) => atlas.legend[one] + " " + Math.round(100 * pool.mix[slot][one]) + "\u00a0%").join(", "))
        .title = "of all nodes: " + mix.map((one) => atlas.legend[one] + " " + Math.round(100 * atlas.overall[one]) + " %").join(", ");
    }
    const row = html("div", card, undefined, "hoods");
    for (const hood of nodes) drawHood(hood, row);
  });
}

function drawHood(hood, parent) {
  const pane = element("svg", { viewBox: "-130 -130 260 260", role: "img" }, parent);
  const name = "node " + hood.node + (hood.symbols[0] ? " (" + hood.symbols[0] + ")" : "") + " of graph " + hood.graph + ", share " + percent(hood.share);
  pane.setAttribute("aria-label", name);
  element("title", {}, pane).textContent = name;
  const lines = element("path", { class: "edge", "stroke-width": 4 }, pane);
  const dashed = element("path", { class: "edge aromatic", "stroke-width": 4 }, pane);
  const orders = hood.bonds.length ? hood : { ...hood, bonds: hood.edges.map(() => 1) };
  const paths = bondPaths(orders, hood.positions, 7);
  lines.setAttribute("d", paths[0]);
  dashed.setAttribute("d", paths[1]);
  hood.positions.forEach(([x, y], i) => {
    const dot = element("circle", { cx: 100 * x, cy: -100 * y, r: i ? 13 : 22, class: "mark" + (hood.category[i] >= 0 ? " " + kindOf(hood.category[i]) : "") }, pane);
    dot.style.setProperty("--v", i ? "0%" : "70%");
    if (hood.symbols[i] && hood.symbols[i].length <= 3) {
      const text = element("text", { x: 100 * x, y: 8 - 100 * y, "text-anchor": "middle", class: i ? "" : "own" }, pane);
      text.textContent = hood.symbols[i];
    }
  });
}
