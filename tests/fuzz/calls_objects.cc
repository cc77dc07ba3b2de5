// Objects of a session: how calls are judged, and what makes and drops engines,
// streams, tensors and descriptions.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "tests/fuzz/calls_session.h"

namespace tim::testing {
namespace {

using Description = tim_graph_logical_tensor_t;

// Memory that a client lends, and gives until its budget is used up.
struct Budget {
  int64_t live = 0;
  int64_t left = 0;
};

Budget& BudgetOfProcess() {
  static constinit Budget budget;
  return budget;
}

void* Allocate(size_t size, size_t alignment) {
  Budget& budget = BudgetOfProcess();
  if (budget.left == 0) return nullptr;
  --budget.left;
  constexpr size_t kMost = size_t{1} << 24;
  if (size > kMost) return nullptr;
  const size_t whole = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  if (memory != nullptr) ++budget.live;
  return memory;
}

void Free(void* memory) {
  --BudgetOfProcess().live;
  std::free(memory);
}

alignas(64) std::byte g_client_memory[1 << 16];

// At least the tensor's size of a client's memory, at an odd place for some;
// null where there is not as much.
void* ClientMemory(const Description& tensor, uint8_t place) {
  size_t bytes = 0;
  if (tim_graph_logical_tensor_get_mem_size(&tensor, &bytes) !=
      tim_graph_success) {
    return nullptr;
  }
  return bytes <= sizeof(g_client_memory) - place ? g_client_memory + place
                                                  : nullptr;
}

bool IsLarge(const Description& tensor) {
  constexpr size_t kMost = 1 << 20;
  size_t bytes = 0;
  return tim_graph_logical_tensor_get_mem_size(&tensor, &bytes) ==
             tim_graph_success &&
         bytes != SIZE_MAX && bytes > kMost;
}

}  // namespace

void FailCalls(const char* what) {
  std::fprintf(stderr, "calls_fuzz: %s; last message: %s\n", what,
               tim_graph_last_message());
  std::abort();
}

CallCounts& CountsOfCalls() {
  static constinit CallCounts counts;
  return counts;
}

CallsSession::CallsSession(std::span<const uint8_t> bytes) : bytes_(bytes) {
  for (size_t id = 0; id < kTensorIds; ++id) SetKnownDims(id);
}

void CallsSession::SetKnownDims(size_t id) {
  const tim_graph_dims_t dims = {1, 4, 4, 4};
  Judge(tim_graph_logical_tensor_init_with_dims(
      &descriptions_[id], id, tim_graph_f32, 4, dims,
      tim_graph_layout_type_strided, tim_graph_tensor_property_undef));
}

CallsSession::~CallsSession() {
  DropAll();
  // Compiled partitions in the cache keep their engines.
  Judge(tim_graph_set_compiled_partition_cache_capacity(0));
  Judge(tim_graph_set_compiled_partition_cache_capacity(1024));
  Judge(tim_graph_set_constant_tensor_cache(0));
  Judge(tim_graph_set_default_fpmath_mode(tim_graph_fpmath_mode_strict));
  if (BudgetOfProcess().live != 0) FailCalls("memory of an allocator is left");
}

uint8_t CallsSession::Next() {
  if (bytes_.empty()) return 0;
  const uint8_t byte = bytes_.front();
  bytes_ = bytes_.subspan(1);
  return byte;
}

int64_t CallsSession::Extent() {
  constexpr int64_t kExtents[] = {
      4, 1, 0, 2, 3, 5, 7, 8, -1, TIM_GRAPH_UNKNOWN_DIM, INT64_MAX, 1 << 20};
  const uint8_t byte = Next();
  return kExtents[byte < 128 ? byte % 8 : byte % std::size(kExtents)];
}

tim_graph_engine_kind_t CallsSession::Kind() {
  const uint8_t byte = Next();
  return byte < 192 ? tim_graph_cpu
                    : static_cast<tim_graph_engine_kind_t>(byte % 4);
}

bool CallsSession::Judge(tim_graph_status_t status) {
  ++CountsOfCalls().calls;
  if (status == tim_graph_success) return true;
  ++CountsOfCalls().refused;
  if (status < tim_graph_success || status > tim_graph_invalid_data_type) {
    FailCalls("a status that is none");
  }
  if (status == tim_graph_runtime_error)
    FailCalls("an error of the library's own");
  if (*tim_graph_last_message() == '\0')
    FailCalls("a failure without a message");
  return false;
}

void CallsSession::MakeEngine() {
  auto* const slot = &engines_[Slot()];
  const uint8_t how = Next();
  const tim_graph_engine_kind_t kind = Kind();
  const size_t index = how < 224 ? 0 : how;
  if (how % 2 == 0) {
    Make(slot, tim_graph_engine_destroy, [&](tim_graph_engine_t* made) {
      return tim_graph_engine_create(made, kind, index);
    });
    return;
  }
  tim_graph_allocator_t allocator = nullptr;
  BudgetOfProcess().left = how % 4 == 1 ? 1 << 20 : Next();
  if (!Judge(tim_graph_allocator_create(&allocator, Allocate, Free))) return;
  Make(slot, tim_graph_engine_destroy, [&](tim_graph_engine_t* made) {
    return tim_graph_make_engine_with_allocator(made, kind, index, allocator);
  });
  Judge(tim_graph_allocator_destroy(allocator));
}

void CallsSession::MakeStream() {
  auto* const slot = &streams_[Slot()];
  const auto engine = engines_[Slot()];
  constexpr unsigned kFlags[] = {
      tim_graph_stream_default_flags,
      tim_graph_stream_default_flags | tim_graph_stream_asynchronous,
      tim_graph_stream_out_of_order, 0x800};
  const unsigned flags = kFlags[Next() % std::size(kFlags)];
  Make(slot, tim_graph_stream_destroy, [&](tim_graph_stream_t* made) {
    return tim_graph_stream_create(made, engine, flags);
  });
}

void CallsSession::Describe() {
  const size_t id = Next() % kTensorIds;
  const uint8_t how = Next();
  const auto type =
      static_cast<tim_graph_data_type_t>(how < 128 ? tim_graph_f32 : how % 17);
  const auto property = static_cast<tim_graph_tensor_property_t>(Next() % 4);
  const auto layout = static_cast<tim_graph_layout_type_t>(Next() % 4);
  const int ndims = how % 32 == 31 ? Next() - 2 : how % 6 - 1;
  tim_graph_dims_t dims = {};
  tim_graph_dims_t strides = {};
  for (int i = 0; i < std::min(ndims, TIM_GRAPH_MAX_NDIMS); ++i) {
    dims[i] = i < 4 ? Extent() : 2;
  }
  Description made = {};
  bool described = false;
  if (ndims < 0 || Next() % 8 == 0) {
    described = Judge(tim_graph_logical_tensor_init(&made, id, type, ndims,
                                                    layout, property));
  } else if (Next() % 4 != 0) {
    described = Judge(tim_graph_logical_tensor_init_with_dims(
        &made, id, type, ndims, dims, layout, property));
  } else {
    for (int i = 0; i < std::min(ndims, TIM_GRAPH_MAX_NDIMS); ++i) {
      strides[i] = i < 4 ? Extent() : 1;
    }
    described = Judge(tim_graph_logical_tensor_init_with_strides(
        &made, id, type, ndims, dims, strides, property));
  }
  if (described) descriptions_[id] = made;
}

void CallsSession::MakeTensor() {
  auto* const slot = &tensors_[Slot()];
  const Description& description = AnyDescription();
  const auto engine = engines_[Slot()];
  const uint8_t how = Next();
  if (IsLarge(description)) return;
  if (how % 4 == 3) {
    Make(slot, tim_graph_tensor_destroy, [&](tim_graph_tensor_t* made) {
      return tim_graph_tensor_create_scalar(made, &description,
                                            g_client_memory);
    });
    return;
  }
  void* const memory = how % 4 == 0   ? TIM_GRAPH_MEMORY_ALLOCATE
                       : how % 4 == 1 ? ClientMemory(description, how)
                                      : nullptr;
  Make(slot, tim_graph_tensor_destroy, [&](tim_graph_tensor_t* made) {
    return tim_graph_tensor_create(made, &description, engine, memory);
  });
}

void CallsSession::UseTensor() {
  const auto tensor = tensors_[Slot()];
  Description description = {};
  void* handle = nullptr;
  tim_graph_engine_t engine = nullptr;
  Judge(tim_graph_tensor_get_data_handle(tensor, &handle));
  Judge(tim_graph_tensor_get_engine(tensor, &engine));
  if (!Judge(tim_graph_tensor_get_logical_tensor(tensor, &description))) return;
  Judge(tim_graph_tensor_set_data_handle(tensor,
                                         ClientMemory(description, Next())));
}

tim_graph_tensor_t CallsSession::TensorOfPort(
    tim_graph_compiled_partition_t compiled, size_t id,
    tim_graph_engine_t engine) {
  Description description = {};
  Judge(tim_graph_compiled_partition_query_logical_tensor(compiled, id,
                                                          &description));
  const uint8_t how = Next();
  tim_graph_tensor_t tensor = nullptr;
  if (IsLarge(description)) return tensor;
  if (description.property == tim_graph_tensor_property_host_scalar) {
    Judge(
        tim_graph_tensor_create_scalar(&tensor, &description, g_client_memory));
    return tensor;
  }
  if (how >= 240) description = descriptions_[how % kTensorIds];
  if (IsLarge(description)) return tensor;
  void* const memory =
      how % 4 == 0 ? ClientMemory(description, how) : TIM_GRAPH_MEMORY_ALLOCATE;
  Judge(tim_graph_tensor_create(&tensor, &description, engine, memory));
  return tensor;
}

void CallsSession::DropOne() {
  const size_t slot = Slot();
  constexpr void (*kDrops[])(CallsSession&, size_t) = {
      [](CallsSession& s, size_t i) {
        s.Drop(&s.engines_[i], tim_graph_engine_destroy);
      },
      [](CallsSession& s, size_t i) {
        s.Drop(&s.streams_[i], tim_graph_stream_destroy);
      },
      [](CallsSession& s, size_t i) {
        s.Drop(&s.ops_[i], tim_graph_op_destroy);
      },
      [](CallsSession& s, size_t i) {
        s.Drop(&s.graphs_[i], tim_graph_graph_destroy);
      },
      [](CallsSession& s, size_t i) {
        s.Drop(&s.partitions_[i], tim_graph_partition_destroy);
      },
      [](CallsSession& s, size_t i) {
        s.Drop(&s.compiled_[i], tim_graph_compiled_partition_destroy);
      },
      [](CallsSession& s, size_t i) {
        s.Drop(&s.tensors_[i], tim_graph_tensor_destroy);
      },
  };
  kDrops[Next() % std::size(kDrops)](*this, slot);
}

void CallsSession::DropAll() {
  for (size_t i = 0; i < kSlots; ++i) {
    Drop(&tensors_[i], tim_graph_tensor_destroy);
    Drop(&engines_[i], tim_graph_engine_destroy);
    Drop(&graphs_[i], tim_graph_graph_destroy);
    Drop(&ops_[i], tim_graph_op_destroy);
    Drop(&partitions_[i], tim_graph_partition_destroy);
    Drop(&compiled_[i], tim_graph_compiled_partition_destroy);
    Drop(&streams_[i], tim_graph_stream_destroy);
  }
}

void CallsSession::MakeOp() {
  auto* const slot = &ops_[Slot()];
  const uint8_t kind = Next();
  Make(slot, tim_graph_op_destroy, [&](tim_graph_op_t* made) {
    return tim_graph_op_create(made, next_op_++,
                               static_cast<tim_graph_op_kind_t>(kind % 90),
                               kind % 3 == 0 ? nullptr : "an op");
  });
  for (int inputs = Next() % 4; inputs > 0; --inputs) {
    Judge(tim_graph_op_add_input(*slot, &AnyDescription()));
  }
  for (int outputs = Next() % 3; outputs > 0; --outputs) {
    Judge(tim_graph_op_add_output(*slot, &AnyDescription()));
  }
  SetAttribute(*slot);
}

void CallsSession::MakeGraph() {
  auto* const slot = &graphs_[Slot()];
  const tim_graph_engine_kind_t kind = Kind();
  const auto mode = static_cast<tim_graph_fpmath_mode_t>(Next() % 6);
  Make(slot, tim_graph_graph_destroy, [&](tim_graph_graph_t* made) {
    return mode == 5
               ? tim_graph_graph_create(made, kind)
               : tim_graph_graph_create_with_fpmath_mode(made, kind, mode);
  });
}

}  // namespace tim::testing
