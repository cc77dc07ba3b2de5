// Chooses the plan for the constants of an execute, and makes it where there is
// none yet.
#include "graph_api/constant_plans.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "graph_api/constant_cache.h"
#include "graph_api/engine.h"
#include "graph_api/residency.h"
#include "ops/builtin.h"

namespace tim::graph {
namespace {

uint64_t NextNumber() {
  static constinit std::atomic<uint64_t> last = 0;
  return ++last;
}

int64_t DenseBytes(const LogicalTensor& tensor) {
  const auto bytes = ir::ByteSize(InnerDesc(tensor));
  return bytes.ok() ? *bytes : 0;
}

// The bytes of a constant without gaps: as they are, or gathered in `room`.
Result<std::span<const std::byte>> DenseContent(const LogicalTensor& tensor,
                                                const compiler::Port& port,
                                                const void* memory,
                                                std::vector<std::byte>* room) {
  const auto* from = static_cast<const std::byte*>(memory);
  const auto bytes = static_cast<size_t>(DenseBytes(tensor));
  if (port.layout.dense()) return std::span(from, bytes);
  room->resize(bytes);
  const ir::TensorDesc dense = InnerDesc(tensor);
  ir::TensorDesc there = dense;
  there.layout = port.layout;
  ir::Node node;
  node.schema = ops::BuiltinOperators().Find("tim.Reorder");
  if (node.schema == nullptr) return TIM_INTERNAL("no tim.Reorder");
  const ir::ConstTensor in[] = {{&there, from}};
  const ir::MutableTensor out[] = {{&dense, room->data()}};
  TIM_RETURN_IF_ERROR(node.schema->eval(ir::EvalContext{node, in, out}));
  return std::span<const std::byte>(*room);
}

bool HasCache(const PlanSource& source) {
  return ConstantCache::OfProcess().capacity(source.engine->kind()) > 0;
}

}  // namespace

bool UsesConstants(const PlanSource& source) {
  return !HasDevicePorts(source) || HasCache(source);
}

bool HasDevicePorts(const PlanSource& source) {
  const auto is_on_device = [&](const PortPlace& place) {
    return IsOnDevice(place.residency, *source.engine);
  };
  return source.engine->kind() == tim_graph_gpu ||
         std::any_of(source.input_places.begin(), source.input_places.end(),
                     is_on_device) ||
         std::any_of(source.output_places.begin(), source.output_places.end(),
                     is_on_device);
}

Result<std::shared_ptr<Runnable>> MakePlan(const PlanSource& source,
                                           const KnownInputs& known) {
  TIM_ASSIGN_OR_RETURN(
      LoweredOps lowered,
      LowerOps(source.name, source.ops, source.inputs, source.outputs, known));
  TIM_ASSIGN_OR_RETURN(std::shared_ptr<Runnable> made,
                       Runnable::Create(std::move(lowered), source.input_places,
                                        source.output_places, *source.engine));
  return made;
}

ConstantPlans::ConstantPlans(const PlanSource* source,
                             std::vector<size_t> constants,
                             std::shared_ptr<Runnable> general)
    : source_(*source),
      constants_(std::move(constants)),
      number_(NextNumber()),
      general_(std::move(general)) {
  for (const size_t input : constants_) {
    bytes_ += DenseBytes(source_.inputs[input]);
  }
}

ConstantPlans::~ConstantPlans() {
  if (!constants_.empty()) ConstantCache::OfProcess().Forget(number_);
}

Result<std::vector<Hash128>> ConstantPlans::HashesOf(
    std::span<const void* const> memory) const {
  std::vector<Hash128> hashes;
  std::vector<std::byte> room;
  for (size_t i = 0; i < constants_.size(); ++i) {
    const size_t input = constants_[i];
    TIM_ASSIGN_OR_RETURN(
        const auto bytes,
        DenseContent(source_.inputs[input], source_.input_places[input].port,
                     memory[i], &room));
    hashes.push_back(HashBytes(bytes.data(), bytes.size()));
  }
  return hashes;
}

Result<ConstantPlans::Plan> ConstantPlans::Make(
    std::span<const void* const> memory) {
  KnownInputs known;
  std::vector<std::byte> room;
  for (size_t i = 0; i < constants_.size(); ++i) {
    const size_t input = constants_[i];
    TIM_ASSIGN_OR_RETURN(
        const auto bytes,
        DenseContent(source_.inputs[input], source_.input_places[input].port,
                     memory[i], &room));
    known[source_.inputs[input].id] = ir::MakeConstant(bytes);
  }
  TIM_ASSIGN_OR_RETURN(Plan plan, MakePlan(source_, known));
  ++made_;
  return plan;
}

Result<ConstantPlans::Plan> ConstantPlans::GeneralLocked() {
  if (general_ == nullptr) {
    TIM_ASSIGN_OR_RETURN(general_, MakePlan(source_, {}));
  }
  return general_;
}

Result<ConstantPlans::Plan> ConstantPlans::General() {
  const std::lock_guard lock(mutex_);
  return GeneralLocked();
}

int ConstantPlans::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

Result<ConstantPlans::Plan> ConstantPlans::For(
    std::span<const void* const> memory, bool check) {
  if (constants_.empty()) return General();
  if (!HasCache(source_)) return ForContent(memory);
  return ForCached(
      {memory.begin(), memory.end()},
      [&] { return std::vector<const void*>(memory.begin(), memory.end()); },
      check);
}

Result<ConstantPlans::Plan> ConstantPlans::ForKeys(
    std::vector<const void*> keys, const ConstantContent& content, bool check) {
  if (constants_.empty() || !HasCache(source_)) return General();
  return ForCached(std::move(keys), content, check);
}

Status ConstantPlans::CheckUnchanged(
    const std::vector<Hash128>& before,
    std::span<const void* const> memory) const {
  TIM_ASSIGN_OR_RETURN(const std::vector<Hash128> now, HashesOf(memory));
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] == before[i]) continue;
    return InvalidArgument(
        source_.name, ": tensor ", source_.inputs[constants_[i]].id,
        " is a constant, and the content behind its handle has changed while "
        "it is in the cache of constants; give it another handle, make it a "
        "variable, or set the cache's capacity again");
  }
  return OkStatus();
}

