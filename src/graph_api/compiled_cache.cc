// The cache of compiled partitions, and its keys.
#include "graph_api/compiled_cache.h"

#include <atomic>
#include <utility>

#include "base/fork/keep_one.h"
#include "graph_api/options.h"

namespace tim::graph {
namespace {

/// Bytes of plain values, each list behind its length.
class KeyText {
 public:
  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Add(const std::string& text) {
    Add(text.size());
    text_ += text;
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(list.size());
    for (const T& value : list) Add(value);
  }
  void Add(const LogicalTensor& tensor);
  void Add(const Op& op);

  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// Only what is meant: fields beyond the rank have any content.
void KeyText::Add(const LogicalTensor& tensor) {
  Add(tensor.id);
  Add(tensor.ndims);
  Add(tensor.data_type);
  Add(tensor.property);
  Add(tensor.layout_type);
  for (int i = 0; i < tensor.ndims && i < TIM_GRAPH_MAX_NDIMS; ++i) {
    Add(tensor.dims[i]);
    if (tensor.layout_type == tim_graph_layout_type_strided) {
      Add(tensor.layout.strides[i]);
    }
  }
  if (tensor.layout_type == tim_graph_layout_type_opaque) {
    Add(tensor.layout.layout_id);
  }
}

void KeyText::Add(const Op& op) {
  Add(op.id);
  Add(op.kind);
  Add(op.inputs);
  Add(op.outputs);
  Add(op.attributes.size());
  for (const auto& [attribute, value] : op.attributes) {
    Add(attribute);
    Add(value.index());
    std::visit([this](const auto& held) { Add(held); }, value);
  }
  Add(op.named.size());
  for (const auto& [name, value] : op.named) {
    Add(name);
    Add(value.index());
    std::visit([this](const auto& held) { Add(held); }, value);
  }
}

}  // namespace

std::string CompileKey(const CompileSource& source,
                       const std::vector<LogicalTensor>& inputs,
                       const std::vector<LogicalTensor>& outputs,
                       uint64_t engine_number, const Residencies& residencies) {
  KeyText key;
  key.Add(engine_number);
  key.Add(source.fpmath_mode);
  key.Add(source.fpmath_applies_to_int);
  key.Add(*source.ops);
  key.Add(*source.inputs);
  key.Add(*source.outputs);
  key.Add(inputs);
  key.Add(outputs);
  for (const auto& [id, residency] : residencies) {
    key.Add(id);
    key.Add(residency);
  }
  return key.Take();
}

CompiledCache& CompiledCache::OfProcess() {
  using Owner = std::unique_ptr<CompiledCache>;
  static constinit std::atomic<const Owner*> cache = nullptr;
  return *KeepOne(cache, [] {
    return std::make_unique<CompiledCache>(GetGraphOptions().compiled_entries);
  });
}

int CompiledCache::capacity() const {
  const std::lock_guard lock(mutex_);
  return capacity_;
}

int CompiledCache::entries() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(entries_.size());
}

CompiledCache::Entries::iterator CompiledCache::Erase(Entries::iterator entry,
                                                      Removed* removed) {
  order_.erase(entry->second->place);
  removed->push_back(std::move(entry->second));
  return entries_.erase(entry);
}

void CompiledCache::Shrink(Removed* removed) {
  while (std::cmp_greater(entries_.size(), capacity_)) {
    Erase(entries_.find(order_.front()), removed);
  }
}

void CompiledCache::set_capacity(int capacity) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  capacity_ = capacity;
  Shrink(&removed);
}

void CompiledCache::ForgetEngine(uint64_t engine_number) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (it->second->engine_number == engine_number) {
      it = Erase(it, &removed);
    } else {
      ++it;
    }
  }
}

std::shared_ptr<CompiledCache::Entry> CompiledCache::FindOrAdd(
    const std::string& key, uint64_t engine_number) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  if (capacity_ == 0) return nullptr;
  auto& entry = entries_[key];
  if (entry != nullptr) {
    order_.splice(order_.end(), order_, entry->place);
    return entry;
  }
  entry = std::make_shared<Entry>();
  entry->engine_number = engine_number;
  entry->place = order_.insert(order_.end(), key);
  const auto added = entry;
  Shrink(&removed);
  return added;
}

void CompiledCache::RemoveFailed(const std::string& key, const Entry* entry) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.get() == entry) {
    Erase(found, &removed);
  }
}

CompileResult CompiledCache::Get(const std::string& key, uint64_t engine_number,
                                 const std::function<CompileResult()>& compile,
                                 bool* hit) {
  const std::shared_ptr<Entry> entry = FindOrAdd(key, engine_number);
  *hit = false;
  if (entry == nullptr) return compile();
  const std::lock_guard lock(entry->mutex);
  *hit = entry->compiled != nullptr;
  if (*hit) return {.compiled = entry->compiled};
  CompileResult result = compile();
  if (result.status.ok()) {
    entry->compiled = result.compiled;
  } else {
    RemoveFailed(key, entry.get());
  }
  return result;
}

CompileResult CompileOnce(const CompileSource& source,
                          const std::vector<LogicalTensor>& inputs,
                          const std::vector<LogicalTensor>& outputs,
                          std::shared_ptr<tim_graph_engine> engine, bool* hit,
                          const Residencies& residencies) {
  bool found = false;
  if (hit == nullptr) hit = &found;
  *hit = false;
  // Mistakes of a call are told by Compile().
  if (engine == nullptr || !source.supported) {
    return Compile(source, inputs, outputs, std::move(engine), residencies);
  }
  const uint64_t number = engine->number();
  return CompiledCache::OfProcess().Get(
      CompileKey(source, inputs, outputs, number, residencies), number,
      [&] { return Compile(source, inputs, outputs, engine, residencies); },
      hit);
}

}  // namespace tim::graph
