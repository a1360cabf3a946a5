// Links from the selected node or slot to its counterparts: one for each of the largest shares.
const links = document.getElementById("links");

function centre(one, box) {
  const own = one.getBoundingClientRect();
  return [own.left + own.width / 2 - box.left, own.top + own.height / 2 - box.top];
}

function drawLinksFrom(origin, targets, values) {
  const box = links.getBoundingClientRect();
  const [x, y] = centre(origin, box);
  const most = Math.max(...values, 1e-9);
  targets.forEach((target, i) => {
    const [u, v] = centre(target, box);
    const beside = Math.abs(u - x) > Math.abs(v - y);
    const bend = beside
      ? [x + (u - x) / 2, y, x + (u - x) / 2, v]
      : [x, y + (v - y) / 2, u, y + (v - y) / 2];
    element("path", {
      d: "M" + [x, y] + "C" + bend + " " + [u, v],
      "stroke-width": 0.6 + 3 * values[i] / most, "stroke-opacity": 0.12 + 0.5 * values[i] / most,
    }, links);
  });
}

function drawLinks(state, values) {
  links.replaceChildren();
  if (!state.kind) return;
  const [origin, others] = state.kind === "node" ? [view.nodes, view.slots] : [view.slots, view.nodes];
  const ends = largest(values, 10).filter((end) => values[end] >= 0.005);
  drawLinksFrom(origin[state.number], ends.map((end) => others[end]), ends.map((end) => values[end]));
}
