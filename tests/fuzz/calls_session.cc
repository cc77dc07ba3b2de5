// The calls of a session that describe, partition, compile and execute.
#include "tests/fuzz/calls_session.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace tim::testing {
namespace {

using Description = tim_graph_logical_tensor_t;

constexpr int64_t kNumbers[] = {1, 0, 2, -1, 3, 4, 7, INT64_MAX, INT64_MIN};

const char* const kTexts[] = {"NCX",     "NXC",        "OIX",    "XIO",
                              "none",    "numpy",      "VALID",  "per_channel",
                              "",        "SAME_UPPER", "ceil",   "inf_as_zero",
                              "nearest", "bilinear",   "no such"};

// Ops that are complete, so that most sequences have something to run.
struct KnownOp {
  tim_graph_op_kind_t kind;
  int inputs;
  int outputs = 1;
};
constexpr KnownOp kKnownOps[] = {
    {tim_graph_op_relu, 1},           {tim_graph_op_add, 2},
    {tim_graph_op_matmul, 2},         {tim_graph_op_multiply, 2},
    {tim_graph_op_softmax, 1},        {tim_graph_op_convolution, 2},
    {tim_graph_op_reduce_sum, 1},     {tim_graph_op_static_transpose, 1},
    {tim_graph_op_max_pool, 1},       {tim_graph_op_concat, 2},
    {tim_graph_op_type_cast, 1},      {tim_graph_op_wildcard, 1},
    {tim_graph_op_static_reshape, 1}, {tim_graph_op_layer_norm, 3, 3},
    {tim_graph_op_quantize, 1},       {tim_graph_op_dequantize, 1},
    {tim_graph_op_reorder, 1},        {tim_graph_op_gelu_backward, 2},
    {tim_graph_op_divide, 2},         {tim_graph_op_end, 1, 0},
};

void SetInts(tim_graph_op_t op, tim_graph_op_attr_t attribute,
             std::vector<int64_t> values) {
  static_cast<void>(
      tim_graph_op_set_attr_s64(op, attribute, values.data(), values.size()));
}

// Attributes that some kinds require; a kind that has no such attribute refuses
// the op.
void SetRequired(tim_graph_op_t op, tim_graph_op_kind_t kind) {
  const bool pools = kind == tim_graph_op_max_pool;
  if (pools || kind == tim_graph_op_convolution) {
    SetInts(op, tim_graph_op_attr_strides, {1, 1});
    SetInts(op, tim_graph_op_attr_pads_begin, {1, 1});
    SetInts(op, tim_graph_op_attr_pads_end, {1, 1});
    SetInts(op, tim_graph_op_attr_dilations, {1, 1});
    if (pools) SetInts(op, tim_graph_op_attr_kernel, {3, 3});
  } else if (kind == tim_graph_op_concat) {
    SetInts(op, tim_graph_op_attr_axis, {1});
  } else if (kind == tim_graph_op_reduce_sum) {
    SetInts(op, tim_graph_op_attr_axes, {1});
  } else if (kind == tim_graph_op_static_transpose) {
    SetInts(op, tim_graph_op_attr_order, {0, 2, 3, 1});
  } else if (kind == tim_graph_op_static_reshape) {
    SetInts(op, tim_graph_op_attr_shape, {1, 4, -1});
    const uint8_t no = 0;
    static_cast<void>(
        tim_graph_op_set_attr_bool(op, tim_graph_op_attr_special_zero, &no, 1));
  } else if (kind == tim_graph_op_quantize || kind == tim_graph_op_dequantize) {
    const float scale = 0.5f;
    static_cast<void>(
        tim_graph_op_set_attr_f32(op, tim_graph_op_attr_scales, &scale, 1));
  }
}

}  // namespace

void CallsSession::SetAttribute(tim_graph_op_t op) {
  const uint8_t type = Next();
  const auto attribute = static_cast<tim_graph_op_attr_t>(Next());
  const size_t count = type < 224 ? Next() % 5 : 0;
  std::vector<int64_t> ints(count + 1);
  std::vector<float> floats(count + 1);
  for (size_t i = 0; i < count; ++i) {
    ints[i] = kNumbers[Next() % std::size(kNumbers)];
    floats[i] = 0.25f * static_cast<float>(ints[i]);
  }
  const uint8_t flag = type & 1;
  const std::string text = kTexts[count * type % std::size(kTexts)];
  const auto set = [&] {
    switch (type % 8) {
      case 0:
        return tim_graph_op_set_attr_f32(op, attribute, floats.data(), count);
      case 1:
        return tim_graph_op_set_attr_bool(op, attribute, &flag, count);
      case 2:
        return tim_graph_op_set_attr_str(op, attribute, text.c_str(),
                                         text.size());
      case 3:
        return tim_graph_op_set_named_attr_f32(op, text.c_str(), floats.data(),
                                               count);
      case 4:
        return tim_graph_op_set_named_attr_s64(op, text.c_str(), nullptr,
                                               count);
      default:
        return tim_graph_op_set_attr_s64(op, attribute, ints.data(), count);
    }
  };
  if (count == 0 || flag < count) Judge(set());
}

