// Refusals, options and devices, and the tabs that show one of them.

function showRefusals() {
  const host = data.operations.filter(onHost);
  const pane = byId("refusals");
  pane.append(make("p", {class: "hint"}, !severalDevices
      ? "Everything runs on the host, by the formulas of the operators."
      : host.length === 0 ? "No operation is left to the host."
      : `${host.length} operations are left to the host, and stand first.`));
  const list = data.decisions.map((decision, i) => ({...decision, index: i}));
  list.sort((a, b) => b.on_host - a.on_host || a.index - b.index);
  for (const decision of list) {
    const go = () => {
      const operation = data.operations.find((o) => o.name === decision.node);
      const node = data.nodes.find((n) => n.decisions.includes(decision.index));
      if (operation) selectOperation(operation);
      else if (node) selectNode(node);
    };
    pane.append(make(
        "details", {class: "decision", open: decision.on_host && severalDevices},
        make("summary", {}, make("b", {}, decision.node),
             decision.on_host && severalDevices ? chip("on the host", "warn")
                                                : null,
             make("small", {}, `${decision.refused.length} refused`)),
        row("chosen", decision.chosen), refusalList(decision.refused),
        make("button", {onclick: go}, "show")));
  }
}

function showOptions() {
  byId("options").append(
      make("p", {class: "hint"}, "Variables that were set stand first."),
      ...[...data.options].sort((a, b) => (b.value !== null) - (a.value !== null))
          .map((option) => make(
              "div", {class: option.value === null ? "option" : "option set"},
              make("code", {}, option.name + (option.value === null
                                  ? "" : "=" + option.value)),
              make("small", {}, `${option.meaning} (${option.values}; default ${
                  option.default})`))));
}

function showParts(pane) {
  pane.append(make("h3", {}, "Parts"));
  for (const part of data.partition.parts) {
    const time = part.measured_us === null
        ? "" : `, ${timeText(part.measured_us)} step by step`;
    pane.append(row(`part ${part.id}`, `${part.nodes.length} nodes on ${
        part.device}, ${timeText(part.predicted_us)} predicted${time}`));
  }
  for (const other of data.partition.compared) {
    pane.append(row(other.plan === data.partition.chosen ? "taken" : "compared",
                    `${other.plan}, ${timeText(other.predicted_us)}`));
  }
}

function showDevices() {
  const pane = byId("devices");
  for (const device of data.devices) {
    const facts = Object.entries(device).filter(
        ([name, value]) => !["name", "measured"].includes(name) &&
                           value !== "" && value !== null);
    pane.append(make("h3", {}, device.name), ...facts.map(([name, value]) => row(
        name.replaceAll("_", " ").replace(/ bytes$/, ""),
        name.endsWith("_bytes") ? bytesText(value)
        : Array.isArray(value) ? value.join(", ") || "none" : String(value))));
    if (!device.measured) continue;
    const {gflops, gbytes_per_second, launch_us} = device.measured;
    pane.append(row("measured", `${digits(gflops)} GFLOP/s, ` +
        `${digits(gbytes_per_second)} GB/s, a launch ${timeText(launch_us)}`));
  }
  if (severalDevices && data.partition.parts.length > 1) showParts(pane);
  pane.append(make("h3", {}, "Library"), row("version", data.library),
              row("file written by", data.file_library));
}

const tabs = [...document.querySelectorAll("[role=tab]")];
function showTab(name) {
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", String(chosen));
    byId(tab.dataset.tab).hidden = !chosen;
  }
}
for (const tab of tabs) {
  tab.addEventListener("click", () => showTab(tab.dataset.tab));
}
