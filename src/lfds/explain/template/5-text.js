// The pictures in words, for screen readers and for exact numbers.
const byId = (name) => document.getElementById(name);

function describe(parts) {
  const description = byId("description");
  description.replaceChildren();
  for (const part of parts) {
    if (typeof part === "string") description.append(part);
    else html("strong", description, part[0]);
  }
}

function describeNode(graph, pool, node, row) {
  const top = largest(row, 4).filter((slot, place) => !place || row[slot] >= 0.0005);
  const rest = 1 - top.reduce((sum, slot) => sum + row[slot], 0);
  const slots = top.map((slot) => "slot " + slot + " (" + percent(row[slot]) + ")");
  describe([["Node " + node], " lands on " + slots.join(", ") + "; the other " +
    (row.length - top.length) + " slots receive " + percent(Math.max(0, rest)) + "."]);
}

function describeSlot(graph, pool, slot, column) {
  const part = graph.pools[pool];
  const top = largest(column, 4).filter((node) => column[node] >= 0.0005);
  const nodes = top.map((node) => "node " + node + " (" + percent(column[node]) + ")");
  const idle = atlas.pools[pool].idle[slot] ? " It is idle over all graphs." : "";
  describe([["Slot " + slot], " holds " + percent(part.mass[slot]) + " of the mass of this graph and won " +
    percent(part.picked[slot]) + " of the channels. " +
    (nodes.length ? "Largest shares: " + nodes.join(", ") + "." : "") + idle]);
}

function describeGraph(graph, pool) {
  const mass = graph.pools[pool].mass;
  const order = largest(mass, mass.length);
  let half = 0, sum = 0;
  while (half < order.length && sum < 0.5) sum += mass[order[half++]];
  const where = graph.positions.length
    ? "Half of the mass of this graph is on " + half + " of " + mass.length + " slots, most of it on slot " + order[0] + "."
    : "This graph has no nodes.";
  describe([where + " Point at a node to see its slots, or at a slot to see its nodes."]);
}

function showScale(name, text, most, dotText) {
  const line = byId(name);
  line.replaceChildren();
  html("span", line, text + ": 0");
  html("i", line).setAttribute("aria-hidden", "true");
  html("span", line, percent(most));
  if (dotText) {
    const legend = html("span", line, undefined, "legend");
    html("b", legend).setAttribute("aria-hidden", "true");
    legend.append(dotText);
  }
}

function titleOf(graph) {
  const name = graph.target >= 0 ? atlas.classes[graph.target] : null;
  return "Graph " + graph.number + (name === null ? "" : ", class " + name);
}

function showPrediction(graph) {
  const list = byId("prediction");
  list.replaceChildren();
  graph.values.forEach((value, place) => {
    const line = html("li", list, undefined, "first");
    html("span", line, graph.values.length > 1 ? "target " + place : "value", "name");
    const truth = graph.trueValues[place];
    html("span", line, value + (truth === null ? "" : " (true value " + truth + ")"));
  });
  for (const position of largest(graph.probabilities, 12)) {
    const line = html("li", list);
    line.classList.toggle("first", position === graph.predicted);
    const name = html("span", line, atlas.classes[position], "name");
    if (position === graph.target) html("small", name, " true class");
    const bar = html("span", html("span", line, undefined, "bar"));
    bar.style.width = 100 * graph.probabilities[position] + "%";
    html("span", line, percent(graph.probabilities[position]), "value");
  }
}

function showWinners(graph, pool, select) {
  const list = byId("winners");
  const part = graph.pools[pool];
  list.replaceChildren();
  for (const slot of largest(part.picked, 5)) {
    const column = columnOf(graph, pool, slot);
    const button = html("button", html("li", list));
    button.type = "button";
    html("span", button, "slot " + slot);
    const bar = html("span", html("span", button, undefined, "bar"));
    bar.style.width = 100 * part.picked[slot] + "%";
    html("span", button, percent(part.picked[slot]), "value");
    if (column.length) html("em", button, "nodes " + largest(column, 3).join(", "));
    button.addEventListener("click", () => select("slot", slot));
  }
}
