// Channels-last ops: equal to channels-first ones, without a Transpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph_api/graph.h"
#include "graph_api/logical_tensor.h"
#include "tests/graph_api/evaluated_op.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/status_macros.h"

namespace tim::graph {
namespace {

using testing::Described;
using testing::OfUnknownRank;
using Attributes = std::map<tim_graph_op_attr_t, AttributeValue>;
using Engines = std::shared_ptr<tim_graph_engine>;
using Reals = std::vector<float>;

constexpr int64_t kChannels = 18;
constexpr int64_t kInner = 5;
constexpr int64_t kSide = 7;
const Dims kImage = {1, kChannels, kSide, kSide};

Reals Values(const Dims& dims, uint32_t seed) {
  const Array array = Random(dims, seed);
  return {array.values.begin(), array.values.end()};
}

// The image with channels last, or back.
Reals Moved(const Reals& image, int64_t outer, int64_t inner) {
  Reals moved(image.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      moved[static_cast<size_t>(i * outer + o)] =
          image[static_cast<size_t>(o * inner + i)];
    }
  }
  return moved;
}

// A dense image of elements at the strides of {1, height, width, channels}.
Reals WithChannelsFirst(const LogicalTensor& from, const Reals& values) {
  const int64_t* const strides = from.layout.strides;
  Reals image;
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int64_t y = 0; y < kSide; ++y) {
      for (int64_t x = 0; x < kSide; ++x) {
        image.push_back(values.at(static_cast<size_t>(
            y * strides[1] + x * strides[2] + c * strides[3])));
      }
    }
  }
  return image;
}

// True for a step that does nothing but exchange axes.
bool IsTranspose(const ir::Step& step) {
  const auto* call = std::get_if<ir::HostCall>(&step.action);
  const std::string name = call != nullptr ? call->op : step.kernel;
  return name.find("ranspose") != std::string::npos ||
         name.find("ElementMap") != std::string::npos ||
         name.find("elementmap") != std::string::npos;
}

// A residual block, whose image is tensor 0 and whose result is the last.
class Block {
 public:
  explicit Block(const std::string& format) : format_(format) {
    const bool last = format == "NXC";
    tensors_.push_back(
        Described(next_++, last ? Dims{1, kSide, kSide, kChannels} : kImage));
    Convolve({kInner, kChannels, 1, 1}, 0);
    Add(tim_graph_op_relu, {tensors_.back()});
    Convolve({kInner, kInner, 3, 3}, 1);
    Add(tim_graph_op_relu, {tensors_.back()});
    Convolve({kChannels, kInner, 1, 1}, 0);
    Add(tim_graph_op_add, {tensors_.back(), tensors_.front()});
    Add(tim_graph_op_relu, {tensors_.back()});
  }

  // Transposes of the plan, and the result.
  std::pair<int, Reals> Run(const Engines& engine,
                            tim_graph_layout_type_t layout, const Reals& image);
  const LogicalTensor& result() const { return result_; }

 private:
  void Add(tim_graph_op_kind_t kind, std::vector<LogicalTensor> inputs,
           Attributes attributes = {}) {
    Op op;
    op.id = next_;
    op.kind = kind;
    op.name = StrCat("op ", next_);
    op.inputs = std::move(inputs);
    op.outputs = {OfUnknownRank(next_++)};
    op.attributes = std::move(attributes);
    tensors_.push_back(op.outputs[0]);
    ASSERT_OK(graph_.AddOp(BuiltinOps(), op));
  }
  void Convolve(const Dims& weights, int64_t pad) {
    const LogicalTensor w = Described(next_++, weights);
    weights_[w.id] = Values(weights, static_cast<uint32_t>(weights_.size()));
    Add(tim_graph_op_convolution, {tensors_.back(), w},
        {{tim_graph_op_attr_strides, Dims{1, 1}},
         {tim_graph_op_attr_pads_begin, Dims{pad, pad}},
         {tim_graph_op_attr_pads_end, Dims{pad, pad}},
         {tim_graph_op_attr_dilations, Dims{1, 1}},
         {tim_graph_op_attr_data_format, format_},
         {tim_graph_op_attr_weights_format, std::string("OIX")}});
  }

  const std::string format_;
  size_t next_ = 0;
  Graph graph_ = Graph({.kind = tim_graph_cpu});
  std::vector<LogicalTensor> tensors_;
  std::map<size_t, Reals> weights_;
  LogicalTensor result_ = {};
};

std::pair<int, Reals> Block::Run(const Engines& engine,
                                 tim_graph_layout_type_t layout,
                                 const Reals& image) {
  EXPECT_OK(graph_.Finalize());
  EXPECT_OK(graph_.Filter({}));
  EXPECT_EQ(graph_.partitions().size(), 1u);
  const Partition& partition = *graph_.partitions()[0];
  std::vector<LogicalTensor> outputs = partition.ports().outputs;
  outputs[0].layout_type = layout;
  const CompileResult made =
      Compile(partition.source(), partition.ports().inputs, outputs, engine);
  EXPECT_OK(made.status);
  if (!made.status.ok()) return {};
  testing::Tensors in(engine);
  testing::Tensors out(engine);
  for (const LogicalTensor& port : made.compiled->inputs()) {
    in.Add(port, port.id == 0 ? image.data() : weights_.at(port.id).data());
  }
  result_ = made.compiled->outputs()[0];
  Reals found(MemorySizeOf(result_) / sizeof(float));
  out.Add(result_, found.data());
  Stream stream(engine, tim_graph_stream_default_flags);
  EXPECT_OK(made.compiled->Execute(stream, in.list(), out.list()));
  const auto plan = made.compiled->plan();
  EXPECT_OK(plan);
  const auto& steps = (*plan)->plan().steps;
  return {
      static_cast<int>(std::count_if(steps.begin(), steps.end(), IsTranspose)),
      found};
}

void ExpectNear(const Reals& found, const Reals& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << i;
  }
}

void ExpectEqualBlocks(const Engines& engine) {
  const Reals image = Values(kImage, 9);
  const auto [none, expected] =
      Block("NCX").Run(engine, tim_graph_layout_type_strided, image);
  EXPECT_EQ(none, 0);
  const Reals last = Moved(image, kChannels, kSide * kSide);
  const auto [transposes, found] =
      Block("NXC").Run(engine, tim_graph_layout_type_strided, last);
  EXPECT_EQ(transposes, 0);
  ExpectNear(Moved(found, kSide * kSide, kChannels), expected);
  // A result of any layout, wherever its elements are.
  Block any("NXC");
  const auto [still_none, as_made] =
      any.Run(engine, tim_graph_layout_type_any, last);
  EXPECT_EQ(still_none, 0);
  if (any.result().layout_type != tim_graph_layout_type_strided) return;
  ExpectNear(WithChannelsFirst(any.result(), as_made), expected);
}

TEST(ChannelsLast, BlocksHaveNoTransposesOnTheHost) {
  ExpectEqualBlocks(testing::HostEngine());
}

TEST(ChannelsLast, BlocksHaveNoTransposesOnADevice) {
  const Engines engine = testing::OpenClEngine();
  if (engine == nullptr) GTEST_SKIP() << "no OpenCL device";
  ExpectEqualBlocks(engine);
}

}  // namespace
}  // namespace tim::graph
