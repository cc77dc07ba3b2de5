// Convolutions, transposed convolutions and gradients of weights by operators
// of the library, for any strides and dilations.
#include "graph_api/ops/window_gradients.h"

#include <algorithm>
#include <utility>

namespace tim::graph {
namespace {

Dims WithSpatial(int64_t first, int64_t second, const Dims& spatial) {
  Dims out = {first, second};
  out.insert(out.end(), spatial.begin(), spatial.end());
  return out;
}

// Order in which the first two axes are exchanged.
std::vector<int64_t> ExchangeFirst(size_t rank) {
  std::vector<int64_t> order = {1, 0};
  for (size_t i = 2; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
  return order;
}

Tensor WithoutImageAxis(Formula& f, const Tensor& made, size_t spatial) {
  if (spatial != 1 || !f.status().ok()) return made;
  return f.Reshape(made, {made.dims[0], made.dims[1], made.dims[3]});
}

// Zeros behind each cell of a spatial axis, so that it is `steps` times as
// long.
Tensor Stuff(Formula& f, const Tensor& x, const std::vector<int64_t>& steps) {
  if (!f.status().ok()) return {};
  Dims split = {x.dims[0], x.dims[1]};
  Dims back = {0, 0};
  Dims joined = split;
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t extent = x.dims[2 + i];
    split.push_back(extent);
    split.push_back(1);
    back.push_back(0);
    back.push_back(steps[i] - 1);
    joined.push_back(extent * steps[i]);
  }
  if (joined == x.dims) return x;
  const Tensor padded = f.Pad(f.Reshape(x, split), Dims(split.size(), 0), back);
  return f.Reshape(padded, joined);
}

// Weights [O, I / g, X...] become [I, O / g, X...].
Tensor ExchangeChannels(Formula& f, const Tensor& weights, int64_t groups) {
  const Dims spatial = SpatialDims(weights.dims);
  const int64_t outputs = weights.dims[0] / groups;
  const int64_t inputs = weights.dims[1];
  if (groups == 1) {
    return f.Transpose(weights, ExchangeFirst(weights.dims.size()));
  }
  Dims split = WithSpatial(outputs, inputs, spatial);
  split.insert(split.begin(), groups);
  std::vector<int64_t> order = {0, 2, 1};
  for (size_t i = 3; i < split.size(); ++i) {
    order.push_back(static_cast<int64_t>(i));
  }
  return f.Reshape(f.Transpose(f.Reshape(weights, split), order),
                   WithSpatial(groups * inputs, outputs, spatial));
}

// By a transposed convolution of images, with zeros between the taps.
Tensor SpreadImage(Formula& f, const Tensor& diff_dst, const Tensor& weights,
                   const std::vector<Window>& along, int64_t groups,
                   const Dims& extents) {
  const std::vector<Window> windows = AsImage(along);
  const Tensor image = f.Try(AsImage(f.lowering(), diff_dst));
  const Tensor taps = f.Try(AsImage(f.lowering(), weights));
  if (!f.status().ok()) return {};
  const int64_t h = windows.size() > along.size() ? 1 : extents.front();
  const Dims src = {h, extents.back()};
  std::vector<int64_t> pad;
  std::vector<int64_t> stride;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const Window& window = windows[i];
    const int64_t whole = window.stride * (image.dims[2 + i] - 1) +
                          window.kernel * window.dilation;
    pad.push_back(window.begin);
    pad.push_back(whole - window.begin - src[i]);
    stride.push_back(window.stride);
  }
  const Tensor spaced = Stuff(f, ExchangeChannels(f, taps, groups),
                              {windows[0].dilation, windows[1].dilation});
  if (!f.status().ok()) return {};
  const Tensor made = f.Try(
      f.lowering().Add("DeConv2d", {image, spaced},
                       {{"pad", pad}, {"stride", stride}, {"group", groups}}));
  return WithoutImageAxis(f, made, along.size());
}

// By a convolution of diff_dst, with zeros between its cells, with the weights
// turned round.
Tensor SpreadVolume(Formula& f, const Tensor& diff_dst, const Tensor& weights,
                    const std::vector<Window>& windows, int64_t groups,
                    const Dims& extents) {
  std::vector<int64_t> steps;
  Dims whole = diff_dst.dims;
  std::vector<Window> turned = windows;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    steps.push_back(window.stride);
    whole[2 + i] = (diff_dst.dims[2 + i] - 1) * window.stride + 1;
    turned[i].stride = 1;
    turned[i].begin = window.span() - 1 - window.begin;
    turned[i].end =
        extents[i] - whole[2 + i] - turned[i].begin + window.span() - 1;
  }
  const Tensor spaced =
      f.Slice(Stuff(f, diff_dst, steps), Dims(whole.size(), 0), whole);
  const Tensor flipped =
      f.Unary("Reverse", ExchangeChannels(f, weights, groups),
              {{"axis", std::vector<int64_t>{0, 1, 2}}});
  return Convolve(f, spaced, flipped, turned, groups);
}

