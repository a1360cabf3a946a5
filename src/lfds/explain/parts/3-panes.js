// The two pictures: a graph, turned in space where it has three coordinates, and the structure.
const graphPane = document.getElementById("graph");
const slotsPane = document.getElementById("slots");
const view = { turn: 35, tilt: 26, places: [], structure: [], table: false, nodes: [], slots: [], dots: [], edges: null };

// Numbers beside those marks that stand out.
function writeNumbers(pane, numbers, places) {
  pane.querySelectorAll(".direct").forEach((old) => old.remove());
  numbers.forEach((number) => {
    const [x, y] = places[number];
    const text = element("text", { class: "direct", x: 100 * x, y: 2 - 100 * y, "text-anchor": "middle" }, pane);
    text.textContent = number;
  });
}

// Look at coordinates from the side and a little from above; the third one points upwards.
function projected(places) {
  if (!places.length || places[0].length === 2) return places;
  const [turn, tilt] = [view.turn * Math.PI / 180, view.tilt * Math.PI / 180];
  const far = Math.max(1e-9, ...places.map((p) => Math.hypot(...p)));
  return places.map(([x, y, z]) => {
    const across = x * Math.cos(turn) - y * Math.sin(turn);
    const away = x * Math.sin(turn) + y * Math.cos(turn);
    return [across / far, (z * Math.cos(tilt) + away * Math.sin(tilt)) / far];
  });
}

// Where the pictures stand one above the other, flat ones take no more height than they need.
function frame() {
  const stacked = matchMedia("(max-width: 44rem)").matches;
  for (const [pane, places, turns] of [
    [graphPane, view.places, graphPane.classList.contains("turns")],
    [slotsPane, view.structure, view.table],
  ]) {
    const high = 100 * Math.max(0, ...places.map((place) => Math.abs(place[1]))) + 14;
    const half = stacked && !turns ? Math.min(108, Math.max(40, high)) : 108;
    pane.setAttribute("viewBox", [-108, -half, 216, 2 * half].join(" "));
  }
}

function nodeSize(count) {
  return Math.max(0.012, Math.min(0.055, 0.36 / Math.sqrt(Math.max(count, 1))));
}

function drawGraph(graph) {
  graphPane.replaceChildren();
  graphPane.classList.toggle("turns", graph.dims === 3);
  graphPane.setAttribute("aria-label", graph.places.length + " nodes of graph " + graph.number);
  view.edges = element("path", { class: "edge", "stroke-width": graph.edges.length > 600 ? 0.4 : 0.8 }, graphPane);
  const size = nodeSize(graph.places.length);
  view.nodes = graph.places.map((_, node) => mark(graphPane, "node", node, [0, 0], size));
  makeWalkable(view.nodes, "node");
  placeGraph(graph);
  frame();
}

function placeGraph(graph) {
  view.places = projected(graph.places);
  view.places.forEach(([x, y], node) => {
    view.nodes[node].setAttribute("cx", (100 * x).toFixed(2));
    view.nodes[node].setAttribute("cy", (-100 * y).toFixed(2));
  });
  const at = (node) => (100 * view.places[node][0]).toFixed(1) + " " + (-100 * view.places[node][1]).toFixed(1);
  let path = "";
  for (let i = 0; i < graph.edges.length; i += 2) path += "M" + at(graph.edges[i]) + "L" + at(graph.edges[i + 1]);
  view.edges.setAttribute("d", path);
}

function drawSlots(pool, pane, compact) {
  pane.replaceChildren();
  if (pool.columns && !compact) drawBasis(pool, pane);
  const lines = compact && pool.edges.length > 2 * pool.places.length ? [] : pool.edges;
  lines.forEach(([from, to], i) => {
    const [a, b] = [pool.places[from], pool.places[to]];
    element("line", {
      class: "edge", x1: 100 * a[0], y1: -100 * a[1], x2: 100 * b[0], y2: -100 * b[1],
      "stroke-width": 0.3 + pool.weights[i], "stroke-opacity": 0.25 + 0.75 * pool.weights[i],
    }, pane);
  });
  return pool.places.map((place, slot) => {
    const made = mark(pane, "slot", slot, place, pool.size, pool.outlines[slot]);
    made.classList.toggle("idle", pool.idle[slot]);
    return made;
  });
}

function drawStructure(pool) {
  view.slots = drawSlots(pool, slotsPane, false);
  // Outlines reach farther than the centres of their slots.
  [view.structure, view.table] = [[...pool.places, ...pool.outlines.flat()], pool.columns > 0];
  slotsPane.setAttribute("aria-label", pool.words);
  makeWalkable(view.slots, "slot");
  view.dots = pool.places.map(([x, y]) => element("circle", { class: "dot", cx: 100 * x, cy: -100 * y, r: 0 }, slotsPane));
}

// A row of the basis beside each slot: one colour for values above zero, another for those below.
function drawBasis(pool, pane) {
  const rows = pool.places.length, columns = pool.columns;
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