void CallsSession::MakeKnownOp() { MakeKnownOp(1 + Next() % kTensorIds); }

tim_graph_op_t CallsSession::MakeKnownOp(size_t end) {
  auto* const slot = &ops_[Slot()];
  const KnownOp& known = kKnownOps[Next() % std::size(kKnownOps)];
  if (!Make(slot, tim_graph_op_destroy, [&](tim_graph_op_t* made) {
        return tim_graph_op_create(made, next_op_++, known.kind, "");
      })) {
    return nullptr;
  }
  SetRequired(*slot, known.kind);
  for (int i = 0; i < known.inputs; ++i) {
    Judge(tim_graph_op_add_input(*slot, &descriptions_[Next() % end]));
  }
  for (int i = 0; i < known.outputs; ++i) {
    Description& output = descriptions_[(end + i) % kTensorIds];
    // Most dims are found by compile.
    if (Next() % 4 != 0) output.ndims = TIM_GRAPH_UNKNOWN_NDIMS;
    Judge(tim_graph_op_add_output(*slot, &output));
  }
  if (Next() >= 224) SetAttribute(*slot);
  return *slot;
}

void CallsSession::TakePartitions(tim_graph_graph_t graph) {
  size_t count = 0;
  if (!Judge(tim_graph_graph_get_partition_num(graph, &count))) return;
  std::vector<tim_graph_partition_t> taken(count);
  if (!Judge(tim_graph_graph_get_partitions(graph, count, taken.data()))) {
    return;
  }
  CountsOfCalls().partitions += static_cast<int64_t>(count);
  for (size_t i = 0; i < count; ++i) {
    if (taken[i] == nullptr) FailCalls("a partition is null");
    tim_graph_partition_t& slot = partitions_[i % kSlots];
    Drop(&slot, tim_graph_partition_destroy);
    slot = taken[i];
  }
}

// A graph whose ops follow each other, partitioned, of dims known at first.
void CallsSession::MakeNetwork() {
  auto* const slot = &graphs_[Slot()];
  Make(slot, tim_graph_graph_destroy, [&](tim_graph_graph_t* made) {
    return tim_graph_graph_create(made, tim_graph_cpu);
  });
  const size_t first = 1 + Next() % 3;
  const size_t end = first + Next() % 6;
  for (size_t id = 0; id < first; ++id) SetKnownDims(id);
  for (size_t id = first; id < end; ++id) {
    Judge(tim_graph_add_op(*slot, MakeKnownOp(id)));
  }
  if (!Judge(tim_graph_graph_finalize(*slot))) return;
  if (Judge(tim_graph_graph_filter(*slot, tim_graph_partition_policy_fusion))) {
    TakePartitions(*slot);
  }
}

void CallsSession::UseGraph() {
  const auto graph = graphs_[Slot()];
  const uint8_t what = Next();
  auto mode = static_cast<tim_graph_fpmath_mode_t>(what / 8 % 8);
  switch (what % 8) {
    case 0:
    case 1:
    case 2:
      Judge(tim_graph_add_op(graph, ops_[Slot()]));
      break;
    case 3:
      Judge(tim_graph_graph_finalize(graph));
      break;
    case 4:
      if (Judge(tim_graph_graph_filter(
              graph, static_cast<tim_graph_partition_policy_t>(Next() % 4)))) {
        TakePartitions(graph);
      }
      break;
    case 5: {
      const tim_graph_partition_options_t options = {
          .policy = static_cast<tim_graph_partition_policy_t>(Next() % 4),
          .max_ops = Next() % 4u,
          .min_ops = Next() % 4u,
          .max_partitions = Next() % 4u,
          .max_anchors = Next() % 4u};
      if (Judge(tim_graph_graph_filter_with_options(graph, &options))) {
        TakePartitions(graph);
      }
      break;
    }
    case 6:
      Judge(tim_graph_graph_set_fpmath_mode(graph, mode, what & 1));
      break;
    default: {
      int applies = 0;
      uint8_t finalized = 0;
      Judge(tim_graph_graph_get_fpmath_mode(graph, &mode, &applies));
      Judge(tim_graph_graph_is_finalized(graph, &finalized));
      TakePartitions(graph);
      break;
    }
  }
}

