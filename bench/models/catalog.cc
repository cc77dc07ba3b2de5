#include "bench/models/catalog.h"

#include <charconv>
#include <string>

#include "base/str_cat.h"
#include "bench/networks/quantize.h"
#include "bench/ranges/ranges.h"

namespace tim::bench {

std::span<const CatalogEntry> Catalog() {
  static constexpr CatalogEntry kEntries[] = {
      {"resnet50", Resnet50, Resnet50Ranges},
      {"mobilenet_v2", MobilenetV2, MobilenetV2Ranges},
      {"squeezenet1_1", Squeezenet11},
      {"vgg16", Vgg16},
      {"densenet121", Densenet121},
      {"inception_v1", InceptionV1},
      {"inception_v2", InceptionV2},
      {"shufflenet_v2", ShufflenetV2},
      {"mobilenet_v3_small", MobilenetV3Small, MobilenetV3SmallRanges},
      {"transformer_encoder", [](uint32_t) { return TransformerEncoder(); }},
      {"yolo_head", YoloHead},
      {"feature_pyramid", FeaturePyramid},
      {"unet", Unet},
      {"lstm", [](uint32_t) { return Lstm(); }},
      {"gru", [](uint32_t) { return Gru(); }},
      {"perceptron", [](uint32_t) { return Perceptron(); }},
      {"one_relu", [](uint32_t) { return OneRelu(); }},
  };
  return kEntries;
}

namespace {

Result<Network> MakeFloatNetwork(std::string_view name, uint32_t size) {
  constexpr std::string_view kResiduals = "residuals_";
  if (name.starts_with(kResiduals)) {
    const std::string_view number = name.substr(kResiduals.size());
    int nodes = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), nodes);
    if (error == std::errc() && end == number.data() + number.size() &&
        nodes > 0) {
      return Residuals(nodes);
    }
  }
  std::string names;
  for (const CatalogEntry& entry : Catalog()) {
    if (name == entry.name) return entry.make(size);
    names += StrCat(" ", entry.name);
  }
  return NotFound("no network '", name, "'; there are", names,
                  " residuals_100");
}

}  // namespace

Result<Network> MakeNetwork(std::string_view name, uint32_t size,
                            ElementType type) {
  if (type == ElementType::kFloat32) return MakeFloatNetwork(name, size);
  std::string names;
  for (const CatalogEntry& entry : Catalog()) {
    if (entry.ranges == nullptr) continue;
    if (name == entry.name) {
      return Quantize(entry.make(size), entry.ranges(), type);
    }
    names += StrCat(" ", entry.name);
  }
  return NotFound("no network '", name, "' in ", NameOf(type), "; there are",
                  names);
}

}  // namespace tim::bench