// `count` elements along an axis, number `part` of such parts.
Tensor PartOf(Formula& f, const Tensor& x, size_t axis, int64_t part,
              int64_t count) {
  Dims start(x.dims.size(), 0);
  Dims extents = x.dims;
  start[axis] = part * count;
  extents[axis] = count;
  return f.Slice(x, start, extents);
}

// The operator of three spatial axes has one group, so each has its own.
Tensor ConvolveVolume(Formula& f, const Tensor& src, const Tensor& weights,
                      const ir::AttributeMap& attributes, int64_t groups) {
  std::vector<Tensor> made;
  for (int64_t group = 0; group < groups; ++group) {
    const Tensor x = PartOf(f, src, 1, group, src.dims[1] / groups);
    const Tensor w = PartOf(f, weights, 0, group, weights.dims[0] / groups);
    if (!f.status().ok()) return {};
    made.push_back(f.Try(f.lowering().Add("Conv3d", {x, w}, attributes)));
  }
  if (groups == 1 || !f.status().ok()) return made[0];
  return f.Try(f.lowering().Add(
      "Concat", made,
      {{"axis", InnerAxis(1, src.rank())}, {"input_cnt", groups}}));
}

}  // namespace

Result<Dims> GivenShape(const Op& op, tim_graph_op_attr_t attribute) {
  const Dims declared = DeclaredDims(op, 0);
  if (!declared.empty()) return declared;
  if (op.Has(attribute) && !op.Ints(attribute).empty()) {
    return op.Ints(attribute);
  }
  return Unimplemented("the dims of ", op.def->outputs[0].name,
                       " are neither declared nor an attribute '",
                       NameOf(attribute), "'");
}

Tensor Convolve(Formula& f, const Tensor& src, const Tensor& weights,
                std::vector<Window> windows, int64_t groups) {
  if (!f.status().ok()) return {};
  Dims start(src.dims.size(), 0);
  Dims kept = src.dims;
  for (size_t i = 0; i < windows.size(); ++i) {
    Window& window = windows[i];
    start[2 + i] = std::max<int64_t>(-window.begin, 0);
    kept[2 + i] -= start[2 + i] + std::max<int64_t>(-window.end, 0);
    window.begin = std::max<int64_t>(window.begin, 0);
    window.end = std::max<int64_t>(window.end, 0);
    if (kept[2 + i] >= 1) continue;
    f.Try(Unimplemented("pads leave nothing along spatial axis ", i));
  }
  const Tensor inner = f.Slice(src, start, kept);
  if (!f.status().ok()) return {};
  const Tensor image = f.Try(AsImage(f.lowering(), inner));
  const Tensor taps = f.Try(AsImage(f.lowering(), weights));
  ir::AttributeMap attributes = ConvolutionAttributes(AsImage(windows));
  if (groups > 1 && groups == src.dims[1] && windows.size() < 3) {
    attributes.Set("multiplier", weights.dims[0] / groups);
  }
  if (!f.status().ok()) return {};
  if (windows.size() == 3) {
    return ConvolveVolume(f, image, taps, attributes, groups);
  }
  const Tensor made =
      f.Try(f.lowering().Add("Conv2d", {image, taps}, std::move(attributes)));
  return WithoutImageAxis(f, made, windows.size());
}

Tensor Spread(Formula& f, const Tensor& diff_dst, const Tensor& weights,
              const std::vector<Window>& windows, int64_t groups,
              const Dims& extents) {
  if (!f.status().ok()) return {};
  return windows.size() == 3
             ? SpreadVolume(f, diff_dst, weights, windows, groups, extents)
             : SpreadImage(f, diff_dst, weights, windows, groups, extents);
}

// The sum over samples and windows is one over channels and taps: samples
// become channels, diff_dst the weights, and its step is the dilation.
Tensor WeightsGradient(Formula& f, const Tensor& src, const Tensor& diff_dst,
                       const std::vector<Window>& windows, int64_t groups) {
  if (!f.status().ok()) return {};
  const Dims spatial = SpatialDims(src.dims);
  const int64_t samples = src.dims[0];
  const int64_t channels = src.dims[1] / groups;
  Dims split = WithSpatial(groups, channels, spatial);
  split.insert(split.begin(), samples);
  std::vector<int64_t> order = {2, 1, 0};
  for (size_t i = 3; i < split.size(); ++i) {
    order.push_back(static_cast<int64_t>(i));
  }
  const Tensor image =
      f.Reshape(f.Transpose(f.Reshape(src, split), order),
                WithSpatial(channels, groups * samples, spatial));
  const Tensor kernel =
      f.Transpose(diff_dst, ExchangeFirst(diff_dst.dims.size()));
  std::vector<Window> turned(windows.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    const int64_t count = diff_dst.dims[2 + i];
    turned[i] = {.kernel = count,
                 .stride = window.dilation,
                 .dilation = window.stride,
                 .begin = window.begin,
                 .end = (count - 1) * window.stride + window.span() -
                        spatial[i] - window.begin};
  }
  const Tensor made = Convolve(f, image, kernel, turned, groups);
  if (!f.status().ok()) return {};
  return f.Transpose(made, ExchangeFirst(made.dims.size()));
}

}  // namespace tim::graph
