// Infers extents of all tensors of a program.
#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "expr/binding.h"

namespace tim::expr {
namespace {

std::string TextOf(const Dims& dims) {
  std::string out = "[";
  for (const int64_t extent : dims) {
    if (out.size() > 1) out += ", ";
    out += extent == kUnknownSize ? "?" : StrCat(extent);
  }
  return out + "]";
}

Status CheckElements(const TensorDef& def, const Dims& dims) {
  int64_t count = 1;
  for (const int64_t extent : dims) {
    if (extent == kUnknownSize) continue;
    if (extent < 0) {
      return InvalidArgument("tensor '", def.name.text, "' gets the size ",
                             extent, " in ", TextOf(dims),
                             ", sizes are not negative");
    }
    const std::optional<int64_t> product = CheckedMul(count, extent);
    constexpr int64_t kMostElements = int64_t{1} << 48;
    if (!product || *product > kMostElements) {
      return InvalidArgument("tensor '", def.name.text, "' of ", TextOf(dims),
                             " overflows");
    }
    count = std::max<int64_t>(*product, 1);
  }
  return OkStatus();
}

class Inference {
 public:
  Inference(const Program& program, Shapes* shapes)
      : program_(program), shapes_(*shapes) {}

  Status ReadAttributes(const ir::AttributeMap& attributes);
  Status ReadInput(int input, const std::optional<Dims>& dims);
  Status ReadStatement(size_t i);

 private:
  Status Bind(int dimension, int64_t extent, const std::string& what);
  Result<int64_t> SizeOf(size_t i, const SizeRule& rule);
  Status Broadcast(size_t i);
  Status CheckRanks(size_t i) const;

