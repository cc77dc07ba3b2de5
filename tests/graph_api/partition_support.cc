// Hand-made ops, engines and tensors.
#include "tests/graph_api/partition_support.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/options.h"
#include "device/host/host_device.h"
#include "graph_api/lowering.h"
#include "graph_api/port_layouts.h"
#include "runtime/device_pool.h"

namespace tim::graph::testing {
namespace {

using Lower = std::function<Status(const Op&, Lowering&)>;

Status Store(Lowering& lowering, Result<Tensor> made) {
  if (!made.ok()) return made.status();
  lowering.SetOutput(0, *made);
  return OkStatus();
}

OpDef Def(tim_graph_op_kind_t kind, const std::string& name, Lower lower) {
  return {.kind = kind, .name = name, .lower = std::move(lower)};
}

Status LowerMatMul(const Op&, Lowering& lowering) {
  return Store(lowering,
               lowering.Add("Matmul", {lowering.input(0), lowering.input(1)}));
}

Status LowerSum(const Op&, Lowering& lowering) {
  return Store(lowering, lowering.Add("ReduceSum", {lowering.input(0)},
                                      {{"axis", std::vector<int64_t>{0}},
                                       {"keep_dims", true}}));
}

Status LowerEmptySum(const Op& op, Lowering& lowering) {
  Dims dims(op.inputs[0].dims, op.inputs[0].dims + op.inputs[0].ndims);
  dims.back() = 1;
  return Store(lowering, lowering.Filled(0, dims));
}

Result<std::vector<Dims>> EmptySumDims(const Op&,
                                       const std::vector<Dims>& inputs) {
  std::vector<Dims> dims = {inputs[0]};
  dims[0].back() = 1;
  return dims;
}

std::map<std::string, OpDef> MakeDefs() {
  std::map<std::string, OpDef> defs;
  OpDef relu = Def(tim_graph_op_relu, "ReLU", [](const Op&, Lowering& to) {
    return Store(to, to.Add("Relu", {to.input(0)}));
  });
  relu.in_place = true;
  relu.takes_half = true;
  OpDef add = Def(tim_graph_op_add, "Add", [](const Op&, Lowering& to) {
    return Store(to, to.Add("Add", {to.input(0), to.input(1)}));
  });
  add.in_place = true;
  OpDef sum = Def(tim_graph_op_reduce_sum, "ReduceSum", LowerSum);
  sum.lower_empty = LowerEmptySum;
  sum.empty_dims = EmptySumDims;
  OpDef transpose = Def(tim_graph_op_static_transpose, "StaticTranspose",
                        [](const Op&, Lowering& to) {
                          return Store(to, to.Transpose(to.input(0), {1, 0}));
                        });
  transpose.moves_elements = true;
  OpDef cast =
      Def(tim_graph_op_type_cast, "TypeCast", [](const Op&, Lowering& to) {
        to.SetOutput(0, to.input(0));
        return OkStatus();
      });
  for (OpDef& def :
       std::vector<OpDef>{relu, add, sum, transpose, cast,
                          Def(tim_graph_op_matmul, "MatMul", LowerMatMul)}) {
    defs[def.name] = def;
  }
  return defs;
}

std::shared_ptr<tim_graph_engine> CpuEngine(
    device::Devices devices, std::shared_ptr<const Allocator> allocator) {
  if (allocator == nullptr) allocator = OwnHostAllocator();
  auto programs = ProgramsFor(*devices.back());
  tim_graph_engine* const made =
      tim_graph_engine::Make(EngineParts{.kind = tim_graph_cpu,
                                         .devices = std::move(devices),
                                         .allocator = std::move(allocator),
                                         .programs = std::move(programs)});
  auto shared = made->shared_from_this();
  made->Drop();
  return shared;
}

}  // namespace

LogicalTensor Described(size_t id, const Dims& dims, tim_graph_data_type_t type,
                        tim_graph_layout_type_t layout) {
  LogicalTensor tensor = {};
  tensor.id = id;
  tensor.ndims = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims);
  tensor.data_type = type;
  tensor.layout_type = layout;
  if (layout == tim_graph_layout_type_strided) SetDenseStrides(&tensor);
  return tensor;
}

LogicalTensor OfUnknownRank(size_t id, tim_graph_data_type_t type,
                            tim_graph_layout_type_t layout) {
  LogicalTensor tensor = Described(id, {}, type, layout);
  tensor.ndims = TIM_GRAPH_UNKNOWN_NDIMS;
  return tensor;
}

LogicalTensor WithStrides(LogicalTensor tensor, const Dims& strides) {
  std::copy(strides.begin(), strides.end(), tensor.layout.strides);
  return tensor;
}

LogicalTensor WithProperty(LogicalTensor tensor,
                           tim_graph_tensor_property_t property) {
  tensor.property = property;
  return tensor;
}

const OpDef& TestOp(const std::string& name) {
  static const std::map<std::string, OpDef> defs = MakeDefs();
  return defs.at(name);
}

Op MakeOp(size_t id, const std::string& kind, std::vector<LogicalTensor> inputs,
          std::vector<LogicalTensor> outputs) {
  const OpDef& def = TestOp(kind);
  return {.id = id,
          .kind = def.kind,
          .name = kind + "_" + StrCat(id),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = {},
          .def = &def};
}

CompileSource TestPartition::source() const {
  return {.id = 7, .ops = &ops_, .inputs = &inputs_, .outputs = &outputs_};
}

std::shared_ptr<tim_graph_engine> HostEngine(
    std::shared_ptr<const Allocator> allocator) {
  return CpuEngine({device::CreateHostDevice()}, std::move(allocator));
}

std::shared_ptr<tim_graph_engine> OpenClEngine() {
  auto devices = runtime::SelectDevices("opencl");
  return devices.ok() ? CpuEngine(*std::move(devices), nullptr) : nullptr;
}

void Tensors::Add(const LogicalTensor& description, const void* memory) {
  tensors_.push_back(std::make_shared<tim_graph_tensor>(
      description, engine_, const_cast<void*>(memory)));
  list_.push_back(tensors_.back().get());
}

void Tensors::AddScalar(const LogicalTensor& description, float value) {
  tensors_.push_back(
      std::make_shared<tim_graph_tensor>(description, &value, sizeof(value)));
  list_.push_back(tensors_.back().get());
}

Status ExecuteOn(const CompiledPartition& compiled, Stream& stream,
                 const std::vector<const void*>& inputs,
                 const std::vector<void*>& outputs, bool check) {
  Tensors in(stream.engine());
  Tensors out(stream.engine());
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.Add(compiled.inputs()[i], inputs[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.Add(compiled.outputs()[i], outputs[i]);
  }
  return compiled.Execute(stream, in.list(), out.list(), nullptr, check);
}

}  // namespace tim::graph::testing
