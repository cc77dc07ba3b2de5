// The two graphs as boxes and edges: as the file has it, as devices run it.

const kMostLetters = 30;
const shortened = (text, most = kMostLetters) =>
    text.length > most ? text.slice(0, most / 2) + "…" + text.slice(-most / 2)
                       : text;
const plainOp = (op) => op.replace(/^tim\./, "").replace(/@\d+$/, "");

function boxOf(facts) {
  const letters = Math.max(shortened(facts.title).length * 1.12,
                           shortened(facts.note ?? "").length);
  return {width: Math.max(72, Math.min(250, letters * 6.6 + 26)),
          height: facts.port ? 24 : 42, words: "", ...facts};
}

function portBox(title, value, note) {
  return boxOf({port: true, title: title + " " + value.name, note: "",
                tooltip: [title + " " + value.name, note].join("\n"),
                words: value.name + " " + title});
}

const valueText = (value) =>
    [value.type, value.shape ? "[" + value.shape.map((n) => n ?? "?").join(", ")
                               + "]" : ""].join(" ");

function writtenGraph() {
  const boxes = data.nodes.map((node) => {
    const operations = node.operations.map((i) => data.operations[i]);
    const tensors = [...node.inputs, ...node.outputs].filter((v) => v !== null)
        .map((v) => data.values[v].name);
    return boxOf({
      node, operations, title: plainOp(node.op), note: node.name,
      color: operations.length > 0 ? colorOf(operations[0]) : null,
      words: [node.name, node.op, ...tensors,
              ...operations.map((one) => one.kernel + " " + one.name)].join(" ")});
  });
  const edges = [];
  const producer = new Map();
  data.nodes.forEach((node, i) => {
    for (const value of node.outputs) producer.set(value, i);
  });
  const addPort = (title, value) => {
    boxes.push(portBox(title, data.values[value], valueText(data.values[value])));
    return boxes.length - 1;
  };
  data.values.forEach((value, i) => {
    if (value.role === "input" || value.role === "state") {
      producer.set(i, addPort(value.role, i));
    }
  });
  const sameOperation = (a, b) =>
      boxes[a].operations?.some((one) => boxes[b].operations?.includes(one)) ??
      false;
  const connect = (value, to) => {
    const from = producer.get(value);
    if (from === undefined || from === to) return;
    edges.push({from, to, fused: sameOperation(from, to),
                tooltip: data.values[value].name + "\n" +
                         valueText(data.values[value])});
  };
  data.nodes.forEach((node, i) => {
    for (const value of new Set(node.inputs)) connect(value, i);
  });
  for (const value of data.outputs) connect(value, addPort("output", value));
  for (const {state, next} of data.states) {
    connect(next, addPort("next state", state));
  }
  return {boxes, edges};
}

function runGraph() {
  const boxes = data.operations.map((operation) => boxOf({
    operations: [operation], title: plainOp(operation.kind),
    note: operation.name, color: colorOf(operation),
    words: [operation.name, operation.kind, operation.kernel,
            ...operation.operands.map((one) => one.name)].join(" ")}));
  const edges = [];
  const connect = (from, to, operand) => {
    if (from !== undefined && from < to || boxes[from]?.port) {
      edges.push({from, to, fused: false,
                  tooltip: operand.name + "\n" + operand.what});
    }
  };
  // A slot that nobody has written yet is an input or a state; an output's is
  // read by nobody else.
  const writers = new Map();  // by tensor, else by slot
  const keyOf = (operand) =>
      operand.tensor >= 0 ? "t" + operand.tensor : "s" + operand.slot;
  const sources = new Map();
  data.operations.forEach((operation, at) => {
    for (const operand of operation.operands) {
      if (operand.written) continue;
      const kind = data.memory.slots[operand.slot].kind;
      const title = {input: "input", state_read: "state"}[kind];
      if (title && !writers.has(keyOf(operand))) {
        const index = data.memory.slots[operand.slot].index;
        const key = kind + index;
        if (!sources.has(key)) {
          boxes.push(portBox(title, operand, operand.what));
          sources.set(key, boxes.length - 1);
        }
        connect(sources.get(key), at, operand);
        continue;
      }
      for (const from of writers.get(keyOf(operand)) ?? []) {
        connect(from, at, operand);
      }
    }
    for (const operand of operation.operands) {
      if (!operand.written) continue;
      const key = keyOf(operand);
      if (!writers.has(key)) writers.set(key, new Set());
      writers.get(key).add(at);
    }
  });
  data.operations.forEach((operation, at) => {
    for (const operand of operation.operands) {
      const kind = data.memory.slots[operand.slot].kind;
      const title = {output: "output", state_write: "next state"}[kind];
      if (!operand.written || !title) continue;
      boxes.push(portBox(title, operand, operand.what));
      edges.push({from: at, to: boxes.length - 1, fused: false,
                  tooltip: operand.name + "\n" + operand.what});
    }
  });
  return {boxes, edges};
}
