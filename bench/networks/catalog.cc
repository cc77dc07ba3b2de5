#include "bench/networks/catalog.h"

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
  std::string names;
  for (const CatalogEntry& entry : Catalog()) {
    if (name == entry.name) return entry.make(size);
    names += StrCat(" ", entry.name);
  }
  return NotFound("no network '", name, "'; there are", names);
}

}  // namespace tim::bench