Result<ConstantPlans::Plan> ConstantPlans::ForCached(
    std::vector<const void*> keys, const ConstantContent& content, bool check) {
  ConstantCache& cache = ConstantCache::OfProcess();
  ConstantCache::Key key{number_, std::move(keys)};
  auto entry = cache.Find(key);
  if (entry == nullptr) {
    const std::lock_guard lock(mutex_);
    entry = cache.Find(key);
    if (entry == nullptr) {
      const void* const device = source_.engine->device().get();
      if (!cache.HasRoom(source_.engine->kind(), device, bytes_)) {
        return GeneralLocked();
      }
      ConstantCache::Entry made{.kind = source_.engine->kind(),
                                .device = device,
                                .bytes = bytes_,
                                .plan = nullptr,
                                .hashes = {}};
      TIM_ASSIGN_OR_RETURN(const auto memory, content());
      TIM_ASSIGN_OR_RETURN(made.hashes, HashesOf(memory));
      TIM_ASSIGN_OR_RETURN(made.plan, Make(memory));
      Plan plan = made.plan;
      cache.Keep(std::move(key), std::move(made));
      return plan;
    }
  }
  if (!check) return entry->plan;
  TIM_ASSIGN_OR_RETURN(const auto memory, content());
  TIM_RETURN_IF_ERROR(CheckUnchanged(entry->hashes, memory));
  return entry->plan;
}

Result<ConstantPlans::Plan> ConstantPlans::ForContent(
    std::span<const void* const> memory) {
  {
    const std::lock_guard lock(mutex_);
    if (changes_often_) return GeneralLocked();
  }
  TIM_ASSIGN_OR_RETURN(std::vector<Hash128> hashes, HashesOf(memory));
  const std::lock_guard lock(mutex_);
  for (const auto& [content, plan] : by_content_) {
    if (content == hashes) return plan;
  }
  if (changes_often_ || by_content_.size() > kMostChanges) {
    changes_often_ = true;
    by_content_.clear();
    return GeneralLocked();
  }
  TIM_ASSIGN_OR_RETURN(Plan plan, Make(memory));
  by_content_.emplace_back(std::move(hashes), plan);
  return plan;
}

}  // namespace tim::graph
