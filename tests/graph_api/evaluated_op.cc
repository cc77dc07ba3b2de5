// Arrays of doubles as operands of any type, and one op run on them.
#include "tests/graph_api/evaluated_op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "graph_api/lower_ops.h"
#include "graph_api/port_layouts.h"
#include "kernels/elements.h"
#include "tests/graph_api/partition_support.h"

namespace tim::graph {
namespace {

using Bytes = std::vector<uint8_t>;

ir::TensorDesc DescOf(const Dims& dims, ir::DataType type) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = dims.empty() ? ir::Shape({1}) : ir::Shape(Reversed(dims));
  return desc;
}

size_t BytesOf(const ir::TensorDesc& desc) {
  const auto& dims = desc.shape.dims();
  if (std::count(dims.begin(), dims.end(), 0) != 0) return 0;
  return static_cast<size_t>(*ir::ByteSize(desc));
}

Bytes Encode(const Array& array, const ir::TensorDesc& desc) {
  Bytes bytes(BytesOf(desc));
  kernels::ElementWriter writer({&desc, bytes.data()});
  for (size_t i = 0; i < array.values.size(); ++i) {
    if (ir::IsInteger(desc.type)) {
      writer.StoreCode(static_cast<int64_t>(i),
                       static_cast<int64_t>(array.values[i]));
    } else {
      writer.StoreReal(static_cast<int64_t>(i),
                       static_cast<float>(array.values[i]));
    }
  }
  return bytes;
}

Array Decode(const Dims& dims, tim_graph_data_type_t type,
             const ir::TensorDesc& desc, const Bytes& bytes) {
  ir::TensorDesc plain = desc;
  plain.quantization = {};
  const kernels::ElementReader reader({&plain, bytes.data()});
  Array array = {.dims = dims, .values = {}, .type = type};
  const int64_t count = bytes.empty() ? 0 : *desc.shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    array.values.push_back(ir::IsInteger(desc.type)
                               ? static_cast<double>(reader.Code(i))
                               : static_cast<double>(reader.Real(i)));
  }
  return array;
}

LogicalTensor TensorOf(size_t id, tim_graph_data_type_t type) {
  LogicalTensor tensor = {};
  tensor.id = id;
  tensor.ndims = -1;
  tensor.data_type = type;
  tensor.layout_type = tim_graph_layout_type_strided;
  return tensor;
}

void SetDims(const Dims& dims, LogicalTensor* tensor) {
  tensor->ndims = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor->dims);
  if (HasKnownDims(*tensor)) SetDenseStrides(tensor);
}

}  // namespace

EvaluatedOp::EvaluatedOp(tim_graph_op_kind_t kind) {
  op_.kind = kind;
  op_.name = "op";
}

EvaluatedOp& EvaluatedOp::Input(Array array) {
  op_.inputs.push_back(TensorOf(inputs_.size(), array.type));
  SetDims(array.dims, &op_.inputs.back());
  inputs_.push_back(std::move(array));
  return *this;
}

EvaluatedOp& EvaluatedOp::Output(tim_graph_data_type_t type) {
  op_.outputs.push_back(TensorOf(100 + op_.outputs.size(), type));
  return *this;
}

EvaluatedOp& EvaluatedOp::Output(tim_graph_data_type_t type, const Dims& dims) {
  Output(type);
  SetDims(dims, &op_.outputs.back());
  return *this;
}

EvaluatedOp& EvaluatedOp::Set(tim_graph_op_attr_t attribute,
                              AttributeValue value) {
  op_.attributes.insert_or_assign(attribute, std::move(value));
  return *this;
}

EvaluatedOp& EvaluatedOp::On(std::shared_ptr<tim_graph_engine> engine) {
  engine_ = std::move(engine);
  return *this;
}

Result<Op> EvaluatedOp::Checked() const {
  Op op = op_;
  TIM_RETURN_IF_ERROR(CheckOp(BuiltinOps(), &op));
  return op;
}

Status EvaluatedOp::Check() const { return Checked().status(); }

Status EvaluatedOp::Supports() const {
  TIM_ASSIGN_OR_RETURN(const Op op, Checked());
  if (op.def->lower == nullptr) return Unimplemented("no lowering");
  return op.def->supports ? op.def->supports(op) : OkStatus();
}

