// The state of the page: the graph and structure shown, and the selected node or slot.
const state = { graph: atlas.first, pool: 0, kind: null, number: 0, pinned: false, output: 0, filter: "all", text: "" };
const currentGraph = () => atlas.graphs[state.graph];

function refresh() {
  const graph = currentGraph(), pool = atlas.pools[state.pool], part = graph.pools[state.pool];
  const row = state.kind === "node" ? rowOf(graph, state.pool, state.number) : null;
  const column = state.kind === "slot" ? columnOf(graph, state.pool, state.number) : null;
  const onSlots = row || part.mass;
  const support = row || column ? null : supportOf(graph, state.output);
  const onNodes = column || (row ? overlap(graph, state.pool, row) : support);
  const [mostSlots, mostNodes] = [Math.max(0, ...onSlots), Math.max(0, ...onNodes.map(Math.abs))];
  shade(view.slots, onSlots, mostSlots);
  shade(view.nodes, onNodes, mostNodes);
  const added = part.effects[state.output];
  const mostAdded = Math.max(1e-9, ...added.map(Math.abs));
  view.dots.forEach((dot, slot) => {
    dot.setAttribute("r", row ? 0 : 55 * pool.size * Math.sqrt(Math.abs(added[slot]) / mostAdded));
    dot.classList.toggle("minus", added[slot] < 0);
  });
  showScale("slots-scale", row ? "shares of node " + state.number : "fraction of this graph's nodes", mostSlots,
    row ? "" : "dot: what the slot adds to " + scoreName(state.output) + " (orange: takes away)");
  showScale("graph-scale", column ? "share on slot " + state.number : row ? "overlap with the slots of node " + state.number
    : "by how much " + (atlas.classes.length ? "the probability of " : "") + outputs[state.output] + " falls without each node", mostNodes, "", Boolean(support));
  for (const [marks, kind] of [[view.nodes, "node"], [view.slots, "slot"]]) {
    marks.forEach((one, i) => one.classList.toggle("selected", state.kind === kind && i === state.number));
  }
  if (row) describeNode(graph, state.pool, state.number, row);
  else if (column) describeSlot(graph, state.pool, state.number, column);
  else describeGraph(graph, state.pool);
  drawLinks(state, row || column || []);
  writeNumbers(slotsPane, row ? largest(row, 3).filter((slot) => row[slot] >= 0.02) : column ? [state.number] : [], pool.labelPositions);
  const above = view.positions.map(([x, y]) => [x, y + 0.08]);
  writeNumbers(graphPane, column ? largest(column, 3).filter((node) => column[node] >= 0.02) : row ? [state.number] : [], above);
  markInMaps(state);
}

function select(kind, number, pin) {
  Object.assign(state, { kind, number, pinned: Boolean(pin) });
  refresh();
}

function release() {
  select(null, 0, false);
}

function showGraph(position) {
  const count = atlas.graphs.length;
  Object.assign(state, { graph: (position + count) % count, kind: null, pinned: false });
  const graph = currentGraph();
  state.output = Math.max(0, graph.predicted);
  byId("choice").value = String(state.graph);
  byId("graph-title").textContent = titleOf(graph);
  byId("graph-note").textContent = graph.positions.length + " nodes, " + graph.edges.length / 2 + " edges. " +
    (graph.bonds.length ? "Drawn as a molecule; corners without a letter are carbon." : graph.hasCoordinates ? "Drawn at its own coordinates" + (graph.dims === 3 ? "; drag to rotate." : ".") : "Laid out by its edges.");
  byId("turning").hidden = graph.dims !== 3;
  drawGraph(graph);
  showPrediction(graph);
  showOutputs(graph);
  explain(state.output);
  markThumbnail();
}

// Explain an output: the predicted class, or another on request.
function explain(output) {
  state.output = output;
  showDecided(currentGraph(), state.pool, (kind, slot) => select(kind, slot, true));
  refresh();
}

function showPool(position) {
  state.pool = position;
  const pool = atlas.pools[position];
  byId("slots-title").textContent = pool.title;
  const notes = [pool.note, pool.idle.some(Boolean) ? "hollow slots are idle over all graphs" : ""];
  byId("slots-note").textContent = notes.filter(Boolean).map((note) => note[0].toUpperCase() + note.slice(1) + ".").join(" ");
  byId("small-print").textContent = "Of the " + atlas.headChannels[atlas.headChannels.length - 1] +
    " input channels of the head, " + atlas.headChannels[position] + " come from this structure" +
    (pool.extraReadout ? ", half of them as " + pool.extraReadout + " over all slots. " : ". ") +
    "Shares are rounded to " + (1 / atlas.levels).toPrecision(2) + " in this page.";
  drawStructure(pool);
  showUsage(pool);
  showMaps(pool);
  showMeanings(pool, (kind, slot) => select(kind, slot, true));
  showGraph(state.graph);
}

function turnTo(turn, tilt) {
  view.turn = ((turn % 360) + 360) % 360;
  view.tilt = Math.max(-80, Math.min(80, tilt));
  byId("turn").value = String(Math.round(view.turn));
  placeGraph(currentGraph());
  refresh();
}
