// What the pictures show, in words: for those who listen, and for those who want the numbers.
const byId = (name) => document.getElementById(name);

function sentence(parts) {
  const story = byId("story");
  story.replaceChildren();
  for (const part of parts) {
    if (typeof part === "string") story.append(part);
    else html("strong", story, part[0]);
  }
}

function nodeWords(graph, pool, node, row) {
  const top = largest(row, 4).filter((slot, place) => !place || row[slot] >= 0.0005);
  const rest = 1 - top.reduce((sum, slot) => sum + row[slot], 0);
  const slots = top.map((slot) => "slot " + slot + " (" + percent(row[slot]) + ")");
  sentence([["Node " + node], " lands on " + slots.join(", ") + "; the other " +
    (row.length - top.length) + " slots share " + percent(Math.max(0, rest)) + "."]);
}

function slotWords(graph, pool, slot, column) {
  const part = graph.pools[pool];
  const top = largest(column, 4).filter((node) => column[node] >= 0.0005);
  const nodes = top.map((node) => "node " + node + " (" + percent(column[node]) + ")");
  const idle = atlas.pools[pool].idle[slot] ? " Over all graphs it is idle." : "";
  sentence([["Slot " + slot], " holds " + percent(part.mass[slot]) + " of this graph and won " +
    percent(part.picked[slot]) + " of the channels. " +
    (nodes.length ? "It gets most of " + nodes.join(", ") + "." : "") + idle]);
}

function graphWords(graph, pool) {
  const mass = graph.pools[pool].mass;
  const order = largest(mass, mass.length);
  let half = 0, sum = 0;
  while (half < order.length && sum < 0.5) sum += mass[order[half++]];
  const where = graph.places.length
    ? "Half of this graph lands on " + half + " of " + mass.length + " slots, most of it on slot " + order[0] + "."
    : "This graph has no nodes.";
  sentence([where + " Point at a node to see where it goes, or at a slot to see who comes."]);
}

function scale(name, words, most, dotWords) {
  const line = byId(name);
  line.replaceChildren();
  html("span", line, words + ": 0");
  html("i", line).setAttribute("aria-hidden", "true");
  html("span", line, percent(most));
  if (dotWords) {
    const kept = html("span", line, undefined, "kept");
    html("b", kept).setAttribute("aria-hidden", "true");
    kept.append(dotWords);
  }
}

function titleOf(graph) {
  const known = graph.target >= 0 ? atlas.classes[graph.target] : null;
  return "Graph " + graph.number + (known === null ? "" : ", class " + known);
}

function showPrediction(graph) {
  const list = byId("prediction");
  list.replaceChildren();
  graph.amounts.forEach((amount, place) => {
    const line = html("li", list, undefined, "first");
    html("span", line, graph.amounts.length > 1 ? "target " + place : "value", "name");
    const known = graph.trueAmounts[place];
    html("span", line, amount + (known === null ? "" : " (truly " + known + ")"));
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

function showDecided(graph, pool, choose) {
  const list = byId("decided");
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
    button.addEventListener("click", () => choose("slot", slot));
  }
}
