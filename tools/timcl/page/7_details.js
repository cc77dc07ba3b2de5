// Details of what is selected, and of the whole graph where nothing is.

const row = (name, ...value) =>
    make("div", {class: "fact"}, make("span", {}, name),
         make("span", {}, ...value));
const chip = (text, kind = "") => make("span", {class: "chip " + kind}, text);

function reached(value, most, unit) {
  if (!(value > 0)) return null;
  const share = most > 0 ? ` (${shareText(value / most)} of what the device ` +
                           "reaches)" : "";
  return `${digits(value)} ${unit}${share}`;
}

function refusalList(refused) {
  if (refused.length === 0) return make("p", {class: "hint"},
                                        "There is no other kernel.");
  return make("ul", {class: "refused"}, refused.map((text) => {
    const colon = text.indexOf(": ");
    return make("li", {}, make("b", {}, colon < 0 ? text : text.slice(0, colon)),
                colon < 0 ? "" : text.slice(colon));
  }));
}

function placeOf(operand) {
  const slot = data.memory.slots[operand.slot];
  if (slot.kind !== "arena") {
    return {state_read: "state", state_write: "state"}[slot.kind] ?? slot.kind;
  }
  return `arena ${slot.index}, offset ${slot.offset}`;
}

function operandTable(operation) {
  const seen = new Set();
  const rows = operation.operands.filter((operand) => {
    const key = operand.name + operand.slot + operand.written;
    return !seen.has(key) && seen.add(key);
  });
  return make("div", {class: "scroll"}, make(
      "table", {}, make("tr", {}, ["", "tensor", "type", "bytes", "memory"].map(
          (text) => make("th", {}, text))),
      rows.map((operand) => make(
          "tr", {}, make("td", {}, operand.written ? "out" : "in"),
          make("td", {class: "long"}, operand.name),
          make("td", {}, operand.what),
          make("td", {class: "number"},
               bytesText(data.memory.slots[operand.slot].bytes)),
          make("td", {}, placeOf(operand))))));
}

function operationFacts(operation) {
  const device = data.devices[operation.device];
  const measured = device.measured ?? {};
  const others = operation.nodes.map((i) => data.nodes[i]);
  const rates = [
      reached(operation.gflops, measured.gflops, "GFLOP/s"),
      reached(operation.gbytes_per_second, measured.gbytes_per_second, "GB/s")
  ].filter((text) => text);
  return make(
      "div", {class: "operation"},
      make("div", {class: "meter"}, make("span", {style:
          `width: ${100 * operation.share}%; background: ${
              colorOf(operation)}`})),
      row("time", make("b", {}, operationTime(operation)),
          `, ${shareText(operation.share)} of the run`),
      rates.length > 0 ? row("rates", rates.join(", ")) : null,
      row("kernel", make("code", {}, operation.kernel),
          onHost(operation) ? " on the host" : "",
          operation.steps.length > 1 ? `, ${operation.steps.length} steps` : ""),
      operation.chosen ? row("chosen", operation.chosen) : null,
      row("device", device.name),
      others.length > 1
          ? row("runs", others.map((node, i) => [
                i > 0 ? ", " : "", make("a", {href: "#" + encodeURIComponent(
                    node.name), onclick: (event) => {
                  event.preventDefault();
                  selectNode(node);
                }}, node.name)]).flat())
          : null,
      make("details", {open: operation.refused.length > 0 &&
                             operation.refused.length <= 4},
           make("summary", {},
                `${operation.refused.length} kernels refused`),
           refusalList(operation.refused)),
      make("details", {open: true},
           make("summary", {}, "Tensors of its steps"),
           operandTable(operation)));
}

function attributeFacts(node) {
  const entries = Object.entries(node.attributes);
  if (entries.length === 0) return null;
  return make("details", {}, make("summary", {}, `${entries.length} attributes`),
              make("div", {class: "attributes"}, entries.map(([name, value]) =>
                  row(name, make("code", {},
                                 shortened(JSON.stringify(value), 160))))));
}

