// Places boxes in layers from top to bottom, so that edges lead down.

const kLayerGap = 34;
const kBoxGap = 22;
const kBendGap = 12;
// Bends of long edges; edges beyond that are drawn straight.
const kMostBends = 20000;

// The layer of each box: one below the lowest that it reads, and boxes that
// read nothing right above the first that reads them.
function layersOf(count, edges) {
  const below = Array.from({length: count}, () => []);
  const open = new Array(count).fill(0);
  for (const edge of edges) {
    below[edge.from].push(edge.to);
    ++open[edge.to];
  }
  const isSource = open.map((readers) => readers === 0);
  const order = [];
  for (let i = 0; i < count; ++i) if (open[i] === 0) order.push(i);
  const layer = new Array(count).fill(0);
  for (let at = 0; at < order.length; ++at) {
    for (const next of below[order[at]]) {
      layer[next] = Math.max(layer[next], layer[order[at]] + 1);
      if (--open[next] === 0) order.push(next);
    }
  }
  for (let i = 0; i < count; ++i) {
    if (!isSource[i] || below[i].length === 0) continue;
    layer[i] = Math.min(...below[i].map((next) => layer[next])) - 1;
  }
  return layer;
}

// Items are the boxes, and behind them the bends: where the edges of a box pass
// a layer.
function itemsOf(boxes, edges) {
  const layer = layersOf(boxes.length, edges);
  const items = boxes.map((box, i) => (
      {width: box.width, height: box.height, layer: layer[i], up: [], down: [],
       bend: false}));
  const join = (above, below) => {
    if (items[above].down.includes(below)) return;
    items[above].down.push(below);
    items[below].up.push(above);
  };
  const chains = new Map();  // of bends, by the box where they begin
  for (const edge of edges) {
    const first = layer[edge.from] + 1;
    const span = layer[edge.to] - first;
    edge.bends = [];
    if (span < 0) continue;
    if (!chains.has(edge.from)) chains.set(edge.from, []);
    const chain = chains.get(edge.from);
    const added = Math.max(0, span - chain.length);
    if (items.length + added > boxes.length + kMostBends) continue;
    while (chain.length < span) {
      items.push({width: 1, height: 0, layer: first + chain.length, up: [],
                  down: [], bend: true});
      join(chain.length > 0 ? chain[chain.length - 1] : edge.from,
           items.length - 1);
      chain.push(items.length - 1);
    }
    edge.bends = chain.slice(0, span);
    join(span > 0 ? chain[span - 1] : edge.from, edge.to);
  }
  return items;
}

// Orders the items of each layer by where their neighbours are.
function orderLayers(items) {
  const layers = [];
  const seen = new Array(items.length).fill(false);
  const visit = (start) => {
    const stack = [start];
    while (stack.length > 0) {
      const at = stack.pop();
      if (seen[at]) continue;
      seen[at] = true;
      (layers[items[at].layer] ??= []).push(at);
      stack.push(...[...items[at].down].reverse());
    }
  };
  items.forEach((item, i) => { if (item.up.length === 0) visit(i); });
  const place = new Array(items.length).fill(0);
  const number = (layer) => layer.forEach((item, i) => { place[item] = i; });
  layers.forEach(number);
  const sweep = (layer, neighbours) => {
    const wish = new Map(layer.map((item) => {
      const near = items[item][neighbours];
      let sum = 0;
      for (const other of near) sum += place[other];
      return [item, near.length > 0 ? sum / near.length : place[item]];
    }));
    layer.sort((a, b) => wish.get(a) - wish.get(b) || place[a] - place[b]);
    number(layer);
  };
  for (let turn = 0; turn < 8; ++turn) {
    for (const layer of layers) sweep(layer, "up");
    for (const layer of [...layers].reverse()) sweep(layer, "down");
  }
  return layers;
}

