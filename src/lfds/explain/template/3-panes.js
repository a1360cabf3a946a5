// The two pictures: the graph, which can be rotated if it has three coordinates, and the structure.
const graphPane = document.getElementById("graph");
const slotsPane = document.getElementById("slots");
const view = { turn: 35, tilt: 26, positions: [], structure: [], table: false, nodes: [], slots: [], dots: [], edges: null, bonds: null, letters: [] };

// The numbers of some marks.
function writeNumbers(pane, numbers, positions) {
  pane.querySelectorAll(".direct").forEach((old) => old.remove());
  numbers.forEach((number) => {
    const [x, y] = positions[number];
    const text = element("text", { class: "direct", x: 100 * x, y: 2 - 100 * y, "text-anchor": "middle" }, pane);
    text.textContent = number;
  });
}

// Project three coordinates to two, from the side and a little from above; the third points upwards.
function projected(positions) {
  if (!positions.length || positions[0].length === 2) return positions;
  const [turn, tilt] = [view.turn * Math.PI / 180, view.tilt * Math.PI / 180];
  const far = Math.max(1e-9, ...positions.map((p) => Math.hypot(...p)));
  return positions.map(([x, y, z]) => {
    const across = x * Math.cos(turn) - y * Math.sin(turn);
    const away = x * Math.sin(turn) + y * Math.cos(turn);
    return [across / far, (z * Math.cos(tilt) + away * Math.sin(tilt)) / far];
  });
}

// On narrow screens the pictures are stacked, and flat ones are cropped to their height.
function frame() {
  const stacked = matchMedia("(max-width: 44rem)").matches;
  for (const [pane, positions, turns] of [
    [graphPane, view.positions, graphPane.classList.contains("turns")],
    [slotsPane, view.structure, view.table],
  ]) {
    const high = 100 * Math.max(0, ...positions.map((position) => Math.abs(position[1]))) + 14;
    const half = stacked && !turns ? Math.min(108, Math.max(40, high)) : 108;
    pane.setAttribute("viewBox", [-108, -half, 216, 2 * half].join(" "));
  }
}

// Bonds as chemists draw them: one, two or three lines; a dashed one beside the line if aromatic.
function bondPaths(graph, positions, gap) {
  let [lines, dashed] = ["", ""];
  const line = (a, b, shift) => {
    const [x, y, u, v] = [100 * a[0], -100 * a[1], 100 * b[0], -100 * b[1]];
    const length = Math.max(1e-9, Math.hypot(u - x, v - y));
    const [dx, dy] = [shift * (v - y) / length, -shift * (u - x) / length];
    return "M" + (x + dx).toFixed(2) + " " + (y + dy).toFixed(2) + "L" + (u + dx).toFixed(2) + " " + (v + dy).toFixed(2);
  };
  for (let i = 0; i < graph.edges.length; i += 2) {
    const [a, b, order] = [positions[graph.edges[i]], positions[graph.edges[i + 1]], graph.bonds[i / 2]];
    const shifts = { 2: [-gap, gap], 3: [-2 * gap, 0, 2 * gap] }[order] || [order === 4 ? -gap : 0];
    for (const shift of shifts) lines += line(a, b, shift);
    if (order === 4) dashed += line(a, b, gap);
  }
  return [lines, dashed];
}

// Nodes are small enough that most edges can be seen between them.
function nodeSize(graph) {
  const lengths = [];
  for (let i = 0; i < graph.edges.length && graph.dims === 2; i += 2) {
    const [a, b] = [graph.positions[graph.edges[i]], graph.positions[graph.edges[i + 1]]];
    lengths.push(Math.hypot(a[0] - b[0], a[1] - b[1]));
  }
  lengths.sort((a, b) => a - b);
  const most = lengths.length ? 0.36 * lengths[lengths.length >> 1] : 0.055;
  return Math.max(0.012, Math.min(0.055, most, 0.36 / Math.sqrt(Math.max(graph.positions.length, 1))));
}

