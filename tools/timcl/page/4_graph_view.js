// The picture of a graph: panned, zoomed, searched, walked through by keys.

const svg = byId("graph");
const map = byId("map");
const scene = make("g");
svg.append(scene);
const graphs = {};
let shown = null;  // of graphs
let view = {x: 0, y: 0, scale: 1};

const paneSize = () => ({width: svg.clientWidth, height: svg.clientHeight});

function applyView() {
  const {x, y, scale} = view;
  scene.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  scene.classList.toggle("far", scale < 0.3);
  drawMap();
}

function clampView() {
  const {width, height} = paneSize();
  const keep = 60;  // pixels of the graph that stay in sight
  view.x = Math.min(width - keep,
                    Math.max(keep - shown.size.width * view.scale, view.x));
  view.y = Math.min(height - keep,
                    Math.max(keep - shown.size.height * view.scale, view.y));
}

function zoomAt(x, y, factor) {
  const scale = Math.min(3, Math.max(Math.min(0.05, fitScale()),
                                     view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  clampView();
  applyView();
}

function zoomBy(factor) {
  const {width, height} = paneSize();
  zoomAt(width / 2, height / 2, factor);
}

function fitScale() {
  const {width, height} = paneSize();
  return Math.min(1.2, (width - 70) / Math.max(1, shown.size.width),
                  (height - 30) / Math.max(1, shown.size.height));
}

// All of it; of what is too high for that the part around the middle of the
// view, which the map completes.
function showAll() {
  const {width, height} = paneSize();
  const scale = Math.max(fitScale(), 0.15);
  const middle = {x: (width / 2 - view.x) / view.scale,
                  y: (height / 2 - view.y) / view.scale};
  const place = (size, whole, at) => size >= whole * scale
      ? (size - whole * scale) / 2
      : Math.min(15, Math.max(size - whole * scale - 15, size / 2 - at * scale));
  view = {scale, x: place(width - 60, shown.size.width, middle.x),
          y: place(height, shown.size.height, middle.y)};
  applyView();
}

// All of it where that can be read, else its beginning.
function showStart() {
  if (fitScale() >= 0.55) return showAll();
  const {width} = paneSize();
  const scale = Math.min(
      1, Math.max(0.7, (width - 70) / Math.max(1, shown.size.width)));
  const first = shown.boxes.filter((box) => box.layer === 0);
  const middle = first.reduce((sum, box) => sum + box.x, 0) /
                 Math.max(1, first.length);
  view = {scale, x: width / 2 - middle * scale, y: 44};
  clampView();
  applyView();
}

function isInSight(box) {
  const {width, height} = paneSize();
  const x = box.x * view.scale + view.x, y = box.y * view.scale + view.y;
  return x > 40 && x < width - 60 && y > 30 && y < height - 30;
}

function goTo(box) {
  const {width, height} = paneSize();
  const scale = Math.max(view.scale, 0.7);
  view = {scale, x: width / 2 - box.x * scale, y: height / 2 - box.y * scale};
  applyView();
}

function pathOf(points) {
  let path = `M${points[0][0].toFixed(1)} ${points[0][1].toFixed(1)}`;
  for (let i = 1; i < points.length; ++i) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i];
    const middle = ((y0 + y1) / 2).toFixed(1);
    path += x0 === x1 ? `V${y1.toFixed(1)}`
        : `C${x0.toFixed(1)} ${middle} ${x1.toFixed(1)} ${middle} ` +
          `${x1.toFixed(1)} ${y1.toFixed(1)}`;
  }
  return path;
}

function tooltipOf(box) {
  if (box.tooltip) return box.tooltip;
  const lines = [box.note, box.title];
  for (const operation of box.operations) {
    lines.push(`${operation.kernel}${onHost(operation) ? " on the host" : ""}: ` +
               `${operationTime(operation)}, ${shareText(operation.share)}`);
  }
  if (box.operations.length === 0) lines.push("runs in no step");
  return lines.join("\n");
}

