// The data of the page, packed by render.py; shares are unpacked when a graph is first shown.
const atlas = JSON.parse(document.getElementById("data").textContent);

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// Little-endian integers from 0 to atlas.levels stand for shares from 0 to 1.
function sharesOf(graph, pool) {
  const part = graph.pools[pool];
  if (!part.unpacked) {
    const bytes = bytesOf(part.shares);
    const wide = atlas.levels > 255;
    const values = new Float64Array(wide ? bytes.length / 2 : bytes.length);
    for (let i = 0; i < values.length; i++) {
      values[i] = (wide ? bytes[2 * i] + 256 * bytes[2 * i + 1] : bytes[i]) / atlas.levels;
    }
    part.unpacked = values;
  }
  return part.unpacked;
}

// The shares of a node: one value for each slot.
function rowOf(graph, pool, node) {
  const slots = atlas.pools[pool].positions.length;
  return sharesOf(graph, pool).subarray(node * slots, (node + 1) * slots);
}

// The shares on a slot: one value for each node.
function columnOf(graph, pool, slot) {
  const slots = atlas.pools[pool].positions.length;
  const shares = sharesOf(graph, pool);
  return Float64Array.from({ length: graph.positions.length }, (_, node) => shares[node * slots + slot]);
}

// How much of each node lands on the same slots as a node with these shares.
function overlap(graph, pool, row) {
  const shares = sharesOf(graph, pool);
  return Float64Array.from({ length: graph.positions.length }, (_, node) => {
    let sum = 0;
    for (let slot = 0; slot < row.length; slot++) sum += Math.min(row[slot], shares[node * row.length + slot]);
    return sum;
  });
}

function percent(value) {
  return (100 * value).toFixed(1) + "\u00a0%";
}

// Positions of the largest values, largest first.
function largest(values, count) {
  return Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b).slice(0, count);
}

// What decided: scores are log-odds of classes, of which probabilities follow, or values.
const outputs = atlas.classes.length ? atlas.classes : (atlas.graphs[0] ? atlas.graphs[0].scores.map((_, i) => atlas.graphs[0].scores.length > 1 ? "target " + i : "the value") : []);
const probability = (score) => 1 / (1 + Math.exp(-Math.max(-80, Math.min(80, score))));

// By how much the probability of a class, or a value, falls without each node.
function supportOf(graph, output) {
  const score = graph.scores[output];
  return graph.effects[output].map((effect) => atlas.classes.length ? probability(score) - probability(score - effect) : effect);
}

function amount(value) {
  return atlas.classes.length ? percent(value) : value.toPrecision(3);
}

function signed(value, digits) {
  return (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(digits);
}

const isWrong = (graph) => graph.target >= 0 && graph.target !== graph.predicted;
const isUncertain = (graph) => graph.probabilities.length > 0 && Math.max(...graph.probabilities) < 0.6;

function nodeName(graph, node) {
  const symbol = graph.symbols[node];
  return "node " + node + (symbol ? " (" + symbol + ")" : "");
}

function nodeTitle(graph, node) {
  return nodeName(graph, node) + (graph.details.length && graph.details[node] ? ": " + graph.details[node] : "");
}

// The colour of a category; elements have those that chemists know them by.
const ELEMENTS = { C: 0, N: 1, O: 2, Cl: 3, F: 10, S: 5, Br: 11, I: 4, P: 8 };

function kindOf(category) {
  const known = atlas.legendTitle === "element" ? ELEMENTS[atlas.legend[category]] : category;
  return "kind" + (known === undefined ? 9 : known);
}
