// Elements of images gathered by taps, and weighted.
#include "models/onnx/ops/images/taps.h"

#include "tim/vx/ops/gather.h"

namespace tim::models::onnx::images {

Tap TapWithin(const Formula& at, const Formula& weight, float extent) {
  const float last = extent - 1;
  const Formula inside = (0.0f <= at) && (at <= last);
  return {at.Clip(0, last), weight * inside.AsFactor()};
}

std::vector<Tap> LinearTaps(const Formula& x, int64_t extent) {
  const Formula base = x.Floor();
  const Formula rest = x - base;
  const auto elements = static_cast<float>(extent);
  return {TapWithin(base, rest * -1.0f + 1.0f, elements),
          TapWithin(base + 1.0f, rest, elements)};
}

std::vector<Tap> Combined(const std::vector<Tap>& outer,
                          const std::vector<Tap>& inner, int64_t extent) {
  std::vector<Tap> all;
  for (const Tap& a : outer) {
    for (const Tap& b : inner) {
      all.push_back({a.index * static_cast<float>(extent) + b.index,
                     a.weight * b.weight});
    }
  }
  return all;
}

Result<Value> Sampled(const Value& image, const std::vector<Tap>& taps,
                      int64_t elements, int64_t points) {
  GraphBuilder* const builder = taps[0].index.builder();
  const int64_t batch = image.dims[0], channels = image.dims[1];
  TIM_ASSIGN_OR_RETURN(const Value flat,
                       builder->Reshape(image, {batch, channels, elements}));
  Result<Value> sum = Value();
  for (size_t i = 0; i < taps.size(); ++i) {
    const Formula index = taps[i].index.AsIndex();
    if (!index.result().ok()) return index.result();
    const Formula taken(builder, builder->Add<vx::ops::Gather>(
                                     {flat, *index.result()},
                                     Wanted::Of(vx::DataType::FLOAT32,
                                                {batch, channels, points}),
                                     0, 1));
    const Formula weight =
        taps[i].weight.result().ok() && taps[i].weight.result()->rank() == 0
            ? taps[i].weight
            : taps[i].weight.Reshape({batch, 1, points});
    const Formula part = taken * weight;
    sum = i == 0 ? part.result() : (Formula(builder, sum) + part).result();
    if (!sum.ok()) return sum;
  }
  return sum;
}

}  // namespace tim::models::onnx::images