function drawBox(box) {
  const left = box.x - box.width / 2, top = box.y - box.height / 2;
  const group = make("g", {class: box.port ? "box port" : "box",
                           style: `--kind: ${box.color ?? "var(--faint)"}`},
                     make("title", {}, tooltipOf(box)));
  group.append(make("rect", {class: "body", x: left, y: top, width: box.width,
                             height: box.height, rx: box.port ? 12 : 6}));
  if (box.port) {
    group.append(make("text", {x: box.x, y: box.y + 4, "text-anchor": "middle"},
                      shortened(box.title)));
    return group;
  }
  if (box.operations.length === 0) group.classList.add("gone");
  if (box.operations.some(onHost)) group.classList.add("host");
  const share = box.operations.reduce((sum, one) => sum + one.share, 0);
  group.append(
      make("rect", {class: "stripe", x: left, y: top, width: 6, rx: 3,
                    height: box.height}),
      make("text", {class: "title", x: left + 13, y: top + 17},
           shortened(box.title)),
      make("text", {class: "note", x: left + 13, y: top + 32},
           shortened(box.note)));
  if (share > 0) {
    group.append(make("rect", {class: "heat", x: left + 6, height: 3,
                               y: top + box.height - 3,
                               width: Math.max(2, (box.width - 8) * share /
                                                    greatestShare)}));
  }
  return group;
}

function drawGraph(graph) {
  graph.size = layOut(graph.boxes, graph.edges);
  graph.edgeElements = graph.edges.map((edge) => make(
      "path", {class: edge.fused ? "edge fused" : "edge",
               d: pathOf(edge.points)}, make("title", {}, edge.tooltip)));
  graph.boxes.forEach((box, i) => {
    box.index = i;
    box.element = drawBox(box);
    box.element.addEventListener("click", () => { if (!dragged) pick(box); });
  });
}

function pick(box) {
  if (box.node) {
    selectNode(box.node);
  } else if (box.operations) {
    selectOperation(box.operations[0]);
  } else {
    selectNothing();
  }
}

function showGraph(name) {
  if (!graphs[name]) {
    graphs[name] = name === "as-run" ? runGraph() : writtenGraph();
    drawGraph(graphs[name]);
  }
  shown = graphs[name];
  scene.replaceChildren(...shown.edgeElements,
                        ...shown.boxes.map((box) => box.element));
  for (const other of ["as-written", "as-run"]) {
    byId(other).setAttribute("aria-pressed", String(other === name));
  }
  showStart();
  markSelection();
  search();
}

// The box that stands for what is selected, and those that run with it.
function isMain(box) {
  if (selection.node && box.node) return box.node === selection.node;
  return box.operations?.some(isSelected) ?? false;
}

function markSelection() {
  let main = null;
  const chosen = new Set();
  for (const box of shown.boxes) {
    const marked = isMain(box);
    if (marked) { main ??= box; chosen.add(box.index); }
    box.element.classList.toggle("selected", marked);
    box.element.classList.toggle(
        "together", !marked && (box.operations?.some(isSelected) ?? false));
  }
  shown.edges.forEach((edge, i) => {
    const element = shown.edgeElements[i];
    element.classList.toggle("from", chosen.has(edge.from));
    element.classList.toggle("to", chosen.has(edge.to));
  });
  if (main && !isInSight(main)) goTo(main);
  drawMap();
}
listeners.push(markSelection);

// --- the map: the whole graph, which may be much higher than wide ------------

