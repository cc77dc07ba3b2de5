// Shrinks a comparison: cuts parts out of the graphs and runs both of them.
#include "tools/timcl/reduce.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "base/write_file.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/graph_part.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

using Bytes = std::vector<std::byte>;

// Parts that are tried to make one smaller; each is compiled twice.
constexpr int kMostTrials = 64;

// The value's elements before the first run; zeros where they are not known.
Result<Bytes> FirstContent(const ir::Value& value) {
  TIM_ASSIGN_OR_RETURN(const int64_t size, ir::ByteSize(value.desc));
  Bytes bytes(static_cast<size_t>(size));
  if (value.constant != nullptr) {
    bytes.assign(value.constant->bytes.begin(), value.constant->bytes.end());
  }
  return bytes;
}

// A part of both graphs, and its inputs.
struct Trial {
  Nodes nodes;  // of the first graph
  ir::NodeId last = ir::kNone;
  Sides sides;
  std::vector<GraphPart> parts;  // one where both graphs are the same file
};

class Reducer {
 public:
  Reducer(const Sides& sides, const Tolerances& tolerances)
      : sides_(sides), tolerances_(tolerances) {}

  Result<Trial> Find(const std::vector<SuspectedLayer>& suspected) {
    TIM_RETURN_IF_ERROR(Open());
    TIM_RETURN_IF_ERROR(CheckStates());
    TIM_RETURN_IF_ERROR(FetchAllBefore(suspected.back()));
    for (const SuspectedLayer& layer : suspected) {
      TIM_ASSIGN_OR_RETURN(const Start start, StartOf(layer));
      if (Differs(start.nodes, start.last)) return Shrink();
    }
    TIM_ASSIGN_OR_RETURN(const Start start, StartOf(suspected.back()));
    return Grow(start);
  }

  std::vector<std::string> NamesOf(const Nodes& nodes) const {
    std::vector<std::string> names;
    const auto order = first().graph.TopologicalOrder();
    for (const ir::NodeId id : *order) {
      if (nodes.contains(id)) names.push_back(first().graph.node(id).name);
    }
    return names;
  }

 private:
  struct Start {
    Nodes nodes;
    ir::NodeId last = ir::kNone;
  };

  const WholeGraph& first() const { return wholes_.front(); }
  const WholeGraph& second() const { return wholes_.back(); }
  bool same_file() const { return wholes_.size() == 1; }

  Status Open() {
    const size_t count = sides_[0].file == sides_[1].file ? 1 : 2;
    for (size_t i = 0; i < count; ++i) {
      TIM_ASSIGN_OR_RETURN(wholes_.emplace_back(),
                           WholeGraph::Of(sides_[i].blob));
    }
    return OkStatus();
  }

  // A difference that is there before the run is no layer's.
  Status CheckStates() const {
    if (same_file()) return OkStatus();
    std::map<std::string, Bytes> others;
    for (const ir::ValueId id : second().graph.ValueIds()) {
      const ir::Value& value = second().graph.value(id);
      if (value.role != ir::Role::kState) continue;
      TIM_ASSIGN_OR_RETURN(others[value.name], FirstContent(value));
    }
    for (const ir::ValueId id : first().graph.ValueIds()) {
      const ir::Value& value = first().graph.value(id);
      if (value.role != ir::Role::kState) continue;
      const auto other = others.find(value.name);
      if (other == others.end()) continue;
      TIM_ASSIGN_OR_RETURN(const Bytes bytes, FirstContent(value));
      if (bytes == other->second) continue;
      return FailedPrecondition("--reduce: the state ", value.name,
                                " has other values in the second graph before "
                                "the run");
    }
    return OkStatus();
  }

  // The node that makes a layer, by its name, else by the tensor's.
  Result<ir::NodeId> MakerOf(const WholeGraph& whole,
                             const RecordedValue& value) const {
    const Nodes named = whole.Named(PartsOf(value.producer).back());
    for (const ir::NodeId id : named) {
      for (const ir::ValueId output : whole.graph.node(id).outputs) {
        if (output != ir::kNone &&
            whole.graph.value(output).name == value.name) {
          return id;
        }
      }
    }
    for (const ir::ValueId id : whole.graph.ValueIds()) {
      const ir::Value& made = whole.graph.value(id);
      if (made.producer != ir::kNone && !value.name.empty() &&
          made.name == value.name) {
        return made.producer;
      }
    }
    if (!named.empty()) return *named.rbegin();
    return FailedPrecondition("--reduce: no node of the graph makes '",
                              value.name, "', the result of step ",
                              value.producer);
  }

  Result<Start> StartOf(const SuspectedLayer& suspected) const {
    Start start;
    TIM_ASSIGN_OR_RETURN(start.last, MakerOf(first(), *suspected.layer->first));
    for (const std::string& name : suspected.nodes) {
      start.nodes.merge(first().Named(name));
    }
    start.nodes = first().NeededBy(start.last, start.nodes);
    return start;
  }

