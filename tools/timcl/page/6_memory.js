// The memory plan: a diagram per arena, steps from left to right, bytes from the
// top down.

const slotRects = [];  // {slot, operations, element}
const stepBands = [];  // {index, element, band}

const readersAndWriters = new Map();  // operations by slot
data.operations.forEach((operation) => {
  for (const operand of operation.operands) {
    if (!readersAndWriters.has(operand.slot)) {
      readersAndWriters.set(operand.slot, new Set());
    }
    readersAndWriters.get(operand.slot).add(operation);
  }
});

function slotTitle(slot) {
  const stepName = (step) => `step ${step} (${
      data.operations[data.steps[step]].name})`;
  return `${slot.name}\n${bytesText(slot.bytes)} at offset ${slot.offset}\n` +
         (slot.first === slot.last
              ? `only in ${stepName(slot.first)}`
              : `from ${stepName(slot.first)}\nto ${stepName(slot.last)}`);
}

function arenaDiagram(arena, index) {
  const width = 1000, height = 400;
  const across = width / Math.max(1, data.steps.length);
  const down = height / arena.bytes;
  const picture = make("svg", {viewBox: `0 0 ${width} ${height}`,
                               preserveAspectRatio: "none", class: "arena"});
  const band = make("g");
  picture.append(band);
  stepBands.push({band, across, height});
  const slots = data.memory.slots
      .filter((slot) => slot.kind === "arena" && slot.index === index &&
                        slot.first >= 0 && slot.bytes > 0)
      .sort((a, b) => b.bytes - a.bytes);
  for (const slot of slots) {
    const operations = readersAndWriters.get(slot.slot) ?? new Set();
    const writer = slot.writer >= 0 ? data.operations[slot.writer] : null;
    const element = make(
        "rect", {class: "slot", x: slot.first * across, y: slot.offset * down,
                 width: (slot.last - slot.first + 1) * across,
                 height: Math.max(slot.bytes * down, 0.5),
                 "vector-effect": "non-scaling-stroke",
                 style: `fill: ${writer ? colorOf(writer) : "var(--faint)"}`},
        make("title", {}, slotTitle(slot)));
    element.addEventListener("click", () => {
      if (writer) selectOperation(writer);
    });
    slotRects.push({slot, operations, writer, element});
    picture.append(element);
  }
  const device = data.devices[arena.device];
  return make(
      "div", {class: "diagram"},
      make("div", {class: "caption"},
           make("span", {}, `${bytesText(arena.bytes)} on ${device.name}`),
           make("span", {class: "label"}, "")),
      picture,
      make("div", {class: "caption"}, make("span", {}, "step 0"),
           make("span", {}, `step ${data.steps.length - 1}`)));
}

function showMemory() {
  const memory = data.memory;
  const saved = memory.bytes_without_reuse > 0
      ? ` Without reuse: ${bytesText(memory.bytes_without_reuse)}; at least ` +
        `${bytesText(memory.least_possible_bytes)}.` : "";
  const arenas = memory.arenas
      .map((arena, i) => arena.bytes > 0 ? arenaDiagram(arena, i) : null)
      .filter((diagram) => diagram);
  byId("memory").append(
      make("h2", {}, "Memory"),
      make("p", {class: "hint"},
           `Arenas ${bytesText(memory.arena_bytes)}, constants ` +
           `${bytesText(memory.constant_bytes)}.${saved}` +
           (arenas.length === 0 ? " Every tensor is an input, an output or a " +
                                  "constant: there is no arena." : "")),
      ...arenas);
}

listeners.push(() => {
  const some = selection.operations.length > 0;
  for (const {slot, operations, writer, element} of slotRects) {
    const selected = selection.operations.some((one) => operations.has(one));
    element.classList.toggle("selected", selected);
    element.classList.toggle(
        "written", selected && selection.operations.includes(writer));
    element.classList.toggle("dimmed", some && !selected);
  }
  for (const {band, across, height} of stepBands) {
    band.replaceChildren(...data.steps.flatMap((operation, step) =>
        isSelected(data.operations[operation])
            ? [make("rect", {class: "band", x: step * across, y: 0, height,
                             width: Math.max(across, 2)})] : []));
  }
  const written = slotRects.filter(({element}) =>
      element.classList.contains("written")).map(({slot}) => slot.name);
  for (const label of document.querySelectorAll("#memory .label")) {
    label.textContent = written.length > 0
        ? "writes " + shortened([...new Set(written)].join(", "), 60) : "";
  }
});