  const Program& program_;
  Shapes& shapes_;
};

Status Inference::ReadAttributes(const ir::AttributeMap& attributes) {
  for (const AttributeDef& def : program_.syntax.attributes) {
    const ir::Attribute* value = attributes.Find(def.name.text);
    std::vector<int64_t> list;
    if (value == nullptr || ir::TypeOf(*value) != def.type) {
      return InvalidArgument("attribute '", def.name.text,
                             "' is not given, or "
                             "is no ",
                             ir::ToString(def.type));
    }
    if (const auto* integer = std::get_if<int64_t>(value)) list = {*integer};
    if (const auto* ints = std::get_if<std::vector<int64_t>>(value)) {
      list = *ints;
    }
    shapes_.numbers.integers.push_back(std::move(list));
  }
  shapes_.numbers.dimensions.assign(program_.dimensions.size(), kUnknownSize);
  shapes_.tensors.resize(program_.tensors.size());
  return OkStatus();
}

Status Inference::Bind(int dimension, int64_t extent, const std::string& what) {
  int64_t& bound = shapes_.numbers.dimensions[dimension];
  if (extent == kUnknownSize || extent == bound) return OkStatus();
  if (bound == kUnknownSize) {
    bound = extent;
    return OkStatus();
  }
  return InvalidArgument(what, " is ", extent, ", but ",
                         program_.dimensions[dimension], " is ", bound);
}

Status Inference::ReadInput(int input, const std::optional<Dims>& given) {
  const int tensor = program_.inputs[input];
  const TensorDef& def = program_.tensors[tensor];
  if (!given) {
    if (def.rank >= 0) shapes_.tensors[tensor] = Dims(def.rank, kUnknownSize);
    return OkStatus();
  }
  Dims dims = *given;
  // In memory a scalar has one element along one axis.
  if (def.rank == 0 && dims == Dims{1}) dims.clear();
  if (def.rank >= 0 && def.rank != static_cast<int>(dims.size())) {
    return InvalidArgument("input ", input, " ('", def.name.text, "') is ",
                           TextOf(dims), ", expected ", def.rank, " axes");
  }
  TIM_RETURN_IF_ERROR(CheckElements(def, dims));
  for (size_t axis = 0; axis < def.extents.size(); ++axis) {
    const Extent& extent = def.extents[axis];
    const std::string what =
        StrCat("axis ", axis, " of input ", input, " ('", def.name.text, "')");
    if (extent.name.empty()) {
      if (dims[axis] == kUnknownSize) dims[axis] = extent.integer;
      if (dims[axis] == extent.integer) continue;
      return InvalidArgument(what, " is ", dims[axis], ", expected ",
                             extent.integer);
    }
    const auto& names = program_.dimensions;
    const auto at = std::find(names.begin(), names.end(), extent.name);
    if (at == names.end()) continue;  // "_"
    TIM_RETURN_IF_ERROR(
        Bind(static_cast<int>(at - names.begin()), dims[axis], what));
  }
  shapes_.tensors[tensor] = std::move(dims);
  return OkStatus();
}

Result<int64_t> Inference::SizeOf(size_t i, const SizeRule& rule) {
  if (rule.node >= 0) {
    TIM_ASSIGN_OR_RETURN(
        const std::optional<Affine> size,
        AffineOf(program_.statement(i), rule.node, shapes_.numbers));
    return size ? size->constant : kUnknownSize;
  }
  const std::optional<Dims>& dims = shapes_.tensors[rule.tensor];
  const int64_t extent = dims ? (*dims)[rule.axis] : kUnknownSize;
  if (rule.dimension < 0) return extent;
  TIM_RETURN_IF_ERROR(Bind(rule.dimension, extent, "an extent"));
  return extent;
}

// Tensors that are indexed have as many axes as they have indices.
Status Inference::CheckRanks(size_t i) const {
  const Statement& statement = program_.statement(i);
  const auto check = [&](int tensor, size_t rank) -> Status {
    const std::optional<Dims>& dims = shapes_.tensors[tensor];
    if (!dims || dims->size() == rank) return OkStatus();
    return InvalidArgument("tensor '", program_.tensors[tensor].name.text,
                           "' is ", TextOf(*dims), ", but has ", rank,
                           " indices");
  };
  for (const int node : program_.statements[i].accesses) {
    const Expr& access = statement.nodes[node];
    if (access.kind != Expr::Kind::kAccess) continue;
    TIM_RETURN_IF_ERROR(check(access.index, access.operands.size()));
  }
  for (const SizeRule& rule : program_.statements[i].sizes) {
    if (rule.node >= 0 || statement.like.text.empty()) continue;
    TIM_RETURN_IF_ERROR(check(rule.tensor, statement.left.size()));
  }
  return OkStatus();
}

Status Inference::Broadcast(size_t i) {
  const Statement& statement = program_.statement(i);
  std::optional<Dims>& out = shapes_.tensors[program_.statements[i].tensor];
  out = Dims();
  for (const int node : program_.statements[i].accesses) {
    const int tensor = statement.nodes[node].index;
    const std::optional<Dims>& dims = shapes_.tensors[tensor];
    if (!dims) {
      out = std::nullopt;
      return OkStatus();
    }
    if (dims->size() > out->size()) {
      out->insert(out->begin(), dims->size() - out->size(), 1);
    }
    const size_t before = out->size() - dims->size();
    for (size_t axis = 0; axis < dims->size(); ++axis) {
      int64_t& extent = (*out)[before + axis];
      const int64_t other = (*dims)[axis];
      if (extent == other || other == 1) continue;
      if (extent == 1 || (extent == kUnknownSize && other != 1)) {
        extent = other;
      } else if (other != kUnknownSize) {
        return InvalidArgument("tensor '", program_.tensors[tensor].name.text,
                               "' of ", TextOf(*dims), " is not broadcast to ",
                               TextOf(*out));
      }
    }
  }
  return OkStatus();
}

Status Inference::ReadStatement(size_t i) {
  const StatementInfo& info = program_.statements[i];
  const TensorDef& def = program_.tensors[info.tensor];
  if (!program_.statement(i).indexed) {
    TIM_RETURN_IF_ERROR(Broadcast(i));
    const std::optional<Dims>& dims = shapes_.tensors[info.tensor];
    return dims ? CheckElements(def, *dims) : OkStatus();
  }
  TIM_RETURN_IF_ERROR(CheckRanks(i));
  Dims dims;
  for (const SizeRule& rule : info.sizes) {
    TIM_ASSIGN_OR_RETURN(const int64_t size, SizeOf(i, rule));
    dims.push_back(size);
  }
  TIM_RETURN_IF_ERROR(CheckElements(def, dims));
  shapes_.tensors[info.tensor] = std::move(dims);
  return OkStatus();
}

}  // namespace

Result<Shapes> InferDims(const Program& program,
                         const ir::AttributeMap& attributes,
                         std::span<const std::optional<Dims>> inputs) {
  Shapes shapes;
  Inference inference(program, &shapes);
  TIM_RETURN_IF_ERROR(inference.ReadAttributes(attributes));
  for (size_t i = 0; i < inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(inference.ReadInput(static_cast<int>(i), inputs[i]));
  }
  for (size_t i = 0; i < program.statements.size(); ++i) {
    TIM_RETURN_IF_ERROR(inference.ReadStatement(i).WithContext(
        StrCat("statement ", i, " ('", program.statement(i).name.text, "')")));
  }
  return shapes;
}

}  // namespace tim::expr