function drawMap() {
  const {width, height} = {width: map.clientWidth, height: map.clientHeight};
  const ratio = window.devicePixelRatio || 1;
  map.width = width * ratio;
  map.height = height * ratio;
  const context = map.getContext("2d");
  if (!context || !shown) return;
  context.scale(ratio, ratio);
  const sx = (width - 6) / Math.max(1, shown.size.width);
  const sy = (height - 6) / Math.max(1, shown.size.height);
  const style = getComputedStyle(document.body);
  for (const box of shown.boxes) {
    const selected = box.element.classList.contains("selected");
    const hit = box.element.classList.contains("hit");
    context.fillStyle = style.getPropertyValue(
        selected ? "--accent" : hit ? "--hit" : "--faint");
    const h = Math.max(box.height * sy, selected || hit ? 3 : 1);
    context.fillRect(3 + (box.x - box.width / 2) * sx, 3 + box.y * sy - h / 2,
                     Math.max(2, box.width * sx), h);
  }
  const pane = paneSize();
  context.strokeStyle = style.getPropertyValue("--accent");
  context.lineWidth = 1.5;
  const left = Math.max(1, 3 - view.x / view.scale * sx);
  const top = Math.max(1, 3 - view.y / view.scale * sy);
  const right = Math.min(width - 1, 3 + (pane.width - view.x) / view.scale * sx);
  const bottom = Math.min(height - 1,
                          3 + (pane.height - view.y) / view.scale * sy);
  context.strokeRect(left, top, Math.max(3, right - left),
                     Math.max(3, bottom - top));
}

function goToOnMap(event) {
  const frame = map.getBoundingClientRect();
  const pane = paneSize();
  const x = (event.clientX - frame.left) / frame.width * shown.size.width;
  const y = (event.clientY - frame.top) / frame.height * shown.size.height;
  view.x = pane.width / 2 - x * view.scale;
  view.y = pane.height / 2 - y * view.scale;
  clampView();
  applyView();
}
map.addEventListener("pointerdown", (event) => {
  map.setPointerCapture(event.pointerId);
  goToOnMap(event);
});
map.addEventListener("pointermove", (event) => {
  if (event.buttons) goToOnMap(event);
});

// --- pan and zoom by pointers -------------------------------------------------

const pointers = new Map();
let dragged = false;

svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const frame = svg.getBoundingClientRect();
  zoomAt(event.clientX - frame.left, event.clientY - frame.top,
         Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)));
}, {passive: false});
svg.addEventListener("pointerdown", (event) => {
  pointers.set(event.pointerId, event);
  if (pointers.size === 1) dragged = false;
});
window.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const distance = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  if (pointers.size === 2) {
    const old = distance();
    pointers.set(event.pointerId, event);
    const [a, b] = [...pointers.values()];
    const frame = svg.getBoundingClientRect();
    zoomAt((a.clientX + b.clientX) / 2 - frame.left,
           (a.clientY + b.clientY) / 2 - frame.top,
           distance() / Math.max(1, old));
    dragged = true;
    return;
  }
  const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
  if (!dragged && Math.hypot(dx, dy) < 4) return;
  dragged = true;
  pointers.set(event.pointerId, event);
  view.x += dx;
  view.y += dy;
  clampView();
  applyView();
});
for (const end of ["pointerup", "pointercancel"]) {
  window.addEventListener(end, (event) => pointers.delete(event.pointerId));
}
svg.addEventListener("click", (event) => {
  if (event.target === svg && !dragged) selectNothing();
});

// --- keys: from box to box ----------------------------------------------------

function walk(key) {
  const at = shown.boxes.find((box) => box.element.classList.contains("selected"));
  const boxes = shown.boxes.filter((box) => !box.port);
  if (boxes.length === 0) return;
  if (!at) return pick(boxes.reduce((a, b) => b.layer < a.layer ? b : a));
  let near = [];
  if (key === "ArrowDown" || key === "ArrowUp") {
    const [here, there] = key === "ArrowDown" ? ["from", "to"] : ["to", "from"];
    near = shown.edges.filter((edge) => edge[here] === at.index)
        .map((edge) => shown.boxes[edge[there]]);
  } else {
    const sign = key === "ArrowRight" ? 1 : -1;
    near = boxes.filter((box) => box.layer === at.layer &&
                                 (box.x - at.x) * sign > 0);
  }
  near = near.filter((box) => !box.port);
  if (near.length === 0) return;
  pick(near.reduce((a, b) =>
      Math.abs(b.x - at.x) < Math.abs(a.x - at.x) ? b : a));
}
