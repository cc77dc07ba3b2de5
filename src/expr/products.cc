// Recognizes matrix products and convolutions by their index variables.
#include "expr/products.h"

#include <algorithm>
#include <array>

namespace tim::expr {
namespace {

// Places of index variables in the two factors.
struct Uses {
  std::array<int, kMostVariables> a;  // Axis that one indexes alone; -1: none.
  std::array<int, kMostVariables> b;
};

std::array<int, kMostVariables> LoneAxes(const Access& access) {
  std::array<int, kMostVariables> axes;
  axes.fill(-1);
  for (size_t axis = 0; axis < access.indices.size(); ++axis) {
    const int variable = access.indices[axis].LoneVariable();
    if (variable >= 0) {
      axes[variable] = axes[variable] < 0 ? static_cast<int>(axis) : -2;
    }
  }
  return axes;
}

bool AllAlone(const Access& access) {
  const auto axes = LoneAxes(access);
  const auto count = std::count_if(axes.begin(), axes.end(),
                                   [](int axis) { return axis >= 0; });
  return count == static_cast<int64_t>(access.indices.size());
}

int64_t Extent(const Binding& binding, const Access& access, int axis) {
  return binding.dims[access.tensor][axis];
}

bool IsFloatOfKernels(ir::DataType type) {
  return type == ir::DataType::kFloat32 || type == ir::DataType::kFloat16;
}

bool TypesFit(const Binding& binding, size_t i) {
  const auto& types = binding.types.tensors;
  const auto& accesses = binding.statements[i].accesses;
  const ir::DataType out = types[binding.program->statements[i].tensor];
  return IsFloatOfKernels(out) && types[accesses[0].tensor] == out &&
         types[accesses[1].tensor] == out;
}

int64_t Joined(const Dims& dims) {
  int64_t product = 1;
  for (const int64_t extent : dims) product *= extent;
  return product;
}

class MatmulFinder {
 public:
  MatmulFinder(const Binding& binding, size_t i)
      : binding_(binding),
        bound_(binding.statements[i]),
        count_(
            static_cast<int>(binding.program->statements[i].variables.size())),
        uses_{LoneAxes(bound_.accesses[0]), LoneAxes(bound_.accesses[1])} {}

  std::optional<Product> Find() {
    for (int v = 0; v < count_; ++v) {
      if (!Classify(v)) return std::nullopt;
    }
    if (depth_.empty()) return std::nullopt;
    Product product;
    product.a = OperandOf(0, uses_.a, {&batch_, &rows_, &depth_});
    product.b = OperandOf(1, uses_.b, {&batch_, &depth_, &columns_});
    std::vector<int> order = batch_;
    order.insert(order.end(), rows_.begin(), rows_.end());
    order.insert(order.end(), columns_.begin(), columns_.end());
    for (const int v : order) product.parts.push_back(bound_.dims[v]);
    for (size_t v = 0; v < bound_.dims.size(); ++v) {
      const auto at = std::find(order.begin(), order.end(), v);
      product.order.push_back(at - order.begin());
    }
    if (!batch_.empty()) product.result.push_back(product.a.dims[0]);
    product.result.push_back(product.a.dims[product.a.dims.size() - 2]);
    product.result.push_back(product.b.dims.back());
    return product;
  }

 private:
  // Every axis that the variable indexes has the same extent.
  bool Classify(int v) {
    const int a = uses_.a[v];
    const int b = uses_.b[v];
    const bool left = v < static_cast<int>(bound_.dims.size());
    int64_t extent = -1;
    if (left) extent = bound_.dims[v];
    for (const auto& [axis, k] : {std::pair{a, 0}, {b, 1}}) {
      if (axis < 0) continue;
      const int64_t other = Extent(binding_, bound_.accesses[k], axis);
      if (extent >= 0 && extent != other) return false;
      extent = other;
    }
    if (a >= 0 && b >= 0) {
      (left ? batch_ : depth_).push_back(v);
      return true;
    }
    if (!left || (a < 0 && b < 0)) return false;
    (a >= 0 ? rows_ : columns_).push_back(v);
    return true;
  }

