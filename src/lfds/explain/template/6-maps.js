// Averages over all graphs: the usage of each slot, and the slots of each class.
const maps = { bars: [], pools: [] };

function showUsage(pool) {
  const chart = byId("usage");
  chart.replaceChildren();
  const [count, middle, height, left] = [pool.usage.length, 84, 66, 8];
  const step = (640 - 2 * left) / count;
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
    if (slot % Math.ceil(count / 16) === 0) label(chart, x + width / 2, middle + 9, slot, "middle");
    if (pool.idle[slot]) label(chart, x + width / 2, middle - 3, "\u00d7", "middle");
    return [up, down];
  });
  element("line", { class: "even", x1: left, x2: 640 - left, y1: even, y2: even }, chart);
  label(chart, left, 9, "mass, up to " + percent(most) + "; dashed: mean mass, " + percent(1 / count), "start");
  label(chart, left, 170, "channels won, up to " + percent(mostPicked), "start");
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
