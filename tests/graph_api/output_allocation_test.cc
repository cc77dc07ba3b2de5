// Outputs whose memory a framework gives when they are made.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "tim/graph/residency.hpp"

namespace tim {
namespace graph {
namespace {

using lt = logical_tensor;
using layout = lt::layout_type;
using Floats = std::vector<float>;

/// Two outputs of one input: y = relu(x), z = x + x.
class OutputAllocation : public ::testing::Test {
 protected:
  struct Asked {
    size_t id = 0;
    size_t bytes = 0;
    lifetime wanted = lifetime::persistent;
    std::vector<int64_t> dims = {};
  };

  OutputAllocation()
      : eng_(make_engine(engine::kind::cpu, 0, engine_options{"host"})),
        strm_(eng_) {
    graph g(engine::kind::cpu);
    g.add_op(op(0, op::kind::ReLU, {x_}, {lt(1, lt::data_type::f32)}));
    g.add_op(op(1, op::kind::Add, {x_, x_}, {lt(2, lt::data_type::f32)}));
    g.finalize();
    for (const partition& part : g.get_partitions()) {
      for (const lt& port : part.get_output_ports()) {
        compiled_.push_back(part.compile(
            {x_}, {lt(port.get_id(), lt::data_type::f32, layout::strided)},
            eng_));
        out_.push_back(compiled_.back().query_logical_tensor(port.get_id()));
      }
    }
  }

  static void* Allocate(void* user, size_t id,
                        const tim_graph_logical_tensor_t* description,
                        size_t bytes, lifetime wanted) {
    auto* const self = static_cast<OutputAllocation*>(user);
    self->asked_.push_back(
        {id,
         bytes,
         wanted,
         {description->dims, description->dims + description->ndims}});
    if (self->gives_nothing_) return nullptr;
    self->memory_.emplace_back(bytes / sizeof(float) + 16, -7.0f);
    return self->memory_.back().data();
  }
  execute_options Options() {
    execute_options options;
    options.allocate_output = &Allocate;
    options.user = this;
    return options;
  }

  const lt x_ = lt(0, lt::data_type::f32, {2, 3}, layout::strided);
  const engine eng_;
  stream strm_;
  std::vector<compiled_partition> compiled_;
  std::vector<lt> out_;
  Floats values_ = {-1, 2, -3, 4, -5, 6};
  std::vector<Asked> asked_;
  std::vector<Floats> memory_;
  bool gives_nothing_ = false;
};

TEST_F(OutputAllocation, IsAskedOncePerNullOutput) {
  const tensor x(x_, eng_, values_.data());
  for (size_t i = 0; i < compiled_.size(); ++i) {
    asked_.clear();
    const tensor out(out_[i], eng_, nullptr);
    compiled_[i].execute(strm_, {x}, {out}, Options());
    ASSERT_EQ(asked_.size(), 1u);
    EXPECT_EQ(asked_[0].id, out_[i].get_id());
    EXPECT_EQ(asked_[0].bytes, 6 * sizeof(float));
    EXPECT_EQ(asked_[0].wanted, lifetime::output);
    EXPECT_EQ(asked_[0].dims, (std::vector<int64_t>{2, 3}));
    ASSERT_EQ(out.get_data_handle(), memory_.back().data());
    EXPECT_EQ(memory_.back()[1], out_[i].get_id() == 1 ? 2.0f : 4.0f);
    EXPECT_EQ(memory_.back()[6], -7.0f);
    // There is memory now.
    compiled_[i].execute(strm_, {x}, {out}, tensor(), Options());
    EXPECT_EQ(asked_.size(), 1u);
  }
}

TEST_F(OutputAllocation, OfNothingLeavesAllAsItWas) {
  gives_nothing_ = true;
  const Floats before = values_;
  const tensor x(x_, eng_, values_.data());
  const tensor out(out_[0], eng_, nullptr);
  try {
    compiled_[0].execute(strm_, {x}, {out}, Options());
    FAIL() << "it ran without memory";
  } catch (const error& e) {
    EXPECT_EQ(e.status, tim_graph_out_of_memory) << e.what();
  }
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_EQ(out.get_data_handle(), nullptr);
  EXPECT_EQ(values_, before);
}

TEST_F(OutputAllocation, IsNeededForNullOutputs) {
  const tensor x(x_, eng_, values_.data());
  const tensor out(out_[0], eng_, nullptr);
  for (const execute_options& options : {execute_options(), Options()}) {
    const bool given = options.allocate_output != nullptr;
    try {
      compiled_[0].execute(strm_, {x}, {out}, options);
      EXPECT_TRUE(given);
    } catch (const error& e) {
      EXPECT_FALSE(given);
      EXPECT_EQ(e.status, tim_graph_invalid_arguments);
    }
  }
  // Inputs are never allocated.
  try {
    compiled_[0].execute(strm_, {tensor(x_, eng_, nullptr)}, {out}, Options());
    FAIL() << "an input without memory was taken";
  } catch (const error& e) {
    EXPECT_EQ(e.status, tim_graph_invalid_arguments);
  }
}

void* Throws(void*, size_t, const tim_graph_logical_tensor_t*, size_t,
             lifetime) {
  throw std::bad_alloc();
}

TEST_F(OutputAllocation, MayThrow) {
  execute_options options;
  options.allocate_output = &Throws;
  try {
    compiled_[0].execute(strm_, {tensor(x_, eng_, values_.data())},
                         {tensor(out_[0], eng_, nullptr)}, options);
    FAIL() << "it ran without memory";
  } catch (const error& e) {
    EXPECT_EQ(e.status, tim_graph_out_of_memory);
  }
}

/// The second of two outputs of one partition gets nothing.
TEST(OutputAllocations, AreAllOrNone) {
  const engine eng = make_engine(engine::kind::cpu, 0, engine_options{"host"});
  stream strm(eng);
  const lt x(0, lt::data_type::f32, lt::dims{4}, layout::strided);
  const lt y(1, lt::data_type::f32, lt::dims{4}, layout::strided);
  const lt z(2, lt::data_type::f32, lt::dims{4}, layout::strided);
  graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::ReLU, {x}, {y}));
  g.add_op(op(1, op::kind::Square, {y}, {z}));
  // Tensor 1 leaves the partition, too.
  g.add_op(op(2, op::kind::End, {y}, {}));
  g.finalize();
  const partition part = g.get_partitions().at(0);
  ASSERT_EQ(part.get_output_ports().size(), 2u);
  const compiled_partition compiled = part.compile({x}, {y, z}, eng);
  struct Giver {
    Floats memory = Floats(4);
    int calls = 0;
    static void* Give(void* user, size_t, const tim_graph_logical_tensor_t*,
                      size_t, lifetime) {
      auto* const self = static_cast<Giver*>(user);
      return self->calls++ == 0 ? self->memory.data() : nullptr;
    }
  } giver;
  Floats values = {-1, 2, -3, 4};
  const tensor to_y(y, eng, nullptr);
  const tensor to_z(z, eng, nullptr);
  execute_options options;
  options.allocate_output = &Giver::Give;
  options.user = &giver;
  EXPECT_THROW(compiled.execute(strm, {tensor(x, eng, values.data())},
                                {to_y, to_z}, options),
               error);
  EXPECT_EQ(giver.calls, 2);
  EXPECT_EQ(giver.memory, Floats(4, 0));
  EXPECT_EQ(to_y.get_data_handle(), nullptr);
  EXPECT_EQ(to_z.get_data_handle(), nullptr);
}

}  // namespace
}  // namespace graph
}  // namespace tim