std::vector<Description> CallsSession::PortsOf(tim_graph_partition_t partition,
                                               bool inputs) {
  size_t count = 0;
  std::vector<Description> ports;
  const auto count_of = inputs ? tim_graph_partition_get_input_ports_num
                               : tim_graph_partition_get_output_ports_num;
  const auto ports_of = inputs ? tim_graph_partition_get_input_ports
                               : tim_graph_partition_get_output_ports;
  if (!Judge(count_of(partition, &count))) return ports;
  ports.resize(count);
  if (!Judge(ports_of(partition, count, ports.data()))) FailCalls("no ports");
  return ports;
}

void CallsSession::UsePartition() {
  auto* const slot = &partitions_[Slot()];
  const uint8_t what = Next();
  if (what % 2 == 0) {
    const auto op = ops_[Slot()];
    const tim_graph_engine_kind_t kind = Kind();
    Make(slot, tim_graph_partition_destroy, [&](tim_graph_partition_t* made) {
      return tim_graph_partition_create_with_op(made, op, kind);
    });
    return;
  }
  size_t count = 0;
  size_t id = 0;
  uint8_t supported = 0;
  tim_graph_engine_kind_t kind = tim_graph_any_engine;
  Judge(tim_graph_partition_get_id(*slot, &id));
  Judge(tim_graph_partition_is_supported(*slot, &supported));
  Judge(tim_graph_partition_get_engine_kind(*slot, &kind));
  if (!Judge(tim_graph_partition_get_op_num(*slot, &count))) return;
  std::vector<size_t> ops(count);
  Judge(tim_graph_partition_get_ops(*slot, count, ops.data()));
  if (count == 0) FailCalls("a partition has no ops");
}

void CallsSession::Compile() {
  const auto partition = partitions_[Slot()];
  const size_t place = Slot();
  const auto engine = engines_[Slot()];
  const uint8_t how = Next();
  Ids ids;
  std::vector<Description> ports[2];
  std::vector<const Description*> pointers[2];
  for (const int side : {0, 1}) {
    ports[side] = PortsOf(partition, side == 0);
    for (Description& port : ports[side]) {
      const size_t id = port.id;
      const uint8_t change = Next();
      if (change >= 224) port = descriptions_[change % kTensorIds];
      if (change >= 192 && port.layout_type != tim_graph_layout_type_opaque) {
        port.layout_type = tim_graph_layout_type_any;
      } else if (change >= 176) {
        tim_graph_dims_t strides = {};
        for (int i = 0; i < std::max(port.ndims, 0); ++i) {
          strides[i] = i < 4 ? Extent() : 1;
        }
        Judge(tim_graph_logical_tensor_init_with_strides(
            &port, id, port.data_type, port.ndims, port.dims, strides,
            port.property));
      }
      (side == 0 ? ids.inputs : ids.outputs).push_back(id);
    }
    for (const Description& port : ports[side]) pointers[side].push_back(&port);
  }
  if (how >= 240 && !pointers[0].empty()) pointers[0].pop_back();
  if (!Make(&compiled_[place], tim_graph_compiled_partition_destroy,
            [&](tim_graph_compiled_partition_t* made) {
              return tim_graph_compiled_partition_create(made, partition);
            })) {
    return;
  }
  ids_[place] = ids;
  tim_graph_port_residency_t where = {
      .id = how % kTensorIds,
      .residency = static_cast<tim_graph_residency_t>(how % 4)};
  const tim_graph_compile_options_t options = {.num_ports = 1, .ports = &where};
  if (Judge(tim_graph_partition_compile_with_options(
          partition, compiled_[place], pointers[0].size(), pointers[0].data(),
          pointers[1].size(), pointers[1].data(), engine,
          how % 8 == 7 ? &options : nullptr))) {
    ++CountsOfCalls().compiles;
  }
}

void CallsSession::UseCompiled() {
  const auto compiled = compiled_[Slot()];
  size_t count = 0;
  const tim_graph_inplace_pair_t* pairs = nullptr;
  tim_graph_residency_t residency = tim_graph_residency_automatic;
  Description& kept = descriptions_[Next() % kTensorIds];
  Description found = {};
  Judge(
      tim_graph_compiled_partition_get_inplace_ports(compiled, &count, &pairs));
  Judge(tim_graph_compiled_partition_get_residency(compiled, kept.id,
                                                   &residency));
  Judge(tim_graph_compiled_partition_get_scratchpad_logical_tensor(compiled,
                                                                   &found));
  if (Judge(tim_graph_compiled_partition_query_logical_tensor(compiled, kept.id,
                                                              &found)) &&
      found.id == kept.id) {
    kept = found;  // perhaps of an opaque layout
  }
}