  // The same nodes of the second graph, by their names.
  Result<Nodes> InSecond(const Nodes& nodes) const {
    if (same_file()) return nodes;
    Nodes found;
    for (const ir::NodeId id : nodes) {
      const std::string& name = first().graph.node(id).name;
      const Nodes named = second().Named(name);
      if (named.empty()) {
        return FailedPrecondition("--reduce: the second graph has no node ",
                                  name);
      }
      found.insert(named.begin(), named.end());
    }
    return found;
  }

  // Content of the values in the second run; those of nodes are kept.
  Status Fetch(const std::vector<ir::ValueId>& values) {
    std::vector<ir::ValueId> missing;
    const ir::Graph& graph = second().graph;
    const auto& inputs = graph.inputs();
    for (const ir::ValueId id : values) {
      if (known_.contains(id)) continue;
      const ir::Value& value = graph.value(id);
      if (value.producer != ir::kNone) {
        missing.push_back(id);
        continue;
      }
      TIM_ASSIGN_OR_RETURN(Bytes bytes, FirstContent(value));
      const auto port = std::find(inputs.begin(), inputs.end(), id);
      if (port != inputs.end()) {
        const auto index = static_cast<size_t>(port - inputs.begin());
        std::memcpy(bytes.data(), sides_[1].inputs.memory[index].get(),
                    bytes.size());
      }
      known_[id] = std::move(bytes);
    }
    if (missing.empty()) return OkStatus();
    ShowProgress("the inputs of a part, from the second run");
    TIM_ASSIGN_OR_RETURN(std::vector<Bytes> content,
                         ContentOf(graph, second().registry, missing,
                                   sides_[1].inputs, sides_[1].options));
    for (size_t i = 0; i < missing.size(); ++i) {
      known_[missing[i]] = std::move(content[i]);
    }
    return OkStatus();
  }

  // In one run whatever parts may have as inputs.
  Status FetchAllBefore(const SuspectedLayer& suspected) {
    TIM_ASSIGN_OR_RETURN(const ir::NodeId last,
                         MakerOf(second(), *suspected.layer->second));
    const ir::Graph& graph = second().graph;
    const std::vector<ir::NodeId> all = graph.NodeIds();
    std::vector<ir::ValueId> values;
    for (const ir::NodeId id :
         second().NeededBy(last, {all.begin(), all.end()})) {
      if (id == last) continue;
      for (const ir::ValueId output : graph.node(id).outputs) {
        if (output != ir::kNone) values.push_back(output);
      }
    }
    return Fetch(values);
  }

  Result<Trial> Cut(const Nodes& nodes, ir::NodeId last) {
    Trial trial = {.nodes = nodes, .last = last, .sides = {}, .parts = {}};
    const std::string& name = sides_[0].blob.graph_name;
    TIM_ASSIGN_OR_RETURN(trial.parts.emplace_back(),
                         MakePart(first(), name, nodes, last));
    if (!same_file()) {
      TIM_ASSIGN_OR_RETURN(const Nodes others, InSecond(nodes));
      TIM_ASSIGN_OR_RETURN(const Nodes lasts, InSecond({last}));
      TIM_ASSIGN_OR_RETURN(trial.parts.emplace_back(),
                           MakePart(second(), name, others, *lasts.rbegin()));
    }
    const GraphPart& reference = trial.parts.back();
    TIM_RETURN_IF_ERROR(Fetch(reference.inputs));
    for (size_t i = 0; i < 2; ++i) {
      trial.sides[i].name = sides_[i].name;
      trial.sides[i].blob = i == 0 ? trial.parts.front().blob : reference.blob;
      trial.sides[i].options.device = sides_[i].options.device;
      trial.sides[i].options.options = sides_[i].options.options;
    }
    TIM_ASSIGN_OR_RETURN(Tensors known,
                         MakeTensors(trial.sides[1].blob.inputs));
    for (size_t i = 0; i < reference.inputs.size(); ++i) {
      const Bytes& bytes = known_.at(reference.inputs[i]);
      std::memcpy(known.memory[i].get(), bytes.data(), bytes.size());
    }
    // As a command line has it: the files are for the first graph.
    TIM_ASSIGN_OR_RETURN(trial.sides[0].inputs,
                         ConvertInputs(known, trial.sides[0].blob.inputs));
    TIM_ASSIGN_OR_RETURN(
        trial.sides[1].inputs,
        ConvertInputs(trial.sides[0].inputs, trial.sides[1].blob.inputs));
    return trial;
  }

  Result<bool> Try(const Nodes& nodes, ir::NodeId last) {
    TIM_ASSIGN_OR_RETURN(Trial trial, Cut(nodes, last));
    TIM_ASSIGN_OR_RETURN(const Runs runs, RecordBoth(trial.sides, {}));
    if (Compare(runs[0], runs[1], tolerances_).FirstDifferent() == nullptr) {
      return false;
    }
    best_ = std::move(trial);
    return true;
  }

