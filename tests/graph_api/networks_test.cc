// Parts of networks through partitions: attention, gated products, and chains
// of narrow types, which round like their operations one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evaluated_op.h"
#include "graph_api/graph.h"
#include "graph_api/lower_ops.h"
#include "ir/tensor_desc.h"
#include "kernels/elements.h"
#include "partition_support.h"

namespace tim::graph {
namespace {

using Attributes = std::map<tim_graph_op_attr_t, AttributeValue>;
using Bytes = std::vector<uint8_t>;

ir::TensorDesc DescOf(const LogicalTensor& tensor) {
  ir::TensorDesc desc;
  desc.type = InnerType(tensor.data_type);
  const Dims dims = DimsOf(tensor);
  desc.shape = dims.empty() ? ir::Shape({1}) : ir::Shape(Reversed(dims));
  return desc;
}

// A graph of ops on arrays, run partition by partition on the host.
class Network {
 public:
  size_t Input(const Array& array) {
    const size_t id = next_++;
    tensors_[id] = testing::Described(id, array.dims, array.type);
    const ir::TensorDesc desc = DescOf(tensors_[id]);
    Bytes& bytes = memory_[id];
    bytes.resize(static_cast<size_t>(*ir::ByteSize(desc)));
    kernels::ElementWriter writer({&desc, bytes.data()});
    for (size_t i = 0; i < array.values.size(); ++i) {
      writer.StoreReal(static_cast<int64_t>(i),
                       static_cast<float>(array.values[i]));
    }
    return id;
  }

  size_t HostScalar(float value) {
    const size_t id = next_++;
    tensors_[id] = testing::WithProperty(testing::Described(id, {}),
                                         tim_graph_tensor_property_host_scalar);
    scalars_[id] = value;
    return id;
  }

  size_t Add(tim_graph_op_kind_t kind, const std::vector<size_t>& inputs,
             tim_graph_data_type_t type = tim_graph_f32,
             Attributes attributes = {}) {
    const size_t id = next_++;
    Op op;
    op.id = id;
    op.kind = kind;
    op.name = "op " + std::to_string(id);
    for (const size_t input : inputs) op.inputs.push_back(tensors_.at(input));
    tensors_[id] = testing::OfUnknownRank(id, type);
    op.outputs = {tensors_[id]};
    op.attributes = std::move(attributes);
    ops_.push_back(std::move(op));
    return id;
  }

  // How many partitions ran; 0 and a test failure where one cannot.
  size_t Run(tim_graph_partition_policy_t policy) {
    Graph graph({.kind = tim_graph_cpu});
    for (const Op& op : ops_) {
      const Status added = graph.AddOp(BuiltinOps(), op);
      EXPECT_TRUE(added.ok()) << added.ToString();
    }
    Status status = graph.Finalize();
    if (status.ok()) status = graph.Filter({.policy = policy});
    EXPECT_TRUE(status.ok()) << status.ToString();
    Stream stream(engine_, tim_graph_stream_default_flags);
    for (const auto& partition : graph.partitions()) {
      status = RunPartition(*partition, stream);
      EXPECT_TRUE(status.ok()) << status.ToString();
      if (!status.ok()) return 0;
    }
    return graph.partitions().size();
  }

  Array Read(size_t id) const {
    const LogicalTensor& tensor = tensors_.at(id);
    const ir::TensorDesc desc = DescOf(tensor);
    const kernels::ElementReader reader({&desc, memory_.at(id).data()});
    Array array = {
        .dims = DimsOf(tensor), .values = {}, .type = tensor.data_type};
    for (int64_t i = 0; i < CountOf(array); ++i) {
      array.values.push_back(reader.Real(i));
    }
    return array;
  }

 private:
  Status RunPartition(const Partition& partition, Stream& stream) {
    std::vector<LogicalTensor> inputs;
    for (const LogicalTensor& port : partition.ports().inputs) {
      inputs.push_back(tensors_.at(port.id));
    }
    const CompileResult result =
        Compile(partition.source(), inputs, partition.ports().outputs, engine_);
    TIM_RETURN_IF_ERROR(result.status);
    testing::Tensors in(engine_);
    testing::Tensors out(engine_);
    for (const LogicalTensor& port : result.compiled->inputs()) {
      const auto scalar = scalars_.find(port.id);
      if (scalar != scalars_.end()) {
        in.AddScalar(port, scalar->second);
      } else {
        in.Add(port, memory_.at(port.id).data());
      }
    }
    for (const LogicalTensor& port : result.compiled->outputs()) {
      tensors_[port.id] = port;
      Bytes& bytes = memory_[port.id];
      bytes.assign(static_cast<size_t>(*ir::ByteSize(DescOf(port))), 0);
      out.Add(port, bytes.data());
    }
    return result.compiled->Execute(stream, in.list(), out.list(), nullptr,
                                    false);
  }