// Positions next to those wished for, `gaps[i]` at least between i and i + 1:
// the least sum of weighted squares, by joining neighbours that are too near.
function spread(wishes, weights, gaps) {
  const groups = [];
  let offset = 0;
  wishes.forEach((wish, i) => {
    const weight = weights[i];
    groups.push({sum: (wish - offset) * weight, weight, count: 1});
    offset += gaps[i];
    while (groups.length > 1) {
      const last = groups[groups.length - 1];
      const before = groups[groups.length - 2];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      groups.pop();
      before.sum += last.sum;
      before.weight += last.weight;
      before.count += last.count;
    }
  });
  const places = [];
  offset = 0;
  for (const group of groups) {
    for (let i = 0; i < group.count; ++i) {
      places.push(group.sum / group.weight + offset);
      offset += gaps[places.length - 1];
    }
  }
  return places;
}

function placeAcross(items, layers) {
  const gapsOf = layers.map((layer) => layer.map((item, i) => {
    if (i + 1 === layer.length) return 0;
    const a = items[item], b = items[layer[i + 1]];
    return (a.width + b.width) / 2 + (a.bend || b.bend ? kBendGap : kBoxGap);
  }));
  layers.forEach((layer, l) => {
    const all = gapsOf[l].reduce((sum, gap) => sum + gap, 0);
    let x = -all / 2;
    layer.forEach((item, i) => { items[item].x = x; x += gapsOf[l][i]; });
  });
  // Long edges shall be straight, and those of first inputs.
  const weightOf = (above, below) =>
      items[above].bend && items[below].bend ? 8
      : items[above].down.length === 1 || items[below].up[0] === above ? 6
      : 0.5;
  const settle = (l, sides) => {
    const wishes = [], weights = [];
    for (const item of layers[l]) {
      let sum = 0, weight = 0;
      for (const side of sides) {
        for (const other of items[item][side]) {
          const straight = side === "up" ? weightOf(other, item)
                                         : weightOf(item, other);
          sum += items[other].x * straight;
          weight += straight;
        }
      }
      wishes.push(weight > 0 ? sum / weight : items[item].x);
      weights.push(Math.max(weight, 0.1));
    }
    spread(wishes, weights, gapsOf[l]).forEach((x, i) => {
      items[layers[l][i]].x = x;
    });
  };
  for (let turn = 0; turn < 16; ++turn) {
    const sides = turn < 4 ? null : ["up", "down"];
    for (let l = 1; l < layers.length; ++l) settle(l, sides ?? ["up"]);
    for (let l = layers.length - 2; l >= 0; --l) settle(l, sides ?? ["down"]);
  }
}

// Gives each box x and y, its centre, and each edge the points of its path.
// \param boxes with width and height.  \param edges from box to box, no cycle.
function layOut(boxes, edges) {
  const items = itemsOf(boxes, edges);
  const layers = orderLayers(items);
  placeAcross(items, layers);
  let top = 0;
  for (const layer of layers) {
    const height = layer.reduce((most, i) => Math.max(most, items[i].height), 0);
    for (const i of layer) {
      items[i].y = top + height / 2;
      if (items[i].bend) items[i].height = height;
    }
    top += height + kLayerGap;
  }
  let left = 0, right = 0;
  for (const item of items) {
    left = Math.min(left, item.x - item.width / 2);
    right = Math.max(right, item.x + item.width / 2);
  }
  boxes.forEach((box, i) => {
    box.x = items[i].x - left;
    box.y = items[i].y;
    box.layer = items[i].layer;
  });
  for (const edge of edges) {
    const from = items[edge.from], to = items[edge.to];
    edge.points = [[from.x - left, from.y + from.height / 2]];
    for (const bend of edge.bends) {
      const item = items[bend];
      edge.points.push([item.x - left, item.y - item.height / 2],
                       [item.x - left, item.y + item.height / 2]);
    }
    edge.points.push([to.x - left, to.y - to.height / 2]);
  }
  return {width: right - left, height: Math.max(top - kLayerGap, 0)};
}
