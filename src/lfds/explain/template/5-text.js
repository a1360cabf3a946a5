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
  const own = graph.details.length && graph.details[node] ? " (" + graph.details[node] + ")" : "";
  describe([[nodeName(graph, node)[0].toUpperCase() + nodeName(graph, node).slice(1)], own + " lands on " + slots.join(", ") + "; the other " +
    (row.length - top.length) + " slots receive " + percent(Math.max(0, rest)) + ". " + withoutNode(graph, node, state.output)]);
}

// What happens to the explained output if a node is removed.
function withoutNode(graph, node, output) {
  const [score, effect] = [graph.scores[output], graph.effects[output][node]];
  const [how, name] = [graph.exact ? "Without it " : "By gradients, without it ", outputs[output]];
  if (!atlas.classes.length) return how + name + " would be " + (score - effect).toPrecision(4) + ", not " + score.toPrecision(4) + ".";
  return how + "the probability of " + name + " would be " + percent(probability(score - effect)) + ", not " + percent(probability(score)) + ".";
}

function describeSlot(graph, pool, slot, column) {
  const part = graph.pools[pool];
  const top = largest(column, 4).filter((node) => column[node] >= 0.0005);
  const nodes = top.map((node) => nodeName(graph, node) + " " + percent(column[node]));
  const idle = atlas.pools[pool].idle[slot] ? " It is idle over all graphs." : "";
  describe([["Slot " + slot], " holds " + percent(part.mass[slot]) + " of the mass of this graph and adds " +
    signed(part.effects[state.output][slot], 2) + " to " + scoreName(state.output) + ". " +
    (nodes.length ? "Largest shares: " + nodes.join(", ") + "." : "") + idle]);
}

function scoreName(output) {
  return atlas.classes.length ? "the log-odds of " + outputs[output] : outputs[output];
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

function showScale(name, text, most, dotText, both) {
  const line = byId(name);
  line.replaceChildren();
  html("span", line, text + ": " + (both ? amount(-most).replace("-", "\u2212") : "0"));
  html("i", line, undefined, both ? "both" : "").setAttribute("aria-hidden", "true");
  html("span", line, both ? amount(most) : percent(most));
  if (dotText) {
    const legend = html("span", line, undefined, "legend");
    html("b", legend).setAttribute("aria-hidden", "true");
    legend.append(dotText);
  }
}

function showLegend() {
  const line = byId("legend");
  line.hidden = !atlas.legend.length;
  line.replaceChildren();
  if (!atlas.legend.length) return;
  html("span", line, "outline: " + atlas.legendTitle);
  atlas.legend.forEach((name, place) => {
    const entry = html("span", line, undefined, "entry");
    html("i", entry, undefined, "ring " + kindOf(place)).setAttribute("aria-hidden", "true");
    entry.append(name);
  });
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

// What the slots, and the statistics beside them, add to the score of a class.
function showDecided(graph, pool, select) {
  const output = state.output, part = graph.pools[pool], all = part.effects[output];
  const others = graph.pools.reduce((sum, one, place) => place === pool ? sum : sum + one.effects[output].reduce((a, b) => a + b, 0), 0);
  const slots = all.reduce((sum, value) => sum + value, 0);
  const name = scoreName(output);
  byId("decided-text").textContent = name[0].toUpperCase() + name.slice(1) + (atlas.classes.length ? " are " : " is ") + graph.scores[output].toFixed(2).replace("-", "\u2212") +
    ": " + graph.reference[output].toFixed(2).replace("-", "\u2212") + " for the average graph, " + signed(slots, 2) + " by the slots" +
    (graph.pools.length > 1 ? " of this structure, " + signed(others, 2) + " by the other structures" : "") +
    ", " + signed(graph.beside[output], 2) + " by the statistics of all nodes beside the slots.";
  const list = byId("winners");
  list.replaceChildren();
  const rows = largest(all.map(Math.abs), 6).map((slot) => ["slot " + slot, all[slot], slot]);
  rows.push(["statistics", graph.beside[output], -1]);
  const most = Math.max(1e-9, ...rows.map(([, value]) => Math.abs(value)));
  for (const [label, value, slot] of rows) {
    const line = html(slot < 0 ? "div" : "button", html("li", list), undefined, "row");
    if (slot >= 0) line.type = "button";
    html("span", line, label);
    const bar = html("span", html("span", line, undefined, "bar signed"), undefined, value < 0 ? "minus" : "plus");
    bar.style.width = 50 * Math.abs(value) / most + "%";
    html("span", line, signed(value, 2), "value");
    if (slot < 0) continue;
    const column = columnOf(graph, pool, slot);
    if (column.length) html("em", line, largest(column, 3).map((node) => nodeName(graph, node)).join(", "));
    line.addEventListener("click", () => select("slot", slot));
  }
  const support = supportOf(graph, output);
  // Probabilities are shown to a tenth of a percent: what rounds to nothing decides nothing.
  const least = atlas.classes.length ? 0.0005 : 0;
  const top = largest(graph.effects[output], 3).filter((node) => graph.effects[output][node] > 0 && Math.abs(support[node]) > least);
  byId("decisive").textContent = top.length ? "Decisive nodes: " + top.map((node) => nodeName(graph, node) + ", " +
    (atlas.classes.length ? "whose removal changes the probability by " + percent(-support[node]).replace("-", "\u2212") : "worth " + signed(support[node], 3))).join("; ") + "." : "No single node speaks for it.";
}

// Which output is explained.
function showOutputs(graph) {
  const choice = byId("output");
  choice.replaceChildren();
  outputs.forEach((name, place) => {
    const note = place === graph.predicted ? " (predicted)" : place === graph.target ? " (true class)" : "";
    html("option", choice, name + note).value = String(place);
  });
  choice.value = String(state.output);
  choice.parentElement.hidden = outputs.length < 2;
}
