#include "bench/networks/catalog.h"

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