  size_t next_ = 0;
  std::shared_ptr<tim_graph_engine> engine_ = testing::HostEngine();
  std::vector<Op> ops_;
  std::map<size_t, LogicalTensor> tensors_;
  std::map<size_t, Bytes> memory_;
  std::map<size_t, float> scalars_;
};

const Attributes kTransposeB = {{tim_graph_op_attr_transpose_b, true}};
const Attributes kLastAxis = {{tim_graph_op_attr_axis, int64_t{-1}}};

// ---- Attention ----

struct Heads {
  int64_t batch = 2;
  int64_t heads = 2;   // Of keys and values.
  int64_t shared = 1;  // Queries for each of them.
  int64_t queries = 3;
  int64_t keys = 4;
  int64_t depth = 5;
  int64_t width = 6;
};

constexpr double kScale = 2.5;

// Queries [b, h, g, q, d], keys [b, h, k, d], values [b, h, k, w] and a mask
// [q, k].
Numbers Attended(const Heads& n, const Array& queries, const Array& keys,
                 const Array& values, const Array& mask) {
  Numbers out;
  const auto at = [](const Array& array, int64_t i) {
    return array.values[static_cast<size_t>(i)];
  };
  for (int64_t i = 0; i < n.batch * n.heads * n.shared * n.queries; ++i) {
    const int64_t head = i / n.queries / n.shared;
    Numbers scores;
    double sum = 0;
    for (int64_t k = 0; k < n.keys; ++k) {
      double score = 0;
      for (int64_t d = 0; d < n.depth; ++d) {
        score += at(queries, i * n.depth + d) *
                 at(keys, (head * n.keys + k) * n.depth + d);
      }
      scores.push_back(
          std::exp(score / kScale + at(mask, i % n.queries * n.keys + k)));
      sum += scores.back();
    }
    for (int64_t w = 0; w < n.width; ++w) {
      double y = 0;
      for (int64_t k = 0; k < n.keys; ++k) {
        y += scores[static_cast<size_t>(k)] / sum *
             at(values, (head * n.keys + k) * n.width + w);
      }
      out.push_back(y);
    }
  }
  return out;
}

// Four dims where a key has one query, else five.
void ExpectAttention(const Heads& n) {
  const bool grouped = n.shared > 1;
  const auto dims = [&](int64_t shared, int64_t rows, int64_t columns) {
    return grouped ? Dims{n.batch, n.heads, shared, rows, columns}
                   : Dims{n.batch, n.heads, rows, columns};
  };
  const Array queries = Random(dims(n.shared, n.queries, n.depth), 1);
  const Array keys = Random(dims(1, n.keys, n.depth), 2);
  const Array values = Random(dims(1, n.keys, n.width), 3);
  const Array mask = Random({n.queries, n.keys}, 4);
  for (const auto policy :
       {tim_graph_partition_policy_fusion, tim_graph_partition_policy_debug}) {
    Network net;
    const size_t q = net.Input(queries);
    const size_t k = net.Input(keys);
    const size_t products =
        net.Add(tim_graph_op_matmul, {q, k}, tim_graph_f32, kTransposeB);
    const size_t scaled =
        net.Add(tim_graph_op_divide, {products, net.HostScalar(kScale)});
    const size_t masked = net.Add(tim_graph_op_add, {scaled, net.Input(mask)});
    const size_t weights =
        net.Add(tim_graph_op_softmax, {masked}, tim_graph_f32, kLastAxis);
    const size_t out =
        net.Add(tim_graph_op_matmul, {weights, net.Input(values)});
    const bool fusion = policy == tim_graph_partition_policy_fusion;
    ASSERT_EQ(net.Run(policy), fusion ? 1u : 5u);
    const Array found = net.Read(out);
    EXPECT_EQ(found.dims, dims(n.shared, n.queries, n.width));
    ExpectNear(found.values, Attended(n, queries, keys, values, mask), 1e-5);
  }
}

TEST(GraphNetworks, AttentionIsOnePartition) { ExpectAttention({}); }

TEST(GraphNetworks, GroupedQueryAttentionIsOnePartition) {
  ExpectAttention({.shared = 3});
}

// ---- Gated products ----

Numbers Product(const Array& a, const Array& b) {
  const auto depth = static_cast<size_t>(a.dims[1]);
  const auto columns = static_cast<size_t>(b.dims[1]);
  Numbers out;
  for (size_t i = 0; i < static_cast<size_t>(a.dims[0]) * columns; ++i) {
    double sum = 0;
    for (size_t k = 0; k < depth; ++k) {
      sum += a.values[i / columns * depth + k] *
             b.values[k * columns + i % columns];
    }
    out.push_back(sum);
  }
  return out;
}

TEST(GraphNetworks, GatedProductsAreOnePartition) {
  const Array x = Random({3, 7}, 1);
  const Array up = Random({7, 9}, 2);
  const Array gate = Random({7, 9}, 3);
  const Array down = Random({9, 4}, 4);
  Array gated = {.dims = {3, 9}, .values = Product(x, up)};
  const Numbers gates = Product(x, gate);
  for (size_t i = 0; i < gates.size(); ++i) {
    gated.values[i] *= gates[i] / (1 + std::exp(-gates[i]));
  }
  Network net;
  const size_t in = net.Input(x);
  const size_t a = net.Add(tim_graph_op_matmul, {in, net.Input(up)});
  const size_t b = net.Add(tim_graph_op_matmul, {in, net.Input(gate)});
  const size_t sigmoid = net.Add(tim_graph_op_sigmoid, {b});
  const size_t swish = net.Add(tim_graph_op_multiply, {b, sigmoid});
  const size_t both = net.Add(tim_graph_op_multiply, {swish, a});
  const size_t out = net.Add(tim_graph_op_matmul, {both, net.Input(down)});
  ASSERT_EQ(net.Run(tim_graph_partition_policy_fusion), 1u);
  ExpectNear(net.Read(out).values, Product(gated, down), 1e-5);
}

// ---- Narrow types ----

// Two units in the last place of `type`, relative.
double TwoUnits(tim_graph_data_type_t type) {
  return type == tim_graph_f16 ? 0x1p-9 : 0x1p-6;
}

// x * weights + bias, ReLU, and the same again.
struct Perceptron {
  Network net;
  std::vector<size_t> made = {};  // Every op's result.

