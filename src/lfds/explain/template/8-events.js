// Pointers, keys and controls.
function target(event) {
  const one = event.target.closest ? event.target.closest("[data-node], [data-slot]") : null;
  if (!one) return null;
  return one.dataset.node !== undefined ? ["node", Number(one.dataset.node)] : ["slot", Number(one.dataset.slot)];
}

const drag = { from: null, moved: false };

for (const pane of [graphPane, slotsPane, byId("usage"), byId("maps")]) {
  pane.addEventListener("pointerover", (event) => {
    const found = target(event);
    if (found && !state.pinned && !drag.from && event.pointerType !== "touch") select(...found, false);
  });
  pane.addEventListener("pointerleave", () => {
    if (!state.pinned && !drag.from) release();
  });
  pane.addEventListener("click", (event) => {
    if (drag.moved) return;
    const found = target(event);
    if (!found) return release();
    const again = state.pinned && state.kind === found[0] && state.number === found[1];
    if (again) release();
    else select(...found, true);
  });
}

for (const [pane, kind] of [[graphPane, "node"], [slotsPane, "slot"]]) {
  const marks = () => (kind === "node" ? view.nodes : view.slots);
  const positions = () => (kind === "node" ? view.positions : atlas.pools[state.pool].positions);
  pane.addEventListener("focusin", (event) => {
    // By keys only: a finger has not been lifted yet, and what appears may move the mark away.
    if (!event.target.matches(":focus-visible")) return;
    const found = target(event);
    if (found && !(state.pinned && state.kind === found[0])) select(...found, state.pinned);
    else if (found) select(...found, true);
  });
  pane.addEventListener("focusout", () => {
    if (!state.pinned) release();
  });
  pane.addEventListener("keydown", (event) => {
    const found = target(event);
    if (!found) return;
    if (event.key === "Enter" || event.key === " ") select(...found, !state.pinned);
    else {
      const to = nextMark(event.key, positions(), found[1]);
      if (to === undefined) return;
      focusOn(marks(), to);
    }
    event.preventDefault();
    event.stopPropagation();
  });
}

graphPane.addEventListener("pointerdown", (event) => {
  drag.moved = false;
  if (currentGraph().dims === 3 && !target(event)) {
    drag.from = [event.clientX, event.clientY, view.turn, view.tilt];
    graphPane.setPointerCapture(event.pointerId);
  }
});
graphPane.addEventListener("pointermove", (event) => {
  if (!drag.from) return;
  const [x, y] = [event.clientX - drag.from[0], event.clientY - drag.from[1]];
  drag.moved = drag.moved || Math.hypot(x, y) > 3;
  turnTo(drag.from[2] + x / 2, drag.from[3] + (event.pointerType === "touch" ? 0 : y / 2));
});
for (const end of ["pointerup", "pointercancel"]) {
  graphPane.addEventListener(end, () => { drag.from = null; });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return release();
  if (event.target.closest("select, input") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft") stepGraph(-1);
  if (event.key === "ArrowRight") stepGraph(1);
  if (event.key === "/") {
    byId("search").focus();
    event.preventDefault();
  }
});
byId("previous").addEventListener("click", () => stepGraph(-1));
byId("next").addEventListener("click", () => stepGraph(1));
byId("output").addEventListener("change", (event) => explain(Number(event.target.value)));
byId("search").addEventListener("input", (event) => {
  state.text = event.target.value;
  filterGallery();
});
byId("filter").addEventListener("change", (event) => {
  state.filter = event.target.value;
  filterGallery();
});
byId("choice").addEventListener("change", (event) => showGraph(Number(event.target.value)));
byId("turn").addEventListener("input", (event) => turnTo(Number(event.target.value), view.tilt));
byId("difference").addEventListener("change", () => shadeMaps(atlas.pools[state.pool]));
addEventListener("resize", () => {
  frame();
  showUsage(atlas.pools[state.pool]);
  refresh();
});

atlas.graphs.forEach((graph, position) => {
  const wrong = graph.target >= 0 && graph.target !== graph.predicted;
  const note = wrong ? ", predicted " + atlas.classes[graph.predicted] : "";
  html("option", byId("choice"), titleOf(graph) + note).value = String(position);
});
const filters = [["all", "all graphs"]];
if (atlas.graphs.some(isWrong)) filters.push(["wrong", "wrong predictions"]);
if (atlas.graphs.some(isUncertain)) filters.push(["uncertain", "uncertain: below 60\u00a0%"]);
atlas.classes.forEach((name, place) => filters.push(["class" + place, "class " + name]));
for (const [value, text] of filters) html("option", byId("filter"), text).value = value;
showLegend();
byId("lead").textContent = "Dataset: " + atlas.name + ", " + atlas.total + " graphs, " + atlas.graphs.length + " of them shown.";
if (atlas.pools.length > 1) {
  byId("structures").hidden = false;
  atlas.pools.forEach((pool, position) => {
    const line = html("label", byId("structures"));
    const radio = html("input", line);
    Object.assign(radio, { type: "radio", name: "structure", checked: position === 0 });
    radio.addEventListener("change", () => showPool(position));
    line.append(" " + pool.title);
  });
}
byId("turn").value = String(view.turn);
drawGallery();
showPool(0);
filterGallery();
