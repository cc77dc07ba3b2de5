// Writes what a comparison has found.
#include "tools/timcl/comparison_text.h"

#include <algorithm>
#include <cmath>

#include "tools/timcl/graph_file.h"

namespace tim::tool {
namespace {

// The label of the step of `run` that has made the value's node part of a
// larger one; empty where none has.
std::string FusedInto(const RecordedRun& run, const RecordedValue& value) {
  for (const RecordedValue& other : run.values) {
    const std::vector<std::string> parts = PartsOf(other.producer);
    if (std::find(parts.begin(), parts.end(), NodeOf(value)) != parts.end()) {
      return other.producer;
    }
  }
  return "";
}

// A digit of the error is a mark: 1e-9 and less has none, 1 has nine.
std::string BarOf(const LayerDifference& layer) {
  if (!layer.same_size || layer.first_nans != layer.second_nans ||
      !std::isfinite(layer.relative)) {
    return "!!!!!!!!!";
  }
  if (layer.relative <= 1e-9) return "";
  const double digits = 9 + std::log10(layer.relative);
  return std::string(
      static_cast<size_t>(std::clamp(std::ceil(digits), 1.0, 9.0)), '#');
}

std::vector<std::string> RowOf(const LayerDifference& layer) {
  const std::string type = StrCat(ir::ToString(layer.first->desc.type), " ",
                                  layer.first->desc.shape.ToString());
  std::vector<std::string> row = {layer.differs ? "*" : " ",
                                  layer.first->producer, layer.first->name,
                                  type};
  if (!layer.same_size) {
    row.push_back(StrCat("the other has ", layer.second->desc.ToString()));
    return row;
  }
  row.push_back(Scientific(layer.relative));
  row.push_back(layer.codes ? StrCat(*layer.codes) : "");
  row.push_back(Fixed(100 * layer.equal, 2) + " %");
  row.push_back(layer.first_nans + layer.second_nans == 0
                    ? ""
                    : StrCat(layer.first_nans, "/", layer.second_nans));
  row.push_back(BarOf(layer));
  return row;
}

std::string MissingText(const std::vector<const RecordedValue*>& values,
                        const char* missing, const RecordedRun& other) {
  std::string text;
  for (const RecordedValue* value : values) {
    const std::string fused = FusedInto(other, *value);
    if (fused.empty()) continue;
    text += StrCat("fused away in the ", missing, " run: ", NodeOf(*value),
                   " ('", value->name, "'), a part of ", fused, "\n");
  }
  return text;
}

}  // namespace

std::string NodeOf(const RecordedValue& value) {
  return PartsOf(value.producer).back();
}

Json JsonOf(const LayerDifference& layer) {
  Json json = {{"node", NodeOf(*layer.first)},
               {"first_step", layer.first->producer},
               {"second_step", layer.second->producer},
               {"tensor", layer.first->name},
               {"first", layer.first->desc.ToString()},
               {"second", layer.second->desc.ToString()},
               {"differs", layer.differs}};
  if (!layer.same_size) return json;
  json["relative"] = layer.relative;
  json["absolute"] = layer.absolute;
  json["equal"] = layer.equal;
  if (layer.codes) json["codes"] = *layer.codes;
  json["first_nan"] = layer.first_nans;
  json["second_nan"] = layer.second_nans;
  return json;
}

Json JsonOf(const std::vector<const RecordedValue*>& values,
            const RecordedRun& other) {
  Json list = Json::array();
  for (const RecordedValue* value : values) {
    list.push_back({{"step", value->producer},
                    {"tensor", value->name},
                    {"fused_into", FusedInto(other, *value)}});
  }
  return list;
}

std::string Sentence(const LayerDifference& layer) {
  std::string text =
      StrCat(NodeOf(*layer.first), " ('", layer.first->name, "')");
  if (!layer.same_size) return text + ", whose sizes differ";
  if (layer.first_nans != layer.second_nans) {
    return text + StrCat(", with ", layer.first_nans, " and ",
                         layer.second_nans, " times NaN");
  }
  if (layer.codes) {
    return text + StrCat(", codes up to ", *layer.codes, " apart, ",
                         Fixed(100 * layer.equal, 2), " % equal");
  }
  return text + StrCat(", relative error ", Scientific(layer.relative));
}

std::string TextOf(const Comparison& comparison, const RecordedRun& first,
                   const RecordedRun& second) {
  std::vector<std::vector<std::string>> rows = {
      {" ", "step of the first", "tensor", "type", "error", "codes", "equal",
       "NaN", "1e-9 to 1"}};
  for (const LayerDifference& layer : comparison.layers) {
    rows.push_back(RowOf(layer));
  }
  return Columns(rows) + MissingText(comparison.only_second, "first", first) +
         MissingText(comparison.only_first, "second", second);
}

}  // namespace tim::tool
