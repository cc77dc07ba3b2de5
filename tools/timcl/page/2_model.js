// The report's data, and what follows from them.

const data = JSON.parse(document.getElementById("data").textContent);

// An element with attributes and children; texts stay texts.
function make(tag, attributes = {}, ...children) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = ["svg", "g", "rect", "path", "text", "title", "line"];
  const element = svg.includes(tag) ? document.createElementNS(namespace, tag)
                                    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (name === "style") {
      element.style.cssText = value;
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

const byId = (id) => document.getElementById(id);

function digits(value) {
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 0.001 || value === 0 ? value.toFixed(value >= 1 ? 2 : 3)
                                       : value.toExponential(1);
}

function timeText(us) {
  if (us >= 1e6) return digits(us / 1e6) + " s";
  return us >= 1e3 ? digits(us / 1e3) + " ms" : digits(us) + " µs";
}

function bytesText(bytes) {
  const units = ["KiB", "MiB", "GiB", "TiB"];
  if (bytes < 1024) return bytes + " B";
  let value = bytes / 1024, unit = 0;
  while (value >= 1024 && unit + 1 < units.length) { value /= 1024; ++unit; }
  return digits(value) + " " + units[unit];
}

const shareText = (share) => digits(100 * share) + " %";

// Times of both clocks; a star is for the host's.
const operationTime = (operation) =>
    timeText(operation.us) + (operation.clock === "host" ? " *" : "");

const totalUs = data.operations.reduce((sum, one) => sum + one.us, 0);
for (const operation of data.operations) {
  operation.share = totalUs > 0 ? operation.us / totalUs : 0;
  operation.kind = operation.op || operation.kernel || "other";
}
const greatestShare =
    data.operations.reduce((most, one) => Math.max(most, one.share), 0);
const severalDevices = data.devices.length > 1;
const onHost = (operation) =>
    severalDevices && data.devices[operation.device].kind === "host";

// A hue per kind of operation, those that take most time first.
const kinds = new Map();
for (const operation of data.operations) {
  const kind = kinds.get(operation.kind) ?? {us: 0, operations: []};
  kind.us += operation.us;
  kind.operations.push(operation);
  kinds.set(operation.kind, kind);
}
const kindsByTime = [...kinds.keys()].sort(
    (a, b) => kinds.get(b).us - kinds.get(a).us);
const kHues = [212, 28, 150, 340, 265, 185, 95, 55, 310, 12];
kindsByTime.forEach((kind, i) => {
  kinds.get(kind).color = i < kHues.length ? `hsl(${kHues[i]} var(--tint))`
                                           : "hsl(220 var(--grey))";
});
const colorOf = (operation) => kinds.get(operation.kind).color;

data.nodes.forEach((node, i) => { node.index = i; });
data.operations.forEach((operation, i) => { operation.index = i; });

// What is selected: a node of the file's graph, and the operations that run it;
// or operations alone.
let selection = {node: null, operations: []};
const listeners = [];
function select(next) {
  selection = next;
  const named =
      next.node ?? (next.operations.length === 1 ? next.operations[0] : null);
  const hash = named ? "#" + encodeURIComponent(named.name) : " ";
  try { history.replaceState(null, "", hash); } catch { /* not everywhere */ }
  for (const listener of listeners) listener();
}
const selectNode = (node) => select(
    {node, operations: node.operations.map((i) => data.operations[i])});
const selectOperation = (operation) => select(
    {node: operation.nodes.length === 1 ? data.nodes[operation.nodes[0]] : null,
     operations: [operation]});
const selectNothing = () => select({node: null, operations: []});

const isSelected = (operation) => selection.operations.includes(operation);
