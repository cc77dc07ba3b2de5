// Search, keys, and the first look.

let hits = [];
let at = -1;

function search() {
  const words = byId("query").value.toLowerCase().split(/\s+/)
      .filter((word) => word);
  hits = words.length === 0 ? [] : shown.boxes.filter((box) => {
    const text = box.words.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  hits.sort((a, b) => a.layer - b.layer || a.x - b.x);
  const found = new Set(hits);
  scene.classList.toggle("searched", words.length > 0);
  for (const box of shown.boxes) {
    box.element.classList.toggle("hit", found.has(box));
  }
  at = -1;
  byId("matches").textContent =
      words.length === 0 ? "" : hits.length === 0 ? "none" : `${hits.length}`;
  for (const button of ["previous", "next"]) {
    byId(button).disabled = hits.length === 0;
  }
  drawMap();
}

function goToHit(step) {
  if (hits.length === 0) return;
  at = at < 0 ? (step > 0 ? 0 : hits.length - 1)
              : (at + step + hits.length) % hits.length;
  byId("matches").textContent = `${at + 1} / ${hits.length}`;
  pick(hits[at]);
  goTo(hits[at]);
}

byId("query").addEventListener("input", search);
byId("query").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    goToHit(event.shiftKey ? -1 : 1);
  } else if (event.key === "Escape") {
    byId("query").value = "";
    search();
    svg.focus();
  }
});
byId("next").addEventListener("click", () => goToHit(1));
byId("previous").addEventListener("click", () => goToHit(-1));
byId("zoom-in").addEventListener("click", () => zoomBy(1.35));
byId("zoom-out").addEventListener("click", () => zoomBy(1 / 1.35));
byId("fit").addEventListener("click", showAll);
byId("as-written").addEventListener("click", () => showGraph("as-written"));
byId("as-run").addEventListener("click", () => showGraph("as-run"));

const keys = {
  "/": () => { byId("query").focus(); byId("query").select(); },
  "+": () => zoomBy(1.35), "=": () => zoomBy(1.35), "-": () => zoomBy(1 / 1.35),
  f: showAll, w: () => showGraph("as-written"), r: () => showGraph("as-run"),
  n: () => goToHit(1), N: () => goToHit(-1), Escape: selectNothing};
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input") || event.ctrlKey || event.metaKey ||
      event.altKey) return;
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  } else if (event.key.startsWith("Arrow") &&
             [svg, document.body].includes(event.target)) {
    event.preventDefault();
    walk(event.key);
  }
});

function showLegend() {
  byId("legend").append(...kindsByTime.slice(0, kHues.length).map((kind) => make(
      "button", {title: "Select them", onclick: () => select(
          {node: null, operations: kinds.get(kind).operations})},
      make("i", {style: `background: ${kinds.get(kind).color}`}),
      plainOp(kind))));
}

function selectByHash() {
  let name = "";
  try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const node = data.nodes.find((one) => one.name === name);
  const operation = data.operations.find((one) => one.name === name);
  if (node) selectNode(node);
  else if (operation) selectOperation(operation);
}

const device = data.devices[data.devices.length - 1];
byId("graph-name").textContent = data.graph || data.file;
byId("facts").textContent = [
  device.name, timeText(data.time.run_us) + " a run",
  "TIM-CL " + data.library].join(" · ");
showTimes();
showRefusals();
showOptions();
showDevices();
showMemory();
showLegend();
showTab("times");
showGraph("as-written");
showDetails();
window.addEventListener("hashchange", selectByHash);
new ResizeObserver(() => { clampView(); applyView(); }).observe(svg);
selectByHash();
document.body.dataset.ready = `${data.nodes.length} nodes`;