function drawGraph(graph) {
  graphPane.replaceChildren();
  graphPane.classList.toggle("turns", graph.dims === 3);
  graphPane.setAttribute("aria-label", graph.positions.length + " nodes of graph " + graph.number);
  view.edges = element("path", { class: "edge", "stroke-width": graph.edges.length > 600 ? 0.4 : 0.8 }, graphPane);
  view.bonds = element("path", { class: "edge bond aromatic" }, graphPane);
  view.edges.classList.toggle("bond", graph.bonds.length > 0);
  const size = nodeSize(graph);
  view.nodes = graph.positions.map((_, node) => mark(graphPane, "node", node, [0, 0], size));
  makeFocusable(view.nodes, "node");
  view.nodes.forEach((one, node) => {
    if (graph.category[node] >= 0) one.classList.add(kindOf(graph.category[node]));
    if (graph.symbols.length) one.setAttribute("aria-label", "node " + node + ", " + graph.symbols[node]);
    element("title", {}, one).textContent = nodeTitle(graph, node);
  });
  // Carbon is where lines meet, as chemists draw it.
  const named = graph.symbols.length && graph.positions.length <= 80;
  view.letters = graph.symbols.map((symbol) => {
    const shown = named && symbol.length <= 3 && !(graph.bonds.length && symbol === "C") ? symbol : "";
    const letter = element("text", { class: "letter", "text-anchor": "middle" }, graphPane);
    letter.textContent = shown;
    return letter;
  });
  placeGraph(graph);
  frame();
}

function placeGraph(graph) {
  view.positions = projected(graph.positions);
  view.positions.forEach(([x, y], node) => {
    view.nodes[node].setAttribute("cx", (100 * x).toFixed(2));
    view.nodes[node].setAttribute("cy", (-100 * y).toFixed(2));
  });
  view.letters.forEach((letter, node) => {
    letter.setAttribute("x", (100 * view.positions[node][0]).toFixed(2));
    letter.setAttribute("y", (2.2 - 100 * view.positions[node][1]).toFixed(2));
  });
  if (graph.bonds.length) {
    const paths = bondPaths(graph, view.positions, 1.3);
    view.edges.setAttribute("d", paths[0]);
    view.bonds.setAttribute("d", paths[1]);
    return;
  }
  const at = (node) => (100 * view.positions[node][0]).toFixed(1) + " " + (-100 * view.positions[node][1]).toFixed(1);
  let path = "";
  for (let i = 0; i < graph.edges.length; i += 2) path += "M" + at(graph.edges[i]) + "L" + at(graph.edges[i + 1]);
  view.edges.setAttribute("d", path);
}

function drawSlots(pool, pane, compact) {
  pane.replaceChildren();
  if (pool.columns && !compact) drawBasis(pool, pane);
  const lines = compact && pool.edges.length > 2 * pool.positions.length ? [] : pool.edges;
  lines.forEach(([from, to], i) => {
    const [a, b] = [pool.positions[from], pool.positions[to]];
    element("line", {
      class: "edge", x1: 100 * a[0], y1: -100 * a[1], x2: 100 * b[0], y2: -100 * b[1],
      "stroke-width": 0.3 + pool.weights[i], "stroke-opacity": 0.25 + 0.75 * pool.weights[i],
    }, pane);
  });
  return pool.positions.map((position, slot) => {
    const made = mark(pane, "slot", slot, position, pool.size, pool.outlines[slot]);
    made.classList.toggle("idle", pool.idle[slot]);
    return made;
  });
}

function drawStructure(pool) {
  view.slots = drawSlots(pool, slotsPane, false);
  // Outlines extend beyond the centres of their slots.
  [view.structure, view.table] = [[...pool.positions, ...pool.outlines.flat()], pool.columns > 0];
  slotsPane.setAttribute("aria-label", pool.title);
  makeFocusable(view.slots, "slot");
  if (pool.positions.length <= 100 && !pool.columns) {
    pool.labelPositions.forEach(([x, y], slot) => {
      element("text", { class: "slot-number", x: 100 * x, y: 1.6 - 100 * y, "text-anchor": "middle" }, slotsPane).textContent = slot;
    });
  }
  view.dots = pool.positions.map(([x, y]) => element("circle", { class: "dot", cx: 100 * x, cy: -100 * y, r: 0 }, slotsPane));
}

// The row of the basis beside each slot; values above and below zero have different colours.
function drawBasis(pool, pane) {
  const rows = pool.positions.length, columns = pool.columns;
  const values = new Int8Array(bytesOf(pool.basis).buffer);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d");
  const picture = context.createImageData(columns, rows);
  values.forEach((value, i) => {
    const colour = value < 0 ? [190, 96, 40] : [40, 120, 200];
    picture.data.set([...colour, Math.min(255, 2 * Math.abs(value))], 4 * i);
  });
  context.putImageData(picture, 0, 0);
  element("image", {
    href: canvas.toDataURL(), x: -84, y: -100, width: 184, height: 200,
    preserveAspectRatio: "none", style: "image-rendering: pixelated",
  }, pane);
}