  ProductOperand OperandOf(
      size_t k, const std::array<int, kMostVariables>& axes,
      const std::array<const std::vector<int>*, 3>& groups) const {
    const Access& access = bound_.accesses[k];
    ProductOperand operand{.tensor = access.tensor, .order = {}, .dims = {}};
    for (const std::vector<int>* group : groups) {
      Dims extents;
      for (const int v : *group) {
        operand.order.push_back(axes[v]);
        extents.push_back(Extent(binding_, access, axes[v]));
      }
      if (group == &batch_ && batch_.empty()) continue;
      operand.dims.push_back(Joined(extents));
    }
    return operand;
  }

  const Binding& binding_;
  const BoundStatement& bound_;
  int count_ = 0;
  Uses uses_;
  std::vector<int> batch_;
  std::vector<int> rows_;
  std::vector<int> columns_;
  std::vector<int> depth_;
};

// A window: stride * y + dilation * i - pad, y on the left, i not.
struct Window {
  int axis = -1;
  int left = -1;
  int tap = -1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;
};

std::optional<Window> WindowOf(const Affine& index, int axis, int left_count) {
  Window window{.axis = axis, .pad = -index.constant};
  for (int v = 0; v < kMostVariables; ++v) {
    const int64_t c = index.coefficients[v];
    if (c == 0) continue;
    int& place = v < left_count ? window.left : window.tap;
    if (place >= 0 || c < 0) return std::nullopt;
    place = v;
    (v < left_count ? window.stride : window.dilation) = c;
  }
  if (window.left < 0 || window.tap < 0 || window.pad < 0) return std::nullopt;
  return window;
}

class ConvolutionFinder {
 public:
  ConvolutionFinder(const Binding& binding, size_t i, int image)
      : binding_(binding),
        bound_(binding.statements[i]),
        image_(bound_.accesses[image]),
        weights_(bound_.accesses[1 - image]),
        of_image_(LoneAxes(image_)),
        of_weights_(LoneAxes(weights_)) {}

  std::optional<Product> Find() {
    if (image_.indices.size() != 4 || weights_.indices.size() != 4 ||
        bound_.dims.size() != 4 || !AllAlone(weights_) || !FindWindows()) {
      return std::nullopt;
    }
    const int n = Only([this](int v) {
      return IsLeft(v) && of_image_[v] >= 0 && of_weights_[v] < 0;
    });
    const int o = Only([this](int v) {
      return IsLeft(v) && of_weights_[v] >= 0 && of_image_[v] < 0;
    });
    const int c = Only([this](int v) {
      return !IsLeft(v) && of_weights_[v] >= 0 && of_image_[v] >= 0;
    });
    if (n < 0 || o < 0 || c < 0) return std::nullopt;
    const int64_t channels = Extent(binding_, image_, of_image_[c]);
    if (channels != Extent(binding_, weights_, of_weights_[c]) ||
        bound_.dims[n] != Extent(binding_, image_, of_image_[n]) ||
        bound_.dims[o] != Extent(binding_, weights_, of_weights_[o])) {
      return std::nullopt;
    }
    Product product;
    product.convolution = true;
    for (const Window& window : windows_) {
      if (!AddWindow(window, &product)) return std::nullopt;
    }
    const Window& y = windows_[0];
    const Window& x = windows_[1];
    product.a = {.tensor = image_.tensor,
                 .order = {of_image_[n], of_image_[c], y.axis, x.axis},
                 .dims = {}};
    product.b = {.tensor = weights_.tensor,
                 .order = {of_weights_[o], of_weights_[c], of_weights_[y.tap],
                           of_weights_[x.tap]},
                 .dims = {}};
    for (const auto& [operand, access] :
         {std::pair{&product.a, &image_}, {&product.b, &weights_}}) {
      for (const int64_t axis : operand->order) {
        operand->dims.push_back(
            Extent(binding_, *access, static_cast<int>(axis)));
      }
    }
    const std::array<int, 4> order = {n, o, y.left, x.left};
    for (const int v : order) product.parts.push_back(bound_.dims[v]);
    product.result = product.parts;
    for (int v = 0; v < 4; ++v) {
      product.order.push_back(std::find(order.begin(), order.end(), v) -
                              order.begin());
    }
    return product;
  }