CompileResult EvaluatedOp::Compiled(const Op& op) const {
  return testing::TestPartition({op}, op.inputs, op.outputs)
      .CompileFor(engine_ != nullptr ? engine_ : testing::HostEngine());
}

tim_graph_status_t EvaluatedOp::CompileCode() const {
  const Result<Op> op = Checked();
  EXPECT_TRUE(op.ok()) << op.status().ToString();
  return op.ok() ? Compiled(*op).code : tim_graph_invalid_graph_op;
}

Result<std::vector<Array>> EvaluatedOp::Run() const {
  TIM_ASSIGN_OR_RETURN(const Op op, Checked());
  TIM_RETURN_IF_ERROR(Supports());
  const CompileResult result = Compiled(op);
  TIM_RETURN_IF_ERROR(result.status);
  std::vector<Bytes> bytes;
  std::vector<const void*> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    bytes.push_back(Encode(inputs_[i], InnerDesc(op.inputs[i])));
    inputs.push_back(bytes.back().data());
  }
  std::vector<Bytes> results;
  std::vector<void*> outputs;
  for (const LogicalTensor& port : result.compiled->outputs()) {
    results.emplace_back(BytesOf(InnerDesc(port)));
    outputs.push_back(results.back().data());
  }
  Stream stream(result.compiled->engine(), tim_graph_stream_default_flags);
  TIM_RETURN_IF_ERROR(
      testing::ExecuteOn(*result.compiled, stream, inputs, outputs));
  std::vector<Array> arrays;
  for (size_t i = 0; i < results.size(); ++i) {
    const LogicalTensor& port = result.compiled->outputs()[i];
    arrays.push_back(
        Decode(DimsOf(port), port.data_type, InnerDesc(port), results[i]));
  }
  return arrays;
}

Array EvaluatedOp::First() const {
  const Result<std::vector<Array>> arrays = Run();
  EXPECT_TRUE(arrays.ok()) << arrays.status().ToString();
  return arrays.ok() ? (*arrays)[0] : Array();
}

int64_t CountOf(const Array& array) {
  int64_t count = 1;
  for (const int64_t dim : array.dims) count *= dim;
  return count;
}

Array Random(const Dims& dims, uint32_t seed) {
  std::mt19937 engine(seed);
  Array array = {.dims = dims};
  for (int64_t i = 0, count = CountOf(array); i < count; ++i) {
    array.values.push_back(static_cast<float>(engine() % 2001) / 1000.0f - 1);
  }
  return array;
}

Array Permuted(const Array& array, const std::vector<size_t>& order) {
  const size_t rank = order.size();
  Array out = {.dims = Dims(rank), .values = {}, .type = array.type};
  Dims strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * array.dims[i];
  for (size_t i = 0; i < rank; ++i) out.dims[i] = array.dims[order[i]];
  Dims at(rank, 0);
  for (size_t i = 0; i < array.values.size(); ++i) {
    int64_t from = 0;
    for (size_t k = 0; k < rank; ++k) from += at[k] * strides[order[k]];
    out.values.push_back(array.values[static_cast<size_t>(from)]);
    for (size_t k = rank; k-- > 0;) {
      if (++at[k] < out.dims[k]) break;
      at[k] = 0;
    }
  }
  return out;
}

Array Rounded(Array array, tim_graph_data_type_t type) {
  const ir::TensorDesc desc = DescOf(array.dims, InnerType(type));
  return Decode(array.dims, type, desc, Encode(array, desc));
}

Numbers NumericGradient(const std::function<double(const Numbers&)>& loss,
                        Numbers x, double step) {
  Numbers out;
  for (double& value : x) {
    const double at = value;
    value = at + step;
    const double above = loss(x);
    value = at - step;
    const double below = loss(x);
    value = at;
    out.push_back((above - below) / (2 * step));
  }
  return out;
}

double Dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void ExpectNear(const Numbers& found, const Numbers& expected,
                double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * (1 + std::fabs(expected[i])))
        << "element " << i;
  }
}

void ExpectRefused(const Status& status, const std::string& text) {
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find(text), std::string::npos)
      << status.ToString();
}

}  // namespace tim::graph