function nodeTensors(node) {
  const line = (way, id) => id === null ? null : make(
      "tr", {}, make("td", {}, way),
      make("td", {class: "long"}, data.values[id].name),
      make("td", {}, valueText(data.values[id])),
      make("td", {}, data.values[id].role === "transient"
                         ? "" : data.values[id].role));
  return make("details", {}, make("summary", {}, "Tensors in the file"),
              make("div", {class: "scroll"}, make(
                  "table", {}, node.inputs.map((id) => line("in", id)),
                  node.outputs.map((id) => line("out", id)))));
}

function nodeDetails(node) {
  const operations = selection.operations;
  const fused = operations.some((one) => one.nodes.length > 1);
  return [
    make("h2", {}, node.name),
    make("div", {class: "chips"}, chip(plainOp(node.op)),
         operations.some(onHost) ? chip("on the host", "warn") : null,
         fused ? chip("fused") : null,
         operations.length === 0 ? chip("runs in no step") : null),
    operations.length === 0
        ? make("p", {}, "It was folded into constants or into other nodes, is " +
                        "another view of its input, or changes nothing.")
        : null,
    node.decisions.map((i) => data.decisions[i]).map((decision) => make(
        "div", {}, row("chosen", decision.chosen),
        refusalList(decision.refused))),
    operations.map((operation) => [
      fused || operations.length > 1 ? make("h3", {}, operation.name) : null,
      operationFacts(operation)]).flat(),
    attributeFacts(node), nodeTensors(node)];
}

function kindDetails(operations) {
  const us = operations.reduce((sum, one) => sum + one.us, 0);
  return [
    make("h2", {}, `${operations.length} operations ${
        plainOp(operations[0].kind)}`),
    row("time", make("b", {}, timeText(us)),
        `, ${shareText(totalUs > 0 ? us / totalUs : 0)} of the run`),
    row("kernels", [...new Set(operations.map((one) => one.kernel))].join(", "))];
}

function overview() {
  const host = data.operations.filter(onHost).length;
  const slowest = [...data.operations].sort((a, b) => b.us - a.us)[0];
  const gone = data.nodes.filter((node) => node.operations.length === 0).length;
  return [
    make("h2", {}, "This graph"),
    row("file", data.file),
    row("nodes", `${data.nodes.length} as written, ${data.operations.length} ` +
        `operations as run` + (gone > 0 ? `, ${gone} nodes in no step` : "")),
    row("a run", make("b", {}, timeText(data.time.run_us)),
        ` median; ${timeText(data.time.stepwise_us)} step by step`),
    row("memory", `${bytesText(data.memory.arena_bytes)} of arenas, ` +
        `${bytesText(data.memory.constant_bytes)} of constants`),
    severalDevices ? row("on the host", host > 0
        ? chip(`${host} of ${data.operations.length} operations`, "warn")
        : "nothing") : null,
    slowest ? row("slowest", make("a", {href: "#" + encodeURIComponent(
        slowest.name), onclick: (event) => {
      event.preventDefault();
      selectOperation(slowest);
    }}, slowest.name), `, ${shareText(slowest.share)}`) : null,
    make("p", {class: "hint"},
         "Click a node, a bar or a rectangle of the memory plan. Keys: / " +
         "searches, arrows walk, + - f zoom, w and r switch the graph, Esc " +
         "selects nothing.")];
}

function showDetails() {
  const pane = byId("details");
  const {node, operations} = selection;
  let content;
  if (node) {
    content = nodeDetails(node);
  } else if (operations.length === 1) {
    content = [make("h2", {}, operations[0].name),
               make("div", {class: "chips"}, chip(plainOp(operations[0].kind)),
                    onHost(operations[0]) ? chip("on the host", "warn") : null,
                    operations[0].nodes.length > 1 ? chip("fused") : null,
                    operations[0].nodes.length === 0
                        ? chip("made by the compiler") : null),
               operationFacts(operations[0])];
  } else {
    content = operations.length > 1 ? kindDetails(operations) : overview();
  }
  if (node || operations.length > 0) {
    content.unshift(make("button", {class: "close", title: "Close (Esc)",
                                    "aria-label": "Close",
                                    onclick: selectNothing}, "×"));
  }
  pane.replaceChildren(...content.flat(3).filter((one) => one));
  pane.scrollTop = 0;
}
listeners.push(showDetails);
