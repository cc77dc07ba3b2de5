#include "bench/models/catalog.h"

#include <charconv>
#include <string>

#include "base/str_cat.h"

namespace tim::bench {

std::span<const CatalogEntry> Catalog() {
  static constexpr CatalogEntry kEntries[] = {
      {"resnet50", Resnet50},
      {"mobilenet_v2", MobilenetV2},
      {"squeezenet1_1", Squeezenet11},
      {"vgg16", Vgg16},
      {"densenet121", Densenet121},
      {"inception_v1", InceptionV1},
      {"inception_v2", InceptionV2},
      {"shufflenet_v2", ShufflenetV2},
      {"mobilenet_v3_small", MobilenetV3Small},
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

Result<Network> MakeNetwork(std::string_view name, uint32_t size) {
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

}  // namespace tim::bench
