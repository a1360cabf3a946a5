// Thumbnails of all graphs, which can be searched and filtered.
const gallery = { pictures: [], shown: [] };

function drawGallery() {
  const place = byId("gallery");
  gallery.pictures = atlas.graphs.map((graph, position) => {
    const button = html("button", place, undefined, isWrong(graph) ? "wrong" : "");
    button.type = "button";
    button.title = titleOf(graph) + (isWrong(graph) ? ", predicted " + atlas.classes[graph.predicted] : "");
    button.setAttribute("aria-label", button.title);
    const pane = element("svg", { viewBox: "-108 -108 216 216", "aria-hidden": "true" }, button);
    const positions = projected(graph.positions);
    const at = ([x, y]) => (100 * x).toFixed(0) + " " + (-100 * y).toFixed(0);
    let lines = "";
    for (let i = 0; i < Math.min(graph.edges.length, 1200); i += 2) lines += "M" + at(positions[graph.edges[i]]) + "L" + at(positions[graph.edges[i + 1]]);
    element("path", { d: lines, class: "edge", "stroke-width": 3 }, pane);
    element("path", { d: positions.map((one) => "M" + at(one) + "h0").join(""), class: "points" }, pane);
    html("span", button, String(graph.number));
    button.addEventListener("click", () => showGraph(position));
    return button;
  });
}

function matches(graph) {
  const kinds = { all: true, wrong: isWrong(graph), uncertain: isUncertain(graph) };
  const kind = state.filter in kinds ? kinds[state.filter] : "class" + (graph.target >= 0 ? graph.target : graph.predicted) === state.filter;
  return kind && (titleOf(graph) + " " + graph.number + " " + graph.symbols.join("")).toLowerCase().includes(state.text.toLowerCase());
}

function filterGallery() {
  gallery.shown = [];
  atlas.graphs.forEach((graph, position) => {
    const found = matches(graph);
    gallery.pictures[position].hidden = !found;
    byId("choice").options[position].hidden = !found;
    if (found) gallery.shown.push(position);
  });
  byId("found").textContent = gallery.shown.length + " of " + atlas.graphs.length + " graphs";
  if (gallery.shown.length && !gallery.shown.includes(state.graph)) showGraph(gallery.shown[0]);
}

// The next graph among those that are found.
function stepGraph(step) {
  const all = gallery.shown.length ? gallery.shown : atlas.graphs.map((_, position) => position);
  const at = all.indexOf(state.graph);
  showGraph(all[(at + step + all.length) % all.length]);
}

function markThumbnail() {
  gallery.pictures.forEach((one, position) => one.setAttribute("aria-current", String(position === state.graph)));
  const [place, current] = [byId("gallery"), gallery.pictures[state.graph]];
  if (current) place.scrollLeft = current.offsetLeft - place.offsetLeft - place.clientWidth / 2;
}