  explicit Perceptron(tim_graph_data_type_t type) {
    const size_t x = net.Input(Rounded(Random({5, 33}, 1), type));
    const size_t first = net.Input(Rounded(Random({33, 17}, 2), type));
    const size_t second = net.Input(Rounded(Random({17, 9}, 3), type));
    const size_t bias = net.Input(Rounded(Random({17}, 4), type));
    made.push_back(net.Add(tim_graph_op_matmul, {x, first}, type));
    made.push_back(net.Add(tim_graph_op_add, {made.back(), bias}, type));
    made.push_back(net.Add(tim_graph_op_relu, {made.back()}, type));
    made.push_back(net.Add(tim_graph_op_matmul, {made.back(), second}, type));
    made.push_back(net.Add(tim_graph_op_gelu, {made.back()}, type));
    inputs = {x, first, bias, second};
  }
  std::vector<size_t> inputs = {};
};

TEST(GraphNetworks, ChainsOfNarrowTypesRoundAsOpByOp) {
  for (const auto type : {tim_graph_f16, tim_graph_bf16}) {
    Perceptron debug(type);
    ASSERT_EQ(debug.net.Run(tim_graph_partition_policy_debug), 5u);
    const auto read = [&](size_t i) {
      return debug.net.Read(debug.made[i]).values;
    };
    const auto input = [&](size_t i) {
      return debug.net.Read(debug.inputs[i]);
    };
    const double tolerance = TwoUnits(type);
    ExpectNear(read(0), Product(input(0), input(1)), tolerance);
    Numbers expected = read(0);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] += input(2).values[i % 17];
    }
    ExpectNear(read(1), expected, tolerance);
    expected = read(1);
    for (double& value : expected) value = std::max(value, 0.0);
    ExpectNear(read(2), expected, 0);
    ExpectNear(read(3), Product(debug.net.Read(debug.made[2]), input(3)),
               tolerance);
    expected = read(3);
    for (double& value : expected) {
      value = value / 2 * (1 + std::erf(value / std::sqrt(2.0)));
    }
    ExpectNear(read(4), expected, tolerance);

    Perceptron fused(type);
    ASSERT_EQ(fused.net.Run(tim_graph_partition_policy_fusion), 1u);
    EXPECT_EQ(fused.net.Read(fused.made.back()).values, read(4));
  }
}

}  // namespace
}  // namespace tim::graph
