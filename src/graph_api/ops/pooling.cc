// MaxPool and AvgPool over one to three spatial axes.
#include <algorithm>

#include "graph_api/formula.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

// Codes of the attribute `type` of Pool2d.
constexpr int64_t kMax = 0;
constexpr int64_t kAverage = 1;        // Divided by the kernel's size.
constexpr int64_t kAverageInside = 3;  // By the cells in the image.

struct Plan {
  Dims src = {};  // [N, C, X...]
  Dims dst = {};
  std::vector<Window> windows = {};
  Rounding rounding = Rounding::kFloor;

  size_t spatial() const { return windows.size(); }
};

Result<Plan> PlanOf(const Op& op, const Dims& src) {
  TIM_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank("src", src));
  TIM_ASSIGN_OR_RETURN(
      const std::vector<int64_t> kernel,
      SpatialList(op, tim_graph_op_attr_kernel, spatial, 1, 1));
  Plan plan = {.src = ToNcx(op, src)};
  if (op.String(tim_graph_op_attr_rounding_type) == "ceil") {
    plan.rounding = Rounding::kCeiling;
  }
  const Dims extents = SpatialDims(plan.src);
  TIM_ASSIGN_OR_RETURN(plan.windows, WindowsOf(op, extents, kernel));
  plan.dst = {plan.src[0], plan.src[1]};
  for (size_t i = 0; i < plan.spatial(); ++i) {
    TIM_ASSIGN_OR_RETURN(
        const int64_t count,
        WindowCount(plan.windows[i], extents[i], plan.rounding));
    plan.dst.push_back(count);
  }
  return plan;
}

Result<std::vector<Dims>> EmptyDims(const Op& op,
                                    const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const Plan plan, PlanOf(op, inputs[0]));
  return std::vector<Dims>{FromNcx(op, plan.dst)};
}

// Two spatial axes of `x`, or one.
Tensor Pool2d(Formula& formula, const Tensor& x, int64_t type,
              const std::vector<Window>& windows, Rounding rounding) {
  ir::AttributeMap attributes = PoolAttributes(AsImage(windows), rounding);
  attributes.Set("type", type);
  if (!formula.status().ok()) return {};
  const Tensor image = formula.Try(AsImage(formula.lowering(), x));
  Tensor made = formula.Unary("Pool2d", image, std::move(attributes));
  if (x.rank() != 3 || !formula.status().ok()) return made;
  Dims dims = made.dims;
  dims.erase(dims.begin() + 2);
  return formula.Reshape(made, dims);
}

Status StoreFromNcx(const Op& op, Formula& formula, const Tensor& ncx) {
  TIM_RETURN_IF_ERROR(formula.status());
  TIM_ASSIGN_OR_RETURN(const Tensor dst, FromNcx(formula.lowering(), op, ncx));
  return formula.Store(0, dst);
}

// ---- MaxPool ----

// The cells of every window side by side, those of each axis in turn, so that
// windows without dilation and overlap are left.
Result<Tensor> SpreadCells(Formula& formula, const Tensor& ncx, size_t spatial,
                           const Window& window, int64_t count) {
  const size_t axis = spatial + 2;
  TIM_ASSIGN_OR_RETURN(const std::vector<int32_t> cells,
                       CellsOfWindows(window, ncx.dims[axis], count));
  const Dims dims = {static_cast<int64_t>(cells.size())};
  TIM_ASSIGN_OR_RETURN(const Tensor indices,
                       formula.lowering().Constant(cells, dims));
  return formula.lowering().Add(
      "Gather", {ncx, indices},
      {{"axis", InnerAxis(static_cast<int64_t>(axis), ncx.rank())}});
}

// Dilated windows become windows without dilation.
Result<Tensor> WithoutDilation(Formula& formula, Tensor ncx, Plan* plan) {
  for (size_t i = 0; i < plan->spatial(); ++i) {
    Window& window = plan->windows[i];
    if (window.dilation == 1 || window.kernel == 1) {
      window.dilation = 1;
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        ncx, SpreadCells(formula, ncx, i, window, plan->dst[2 + i]));
    window = {.kernel = window.kernel, .stride = window.kernel};
  }
  return ncx;
}