 private:
  bool IsLeft(int v) const { return v < static_cast<int>(bound_.dims.size()); }

  // The variable with a property that no other has; -1: there is none.
  template <typename Property>
  int Only(Property property) const {
    int found = -1;
    for (int v = 0; v < kMostVariables; ++v) {
      if (!property(v)) continue;
      if (found >= 0) return -1;
      found = v;
    }
    return found;
  }

  bool FindWindows() {
    for (size_t axis = 0; axis < 4; ++axis) {
      if (image_.indices[axis].LoneVariable() >= 0) continue;
      const auto window = WindowOf(image_.indices[axis], static_cast<int>(axis),
                                   static_cast<int>(bound_.dims.size()));
      if (!window || of_weights_[window->tap] < 0) return false;
      windows_.push_back(*window);
    }
    return windows_.size() == 2 && windows_[0].left != windows_[1].left &&
           windows_[0].tap != windows_[1].tap;
  }

  // Padding behind the image is what the last output needs.
  bool AddWindow(const Window& window, Product* product) const {
    constexpr int64_t kMost = int64_t{1} << 30;
    const int64_t kernel = Extent(binding_, weights_, of_weights_[window.tap]);
    const int64_t size = bound_.dims[window.left];
    const int64_t image = Extent(binding_, image_, window.axis);
    if (std::max({window.stride, window.dilation, window.pad, size, kernel,
                  image}) > kMost) {
      return false;
    }
    const int64_t span = window.dilation * (kernel - 1) + 1;
    const int64_t end = (size - 1) * window.stride + span - window.pad - image;
    // More than a stride is left over: the operator would make more outputs.
    if (end <= -window.stride || size < 1 || span > kMost) return false;
    product->strides.push_back(window.stride);
    product->dilations.push_back(window.dilation);
    product->pads_begin.push_back(window.pad);
    product->pads_end.push_back(std::max<int64_t>(end, 0));
    return true;
  }

  const Binding& binding_;
  const BoundStatement& bound_;
  const Access& image_;
  const Access& weights_;
  std::array<int, kMostVariables> of_image_;
  std::array<int, kMostVariables> of_weights_;
  std::vector<Window> windows_;
};

}  // namespace

bool MayBeProduct(const Program& program, size_t i) {
  const Statement& statement = program.statement(i);
  const StatementInfo& info = program.statements[i];
  const Expr& value = statement.nodes[statement.value];
  return statement.aggregate == Aggregate::kSum &&
         statement.constraints.empty() && info.accesses.size() == 2 &&
         value.kind == Expr::Kind::kBinary && value.op == Operator::kMultiply &&
         value.operands[0] == info.accesses[0] &&
         value.operands[1] == info.accesses[1];
}

std::optional<Product> FindProduct(const Binding& binding, size_t i) {
  if (!MayBeProduct(*binding.program, i) || !TypesFit(binding, i)) {
    return std::nullopt;
  }
  const BoundStatement& bound = binding.statements[i];
  for (const Access& access : bound.accesses) {
    if (binding.Elements(access.tensor) == 0) return std::nullopt;
  }
  if (AllAlone(bound.accesses[0]) && AllAlone(bound.accesses[1])) {
    return MatmulFinder(binding, i).Find();
  }
  for (const int image : {0, 1}) {
    const auto product = ConvolutionFinder(binding, i, image).Find();
    if (product) return product;
  }
  return std::nullopt;
}

}  // namespace tim::expr
