// Marks in a picture: nodes or slots that can be shaded, selected, and reached by keys.
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(made);
  return made;
}

function html(name, parent, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  if (parent) parent.appendChild(made);
  return made;
}

// A disc at a position from -1 to 1, y upwards, or an outline.
function mark(parent, kind, number, position, size, outline) {
  const made = outline
    ? element("polygon", { points: outline.map(([x, y]) => [100 * x, -100 * y]).join(" ") }, parent)
    : element("circle", { cx: 100 * position[0], cy: -100 * position[1], r: 100 * size }, parent);
  made.setAttribute("class", "mark");
  made.dataset[kind] = number;
  return made;
}

// Shade marks by values: 0 is pale, `most` is strong.
function shade(marks, values, most) {
  for (let i = 0; i < marks.length; i++) {
    const part = most > 0 ? Math.min(1, Math.abs(values[i]) / most) : 0;
    marks[i].style.setProperty("--v", (100 * part).toFixed(1) + "%");
    marks[i].classList.toggle("negative", values[i] < 0);
    marks[i].dataset.value = values[i].toFixed(6);
  }
}

// One mark is in the tab order; arrow keys move it to others.
function makeFocusable(marks, name) {
  marks.forEach((one, number) => {
    one.setAttribute("role", "button");
    one.setAttribute("aria-label", name + " " + number);
    one.setAttribute("tabindex", number ? "-1" : "0");
  });
}

function focusOn(marks, number) {
  for (const one of marks) if (one.getAttribute("tabindex") === "0") one.setAttribute("tabindex", "-1");
  marks[number].setAttribute("tabindex", "0");
  marks[number].focus({ preventScroll: false });
}

// The nearest position in a direction; the distance across the direction counts double.
function nearestTowards(positions, from, dx, dy) {
  let best = from, least = Infinity;
  for (let i = 0; i < positions.length; i++) {
    const [x, y] = [positions[i][0] - positions[from][0], positions[i][1] - positions[from][1]];
    const ahead = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
    if (ahead > 1e-6 && ahead + 2 * aside < least) [best, least] = [i, ahead + 2 * aside];
  }
  return best;
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function nextMark(key, positions, from) {
  if (key in DIRECTIONS) return nearestTowards(positions, from, ...DIRECTIONS[key]);
  const last = positions.length - 1;
  return { PageDown: Math.min(from + 1, last), PageUp: Math.max(from - 1, 0), Home: 0, End: last }[key];
}