Status LowerMaxPool(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(Plan plan, PlanOf(op, lowering.input(0).dims));
  Formula formula(lowering);
  TIM_ASSIGN_OR_RETURN(Tensor ncx, ToNcx(lowering, op, lowering.input(0)));
  TIM_ASSIGN_OR_RETURN(ncx, WithoutDilation(formula, ncx, &plan));
  if (plan.spatial() == 3) {
    return StoreFromNcx(
        op, formula,
        formula.Unary("MaxPool3d", ncx,
                      PoolAttributes(plan.windows, plan.rounding)));
  }
  return StoreFromNcx(op, formula,
                      Pool2d(formula, ncx, kMax, plan.windows, plan.rounding));
}

Status CheckMaxPool(const Op& op) {
  TIM_RETURN_IF_ERROR(CheckPads(op));
  if (!op.Has(tim_graph_op_attr_dilations)) return OkStatus();
  const size_t dilations = op.Ints(tim_graph_op_attr_dilations).size();
  const size_t kernel = op.Ints(tim_graph_op_attr_kernel).size();
  if (dilations == kernel) return OkStatus();
  return InvalidArgument("attribute 'dilations' has ", dilations,
                         " values, expected as many as 'kernel' has, ", kernel);
}

// ---- AvgPool ----

// H and W first, then D: a mean of means, each divided by its own extents.
Tensor AveragePool3d(Formula& formula, const Tensor& x, int64_t type,
                     const Plan& plan) {
  const Dims& in = plan.src;
  const Dims& out = plan.dst;
  const Tensor slices =
      formula.Reshape(x, {in[0], in[1] * in[2], in[3], in[4]});
  const Tensor flat = Pool2d(formula, slices, type,
                             {plan.windows[1], plan.windows[2]}, plan.rounding);
  const Tensor columns =
      formula.Reshape(flat, {in[0], in[1], in[2], out[3] * out[4]});
  const Tensor made = Pool2d(formula, columns, type,
                             {plan.windows[0], Window()}, plan.rounding);
  return formula.Reshape(made, out);
}

Status LowerAvgPool(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(const Plan plan, PlanOf(op, lowering.input(0).dims));
  Formula formula(lowering);
  TIM_ASSIGN_OR_RETURN(const Tensor ncx,
                       ToNcx(lowering, op, lowering.input(0)));
  const int64_t type =
      op.Bool(tim_graph_op_attr_exclude_pad) ? kAverageInside : kAverage;
  return StoreFromNcx(
      op, formula,
      plan.spatial() == 3
          ? AveragePool3d(formula, ncx, type, plan)
          : Pool2d(formula, ncx, type, plan.windows, plan.rounding));
}

// ---- Records ----

OpDef PoolDef(tim_graph_op_kind_t kind, std::string name) {
  OpDef def;
  def.kind = kind;
  def.name = std::move(name);
  def.types = {{"T", FloatTypes()}};
  def.inputs = {{"src", "T"}};
  def.outputs = {{"dst", "T"}};
  def.attributes = WindowDefs();
  def.attributes.push_back({.attribute = tim_graph_op_attr_kernel});
  // Any text is legal: `ceil`, and all others are floor.
  def.attributes.push_back({.attribute = tim_graph_op_attr_rounding_type,
                            .default_value = std::string("floor")});
  def.empty_dims = EmptyDims;
  return def;
}

}  // namespace

TIM_GRAPH_OPS(pooling) {
  OpDef max = PoolDef(tim_graph_op_max_pool, "MaxPool");
  max.attributes.push_back(
      {.attribute = tim_graph_op_attr_dilations, .optional = true});
  max.rule = CheckMaxPool;
  // The greatest cell is one of them, however often it is moved.
  max.takes_half = true;
  max.lower = LowerMaxPool;
  table.Add(std::move(max));

  OpDef average = PoolDef(tim_graph_op_avg_pool, "AvgPool");
  average.attributes.push_back({.attribute = tim_graph_op_attr_exclude_pad});
  average.rule = CheckPads;
  average.lower = LowerAvgPool;
  table.Add(std::move(average));
}

}  // namespace tim::graph