  // A part that cannot be made or run does not differ.
  bool Differs(const Nodes& nodes, ir::NodeId last) {
    const auto differs = Try(nodes, last);
    if (!differs.ok()) failure_ = differs.status();
    return differs.ok() && *differs;
  }

  // Twice as many layers of producers each time.
  Result<Trial> Grow(const Start& start) {
    Nodes nodes = start.nodes;
    for (int steps = 1;; steps *= 2) {
      const size_t before = nodes.size();
      for (int i = 0; i < steps; ++i) {
        nodes.merge(first().ProducersOf(nodes));
      }
      if (nodes.size() == before) break;
      if (Differs(nodes, start.last)) return Shrink();
    }
    return FailedPrecondition(
        "--reduce: neither the layer that differs nor all that is before it "
        "differs as a graph of its own",
        failure_.ok() ? "" : "; the last failure: ", failure_.message());
  }

  // Nodes of the part whose inputs all come from outside, but for the last.
  Nodes FrontOf(const Trial& trial) const {
    Nodes front;
    for (const ir::NodeId id : trial.nodes) {
      const Nodes producers = first().ProducersOf({id});
      const bool inside =
          std::any_of(producers.begin(), producers.end(),
                      [&](ir::NodeId p) { return trial.nodes.contains(p); });
      if (!inside && id != trial.last) front.insert(id);
    }
    return front;
  }

  // Takes nodes away in front of best_, as long as it still differs.
  Result<Trial> Shrink() {
    int trials = 0;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const ir::NodeId id : FrontOf(*best_)) {
        if (++trials > kMostTrials) break;
        Nodes nodes = best_->nodes;
        nodes.erase(id);
        smaller = Differs(first().NeededBy(best_->last, nodes), best_->last);
        if (smaller) break;
      }
    }
    return *std::move(best_);
  }

  const Sides& sides_;
  const Tolerances& tolerances_;
  std::vector<WholeGraph> wholes_;      // one where both are the same file
  std::map<ir::ValueId, Bytes> known_;  // of the second graph and run
  std::optional<Trial> best_;
  Status failure_;
};

// A word of a shell's command.
std::string Quoted(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || std::strchr("_-./:=,+", c) != nullptr;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string CommandOf(const ReducedGraph& reduced, const Sides& sides,
                      const Arguments& arguments) {
  const CompareArguments& compare = arguments.compare;
  std::string command = "timcl compare";
  const auto add = [&](const std::string& word) {
    command += " " + Quoted(word);
  };
  const auto add_option = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    command += StrCat(" ", name);
    add(value);
  };
  for (const std::string& graph : reduced.graphs) add(graph);
  add_option("--device", sides[0].options.device);
  add_option("--other-device", sides[1].options.device);
  for (const std::string& set : compare.set) add_option("--set", set);
  for (const std::string& set : compare.other_set) {
    add_option("--other-set", set);
  }
  if (compare.tolerance >= 0) {
    add_option("--tolerance", StrCat(compare.tolerance));
  }
  if (compare.codes > 0) add_option("--codes", StrCat(compare.codes));
  for (const std::string& input : reduced.inputs) add_option("--input", input);
  return command;
}

Status AsNotFound(const Status& status) {
  return status.ok() ? status : NotFound(status.message());
}

}  // namespace

Result<ReducedGraph> Reduce(const Sides& sides,
                            const std::vector<SuspectedLayer>& suspected,
                            const Tolerances& tolerances,
                            const Arguments& arguments) {
  Reducer reducer(sides, tolerances);
  TIM_ASSIGN_OR_RETURN(const Trial found, reducer.Find(suspected));
  const std::string& folder = arguments.compare.reduce;
  TIM_RETURN_IF_ERROR(AsNotFound(CreateFolder(folder)));
  ReducedGraph reduced;
  reduced.nodes = reducer.NamesOf(found.nodes);
  for (const GraphPart& part : found.parts) {
    const bool only = found.parts.size() == 1;
    const char* const name = only                     ? "/graph.bin"
                             : reduced.graphs.empty() ? "/first.bin"
                                                      : "/second.bin";
    reduced.graphs.push_back(folder + name);
    TIM_RETURN_IF_ERROR(
        AsNotFound(WriteFile(reduced.graphs.back(),
                             {{reinterpret_cast<const char*>(part.bytes.data()),
                               part.bytes.size()}})));
  }
  TIM_ASSIGN_OR_RETURN(reduced.inputs,
                       WriteTensors(found.sides[0].inputs, folder));
  reduced.command = CommandOf(reduced, sides, arguments);
  return reduced;
}

}  // namespace tim::tool
