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