void CallsSession::Execute() {
  const size_t place = Slot();
  const auto compiled = compiled_[place];
  const size_t at = Slot();
  const auto engine = engines_[at];
  const auto stream = Next() < 240 ? streams_[at] : streams_[Slot()];
  const uint8_t how = Next();
  std::vector<tim_graph_tensor_t> tensors[2];
  for (const size_t id : ids_[place].inputs) {
    tensors[0].push_back(TensorOfPort(compiled, id, engine));
  }
  for (const size_t id : ids_[place].outputs) {
    tensors[1].push_back(TensorOfPort(compiled, id, engine));
  }
  Description needed = {};
  tim_graph_tensor_t scratchpad = nullptr;
  if (how % 4 == 1 &&
      Judge(tim_graph_compiled_partition_get_scratchpad_logical_tensor(
          compiled, &needed))) {
    if (how >= 192) --needed.dims[0];
    Judge(tim_graph_tensor_create(&scratchpad, &needed, engine,
                                  TIM_GRAPH_MEMORY_ALLOCATE));
  }
  std::vector<const_tim_graph_tensor_t> in(tensors[0].begin(),
                                           tensors[0].end());
  std::vector<const_tim_graph_tensor_t> out(tensors[1].begin(),
                                            tensors[1].end());
  for (int times = 1 + how % 3; times > 0; --times) {
    if (Judge(tim_graph_compiled_partition_execute_v2(
            compiled, stream, in.size(), in.data(), out.size(), out.data(),
            scratchpad))) {
      ++CountsOfCalls().executes;
    }
  }
  // Runs that are in flight keep them.
  for (auto& side : tensors) {
    for (tim_graph_tensor_t tensor : side) {
      Judge(tim_graph_tensor_destroy(tensor));
    }
  }
  Judge(tim_graph_tensor_destroy(scratchpad));
}

void CallsSession::Transfer() {
  const Description& from = AnyDescription();
  const Description& to = AnyDescription();
  const auto engine = engines_[Slot()];
  tim_graph_transfer_t transfer = nullptr;
  if (!Make(&transfer, tim_graph_transfer_destroy,
            [&](tim_graph_transfer_t* made) {
              return tim_graph_transfer_create(made, &from, engine, &to,
                                               engines_[Slot()]);
            })) {
    return;
  }
  Judge(tim_graph_transfer_execute(transfer, streams_[Slot()], tensors_[Slot()],
                                   tensors_[Slot()]));
  Drop(&transfer, tim_graph_transfer_destroy);
}

void CallsSession::Settings() {
  const uint8_t what = Next();
  const int number = Next() % 5 - 1;
  switch (what % 4) {
    case 0:
      Judge(tim_graph_set_compiled_partition_cache_capacity(number));
      break;
    case 1:
      Judge(tim_graph_set_constant_tensor_cache(number));
      break;
    case 2:
      Judge(tim_graph_set_constant_tensor_cache_capacity(
          Kind(), number < 0 ? SIZE_MAX : static_cast<size_t>(number)));
      break;
    default:
      Judge(tim_graph_set_default_fpmath_mode(
          static_cast<tim_graph_fpmath_mode_t>(what / 4 % 8)));
      break;
  }
}

void CallsSession::Ask() {
  const auto op = ops_[Slot()];
  size_t id = 0;
  tim_graph_op_kind_t kind = tim_graph_op_last_symbol;
  tim_graph_op_support_t answer = {};
  uint8_t equal = 0;
  Judge(tim_graph_op_get_id(op, &id));
  Judge(tim_graph_op_get_kind(op, &kind));
  Judge(tim_graph_logical_tensor_is_equal(&AnyDescription(), &AnyDescription(),
                                          &equal));
  if (Judge(tim_graph_query_support(op, Kind(), &answer)) &&
      answer.supported == 0 && *answer.reason == '\0') {
    FailCalls("an op is not supported, without a reason");
  }
}

void CallsSession::Run() {
  using Call = void (CallsSession::*)();
  constexpr Call kCalls[] = {
      &CallsSession::MakeEngine,  &CallsSession::MakeStream,
      &CallsSession::Describe,    &CallsSession::MakeOp,
      &CallsSession::MakeKnownOp, &CallsSession::MakeGraph,
      &CallsSession::UseGraph,    &CallsSession::MakeNetwork,
      &CallsSession::MakeNetwork, &CallsSession::UsePartition,
      &CallsSession::Compile,     &CallsSession::Compile,
      &CallsSession::UseCompiled, &CallsSession::Execute,
      &CallsSession::Execute,     &CallsSession::MakeTensor,
      &CallsSession::UseTensor,   &CallsSession::Transfer,
      &CallsSession::Settings,    &CallsSession::Ask,
      &CallsSession::DropOne,     &CallsSession::MakeKnownOp,
  };
  while (!bytes_.empty()) {
    const uint8_t what = Next();
    if (what >= 250) {
      Judge(tim_graph_stream_wait(streams_[Slot()]));
    } else {
      (this->*kCalls[what % std::size(kCalls)])();
    }
  }
}

}  // namespace tim::testing
