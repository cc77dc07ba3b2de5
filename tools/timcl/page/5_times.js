// Times: the run as layers of bars, and the operations sorted by share.

const bars = [];  // {operation, element}

function bar(operation, share, offset) {
  const element = make(
      "button",
      {class: "bar", title: `${operation.name}\n${operation.kernel}\n` +
                            `${operationTime(operation)}, ` +
                            shareText(operation.share),
       style: `left: ${100 * offset}%; width: ${100 * share}%; ` +
              `background: ${colorOf(operation)}`,
       tabindex: -1, onclick: () => selectOperation(operation)},
      share > 0.12 ? operation.name : "");
  bars.push({operation, element});
  return element;
}

// Three layers: the run, the kinds of operations, the operations.
function flame() {
  const run = make("div", {class: "layer"}, make(
      "span", {class: "bar whole", style: "left: 0; width: 100%"},
      `${data.operations.length} operations, ${timeText(totalUs)}`));
  const kindLayer = make("div", {class: "layer"});
  const layer = make("div", {class: "layer"});
  let offset = 0;
  for (const kind of kindsByTime) {
    const {us, operations, color} = kinds.get(kind);
    const share = totalUs > 0 ? us / totalUs : 0;
    kindLayer.append(make(
        "button",
        {class: "bar", tabindex: -1,
         title: `${kind}: ${operations.length} operations, ${timeText(us)}, ` +
                shareText(share),
         style: `left: ${100 * offset}%; width: ${100 * share}%; ` +
                `background: ${color}`,
         onclick: () => select({node: null, operations})},
        share > 0.1 ? `${plainOp(kind)} ${shareText(share)}` : ""));
    let at = offset;
    for (const operation of [...operations].sort((a, b) => b.us - a.us)) {
      layer.append(bar(operation, operation.share, at));
      at += operation.share;
    }
    offset += share;
  }
  return make("div", {class: "flame"}, run, kindLayer, layer);
}

function timeRow(operation, most) {
  const element = make(
      "button", {class: "row", onclick: () => selectOperation(operation)},
      make("span", {class: "fill", style:
          `width: ${most > 0 ? 100 * operation.share / most : 0}%; ` +
          `background: ${colorOf(operation)}`}),
      make("span", {class: "name"}, operation.name,
           make("small", {}, operation.kernel +
                             (onHost(operation) ? ", on the host" : ""))),
      make("span", {class: "number"}, operationTime(operation)),
      make("span", {class: "number share"}, shareText(operation.share)));
  bars.push({operation, element, scroll: true});
  return element;
}

function showTimes() {
  const time = data.time;
  const sorted = [...data.operations].sort((a, b) => b.us - a.us);
  const starred = sorted.some((one) => one.clock === "host");
  byId("times").append(
      flame(),
      make("p", {class: "hint"},
           `Step by step, mean of ${time.runs} runs. An ordinary run takes ` +
           `${timeText(time.run_us)} (median), in which steps may overlap, ` +
           "and many be one launch.",
           starred ? " * by the host's clock: the cost of a launch is in it."
                   : ""),
      make("div", {class: "rows"},
           sorted.map((one) => timeRow(one, sorted[0].share))));
}

listeners.push(() => {
  let first = null;
  for (const {operation, element, scroll} of bars) {
    const selected = isSelected(operation);
    element.classList.toggle("selected", selected);
    if (selected && scroll) first ??= element;
  }
  if (first) showInList(first);
});

// Scrolls the list alone, not the page.
function showInList(element) {
  const list = element.closest("[role=tabpanel]");
  if (!list || list.scrollHeight <= list.clientHeight) return;
  const frame = list.getBoundingClientRect();
  const place = element.getBoundingClientRect();
  if (place.top < frame.top || place.bottom > frame.bottom) {
    list.scrollTop += place.top - frame.top - frame.height / 3;
  }
}
