// Pairs the layers of two runs and measures how far they are apart.
#include "tools/timcl/layer_differences.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/elements.h"
#include "tools/timcl/graph_file.h"

namespace tim::tool {
namespace {

using kernels::ElementReader;

constexpr double kOfFloats = 1e-3;
constexpr double kOfOthers = 2e-2;

std::string LastPart(const RecordedValue& value) {
  return PartsOf(value.producer).back();
}

// Codes of both mean the same.
bool HaveCodes(const LayerDifference& layer) {
  const ir::DataType type = layer.first->desc.type;
  return !ir::IsFloat(type) &&
         ir::SameElements(layer.first->desc, layer.second->desc);
}

double ToleranceOf(const LayerDifference& layer, const Tolerances& tolerances) {
  if (tolerances.relative) return *tolerances.relative;
  const auto is_wide = [](const RecordedValue& value) {
    return value.desc.type == ir::DataType::kFloat32 ||
           value.desc.type == ir::DataType::kFloat64;
  };
  return is_wide(*layer.first) && is_wide(*layer.second) ? kOfFloats
                                                         : kOfOthers;
}

int64_t Distance(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference) &&
      difference != std::numeric_limits<int64_t>::min()) {
    return std::abs(difference);
  }
  return std::numeric_limits<int64_t>::max();
}

// Infinities are equal where both are the same one.
double Apart(double a, double b) { return a == b ? 0 : std::fabs(a - b); }

void Measure(LayerDifference* layer) {
  const ElementReader first(
      ir::ConstTensor{&layer->first->desc, layer->first->bytes.data()});
  const ElementReader second(
      ir::ConstTensor{&layer->second->desc, layer->second->bytes.data()});
  const int64_t count = layer->first->desc.shape.NumElements().value_or(0);
  const bool codes = HaveCodes(*layer);
  if (codes) layer->codes = 0;
  int64_t equal = 0;
  double greatest = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (codes) {
      const int64_t apart = Distance(first.Code(i), second.Code(i));
      layer->codes = std::max(*layer->codes, apart);
    }
    const double a = first.Real(i);
    const double b = second.Real(i);
    layer->first_nans += std::isnan(a) ? 1 : 0;
    layer->second_nans += std::isnan(b) ? 1 : 0;
    if (std::isnan(a) || std::isnan(b)) {
      equal += std::isnan(a) && std::isnan(b) ? 1 : 0;
      continue;
    }
    equal += a == b ? 1 : 0;
    layer->absolute = std::max(layer->absolute, Apart(a, b));
    if (std::isfinite(b)) greatest = std::max(greatest, std::fabs(b));
  }
  layer->relative = greatest > 0 ? layer->absolute / greatest : layer->absolute;
  if (count > 0) {
    layer->equal = static_cast<double>(equal) / static_cast<double>(count);
  }
}

LayerDifference Difference(const RecordedValue& first,
                           const RecordedValue& second,
                           const Tolerances& tolerances) {
  LayerDifference layer;
  layer.first = &first;
  layer.second = &second;
  layer.same_size =
      first.desc.shape.NumElements() == second.desc.shape.NumElements();
  if (!layer.same_size) {
    layer.equal = 0;
    layer.differs = true;
    return layer;
  }
  Measure(&layer);
  layer.differs = layer.first_nans != layer.second_nans;
  if (layer.codes) {
    layer.differs |= *layer.codes > tolerances.codes;
  } else {
    layer.differs |= !(layer.relative <= ToleranceOf(layer, tolerances));
  }
  return layer;
}

// The values of a run that have no partner yet.
class Unpaired {
 public:
  explicit Unpaired(const RecordedRun& run) {
    for (const RecordedValue& value : run.values) left_.push_back(&value);
  }

  // The value of that name; of several the one of the same node, else none.
  const RecordedValue* TakeNamed(const RecordedValue& partner) {
    const auto has_name = [&](const RecordedValue* value) {
      return value->name == partner.name;
    };
    if (partner.name.empty()) return nullptr;
    const RecordedValue* const taken =
        TakeOnly([&](const RecordedValue* value) {
          return has_name(value) && LastPart(*value) == LastPart(partner);
        });
    return taken != nullptr ? taken : TakeOnly(has_name);
  }
  // The only one of that node.
  const RecordedValue* TakeOfNode(const RecordedValue& partner) {
    return TakeOnly([&](const RecordedValue* value) {
      return LastPart(*value) == LastPart(partner);
    });
  }
  const std::vector<const RecordedValue*>& left() const { return left_; }

 private:
  template <typename Predicate>
  const RecordedValue* TakeOnly(const Predicate& is_meant) {
    const auto found = std::find_if(left_.begin(), left_.end(), is_meant);
    if (found == left_.end() ||
        std::find_if(found + 1, left_.end(), is_meant) != left_.end()) {
      return nullptr;
    }
    const RecordedValue* const taken = *found;
    left_.erase(found);
    return taken;
  }

  std::vector<const RecordedValue*> left_;
};

}  // namespace

const LayerDifference* Comparison::FirstDifferent() const {
  const auto found =
      std::find_if(layers.begin(), layers.end(),
                   [](const LayerDifference& layer) { return layer.differs; });
  return found == layers.end() ? nullptr : &*found;
}

Comparison Compare(const RecordedRun& first, const RecordedRun& second,
                   const Tolerances& tolerances) {
  Unpaired unpaired(second);
  std::vector<const RecordedValue*> partners;
  for (const RecordedValue& value : first.values) {
    partners.push_back(unpaired.TakeNamed(value));
  }
  Comparison comparison;
  for (size_t i = 0; i < partners.size(); ++i) {
    const RecordedValue& value = first.values[i];
    if (partners[i] == nullptr) partners[i] = unpaired.TakeOfNode(value);
    if (partners[i] == nullptr) {
      comparison.only_first.push_back(&value);
    } else {
      comparison.layers.push_back(Difference(value, *partners[i], tolerances));
    }
  }
  comparison.only_second = unpaired.left();
  return comparison;
}

}  // namespace tim::tool
