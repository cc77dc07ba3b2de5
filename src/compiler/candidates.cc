#include "compiler/candidates.h"

#include <algorithm>

#include "compiler/memory/in_place_parts.h"
#include "compiler/pieces.h"
#include "ir/effect_order.h"
#include "ir/evaluate.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

constexpr char kOnOpenCl[] =
    "a user's kernel runs on OpenCL devices only; it has no HostEval()";
constexpr char kInstall[] =
    ", and no OpenCL device is in use: unless TIMCL_DEVICE asks for the host "
    "alone, install "
    "the driver of your device; for CPUs it is the package pocl-opencl-icd on "
    "Debian and Ubuntu";

using ir::KernelNode;
using ir::Node;

constexpr double kReorderEfficiency = 0.3;
// Of two equal ways the one that views a graph input on the device, which may
// import it; of a view on the host it gets a copy.
constexpr double kHostViewUs = 0.01;

// Fills one node's candidates.
class Enumerator {
 public:
  Enumerator(const Module& module, const Node& node, LocationTable& locations)
      : module_(module),
        node_(node),
        locations_(locations),
        view_(ViewOf(module, module.graph, node)),
        pinned_(node.device) {}

  /// \param device -1: all that the user permits.
  void Run(int device) {
    if (ir::ControlOf(node_)) return AddControl(device);
    for (int d = 0; d < static_cast<int>(module_.options.devices.size()); ++d) {
      if ((pinned_ >= 0 && pinned_ != d) || (device >= 0 && device != d)) {
        continue;
      }
      AddView(d);
      AddKernels(d);
      AddEval(d);
    }
    const auto reasons = module_.not_claimed.find(node_.id);
    if (reasons == module_.not_claimed.end()) return;
    found_.refused.insert(found_.refused.end(), reasons->second.begin(),
                          reasons->second.end());
  }

  NodeCandidates Take() { return std::move(found_); }

 private:
  void Add(Placement placement, const ir::LayoutTuple& layouts, double cost,
           const std::string& name) {
    Candidate candidate{
        .placement = placement,
        .inputs = Locations(placement.device, layouts.inputs, node_.inputs),
        .outputs = Locations(placement.device, layouts.outputs, node_.outputs),
        .cost = cost,
        .label = {}};
    candidate.label =
        StrCat(module_.device(placement.device).Label(), ":", name);
    for (const ir::Layout& layout : layouts.outputs) {
      if (!layout.dense()) candidate.label += StrCat(" -> ", layout.ToString());
    }
    found_.candidates.push_back(std::move(candidate));
  }

  std::vector<int> Locations(int device, const std::vector<ir::Layout>& layouts,
                             const std::vector<ir::ValueId>& values) {
    std::vector<int> out;
    for (size_t i = 0; i < values.size(); ++i) {
      out.push_back(values[i] == ir::kNone
                        ? kNoLocation
                        : locations_.Intern({device, layouts[i]}));
    }
    return out;
  }

  // A control step is where most of its graphs runs: nothing is moved.
  void AddControl(int wanted) {
    const int device = pinned_ >= 0 ? pinned_ : module_.primary_device();
    if (wanted >= 0 && wanted != device) return;
    const ir::DeviceInfo& info = module_.device(device);
    Add({.kind = RunKind::kControl, .device = device}, ir::DenseLayouts(view_),
        ir::EstimateOf(module_.graph, node_).flops / (info.gflops * 1e3) +
            info.launch_us,
        ir::ToString(*ir::ControlOf(node_)));
  }

  void AddView(int device) {
    if (node_.composite || !node_.schema->is_view ||
        ir::HasOrderedEffects(node_)) {
      return;
    }
    const ir::NodeDescs descs(module_.graph, node_);
    if (!node_.schema->is_view(descs.view())) return;
    Add({.kind = RunKind::kView, .device = device}, ir::DenseLayouts(view_),
        IsHostFallback(device) ? kHostViewUs : 0, "view");
  }

  void AddKernels(int device) {
    const ir::DeviceInfo& info = module_.device(device);
    const std::vector<NodePiece> pieces =
        CutToPieces(view_, module_.options.piece_elements, info.alignment);
    if (info.remote && !AreInReach(pieces)) {
      found_.refused.push_back(
          StrCat(info.Label(),
                 ": kernels of remote devices do not reach its tensors"));
      return;
    }
    const std::string name = KernelOpName(node_);
    const auto kernels = module_.registry.Kernels(name, info.kind);
    if (kernels.empty() && !info.runs_eval && IsAskedAfter(device)) {
      found_.refused.push_back(
          StrCat(info.Label(), ": it has no kernel for ", name));
    }
    if (!pieces.empty()) {
      for (const ir::KernelDef* kernel : kernels) {
        AddPieces(*kernel, pieces, device);
      }
      return;
    }
    const auto kept = module_.offers.find(node_.id);
    if (kept != module_.offers.end() && kept->second.contains(device)) {
      AddOffers(kept->second.at(device), device);
    } else {
      AddOffers(OffersOn(module_, view_, device), device);
    }
  }

  void AddOffers(const std::vector<Offer>& offers, int device) {
    for (const Offer& offer : offers) {
      if (offer.problem.ok()) {
        AddOffer(offer, device);
      } else {
        Refuse(*offer.kernel, device, offer.problem.status().message());
      }
    }
  }

  void Refuse(const ir::KernelDef& kernel, int device,
              const std::string& reason) {
    found_.refused.push_back(
        StrCat(module_.device(device).Label(), ":", kernel.name, ": ", reason));
  }

  void AddOffer(const Offer& offer, int device) {
    const ir::DeviceInfo& info = module_.device(device);
    auto tuples = ir::LayoutsOf(*offer.kernel, *offer.problem, view_, info);
    if (DenseOnly(device)) {
      std::erase_if(tuples, [&](const ir::LayoutTuple& tuple) {
        return !(tuple == ir::DenseLayouts(view_));
      });
    }
    for (const ir::LayoutTuple& layouts : tuples) {
      KernelNode laid_out = view_;
      for (size_t i = 0; i < layouts.inputs.size(); ++i) {
        laid_out.inputs[i].layout = layouts.inputs[i];
      }
      for (size_t i = 0; i < layouts.outputs.size(); ++i) {
        laid_out.outputs[i].layout = layouts.outputs[i];
      }
      Add({.kind = RunKind::kKernel,
           .device = device,
           .kernel = offer.kernel,
           .problem = *offer.problem},
          layouts, CostOf(offer, laid_out, info), offer.kernel->name);
    }
  }

  void AddPieces(const ir::KernelDef& kernel,
                 const std::vector<NodePiece>& pieces, int device) {
    const ir::DeviceInfo& info = module_.device(device);
    const ir::LayoutTuple dense = ir::DenseLayouts(view_);
    double cost = 0;
    for (const NodePiece& piece : pieces) {
      const auto problem = Analyze(module_, kernel, piece.view, device);
      if (!problem.ok()) {
        return Refuse(kernel, device,
                      problem.status().WithContext("a piece of it").message());
      }
      const auto tuples = ir::LayoutsOf(kernel, *problem, piece.view, info);
      if (std::count(tuples.begin(), tuples.end(), dense) == 0) {
        return Refuse(kernel, device, "pieces of tensors are dense");
      }
      cost += kernel.cost(*problem, piece.view, info);
    }
    Add({.kind = RunKind::kKernel,
         .device = device,
         .kernel = &kernel,
         .in_pieces = true},
        dense, cost, StrCat(kernel.name, " in ", pieces.size(), " pieces"));
  }

  // Where a kernel that goes to other layouts and back cannot run.
  bool DenseOnly(int device) const {
    const auto reorders =
        module_.registry.Kernels(kReorderOp, module_.device(device).kind);
    const auto& refused = module_.options.refused;
    return std::any_of(refused.begin(), refused.end(), [&](const auto& one) {
      return one.device == device &&
             std::any_of(reorders.begin(), reorders.end(),
                         [&](const ir::KernelDef* kernel) {
                           return kernel->name == one.kernel;
                         });
    });
  }

  // Parts of an input are made by no step.
  double CostOf(const Offer& offer, const KernelNode& laid_out,
                const ir::DeviceInfo& info) const {
    if (!node_.composite && node_.schema->in_place_offsets) {
      std::vector<const ir::TensorDesc*> inputs;
      std::vector<const ir::TensorDesc*> outputs;
      for (size_t i = 0; i < laid_out.inputs.size(); ++i) {
        inputs.push_back(laid_out.present[i] ? &laid_out.inputs[i] : nullptr);
      }
      for (const ir::TensorDesc& desc : laid_out.outputs) {
        outputs.push_back(&desc);
      }
      if (IsViewOfParts(module_, {node_, inputs, outputs})) return 0;
    }
    return offer.kernel->cost(*offer.problem, laid_out, info);
  }

  void AddEval(int device) {
    const ir::DeviceInfo& info = module_.device(device);
    if (!info.runs_eval) return;
    if (!ir::CanEvaluate(node_)) {
      found_.refused.push_back(
          StrCat(info.Label(), ":eval: ", ReasonAgainstEval()));
      return;
    }
    if (IsHostFallback(device) && module_.options.strict) {
      found_.refused.push_back("host:eval: strict mode allows no host step");
      return;
    }
    const double flops = ir::EstimateOf(module_.graph, node_).flops;
    const double cost = flops / (info.gflops * 1e3) + info.launch_us +
                        (IsHostFallback(device) ? kHostStepPenalty : 0);
    Add({.kind = RunKind::kEval, .device = device}, ir::DenseLayouts(view_),
        cost, "eval");
  }

  // Whether it matters that the device has no kernel: where it is one of
  // several, or the only one that the node may be on.
  bool IsAskedAfter(int device) const {
    return module_.several_devices() || pinned_ == device ||
           module_.options.strict;
  }

  // The reason why the node has no `eval`.
  std::string ReasonAgainstEval() const {
    if (ir::HasUserKernel(node_)) {
      return module_.options.devices.size() > 1 ? kOnOpenCl
                                                : StrCat(kOnOpenCl, kInstall);
    }
    if (node_.schema != nullptr && node_.schema->device_only) {
      return StrCat("the operator runs on devices of plug-in ",
                    node_.schema->domain, " only");
    }
    return "the operator has no host reference";
  }

  bool IsHostFallback(int device) const {
    return device == 0 && module_.options.devices.size() > 1 && pinned_ != 0;
  }

  const Module& module_;
  const Node& node_;
  LocationTable& locations_;
  KernelNode view_;
  int pinned_;
  NodeCandidates found_;
};

}  // namespace

int LocationTable::Intern(const Location& location) {
  const auto it = std::find(locations_.begin(), locations_.end(), location);
  if (it != locations_.end()) return static_cast<int>(it - locations_.begin());
  if (locations_.size() == LocationSet::kLimit) return kNoLocation;
  locations_.push_back(location);
  return static_cast<int>(locations_.size()) - 1;
}

namespace {

// A full table makes a candidate unusable, not the graph: dense locations of
// every device are interned first.
void DropWithoutRoom(const Node& node, NodeCandidates* found) {
  const auto lacks = [](const std::vector<ir::ValueId>& values,
                        const std::vector<int>& locations) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != ir::kNone && locations[i] < 0) return true;
    }
    return false;
  };
  std::erase_if(found->candidates, [&](const Candidate& candidate) {
    if (!lacks(node.inputs, candidate.inputs) &&
        !lacks(node.outputs, candidate.outputs)) {
      return false;
    }
    found->refused.push_back(
        StrCat(candidate.label, ": no room for another layout"));
    return true;
  });
}

Status NoCandidate(const Module& module, const Node& node,
                   const NodeCandidates& found) {
  const std::string reasons =
      StrCat(DescribeOperands(module.graph, node),
             "\n  refused: ", StrJoin(found.refused, "\n  refused: "));
  if (node.device < 0) {
    return Unimplemented(Describe(module.graph, node), ": no device can run it",
                         reasons);
  }
  return Unimplemented(Describe(module.graph, node), " must run on device ",
                       module.device(node.device).Label(),
                       ", which cannot run it", reasons);
}

}  // namespace

double PredictedUs(const Placement& placement, double cost) {
  const bool penalized =
      placement.kind == RunKind::kEval && cost >= kHostStepPenalty;
  return penalized ? cost - kHostStepPenalty : cost;
}

NodeCandidates CandidatesOn(const Module& module, const Node& node, int device,
                            LocationTable& locations) {
  Enumerator enumerator(module, node, locations);
  enumerator.Run(device);
  NodeCandidates found = enumerator.Take();
  DropWithoutRoom(node, &found);
  return found;
}

Result<NodeCandidates> EnumerateCandidates(const Module& module,
                                           const Node& node,
                                           LocationTable& locations) {
  const int device = module.DeviceOf(node);
  NodeCandidates found = CandidatesOn(module, node, device, locations);
  // Fusion may have made of two nodes one that its device does not take.
  if (found.candidates.empty() && device != node.device) {
    found = CandidatesOn(module, node, -1, locations);
  }
  if (!found.candidates.empty()) return found;
  return NoCandidate(module, node, found);
}

namespace {

// The first location that a link leads from to `device` without the host's
// memory; none where the host has the value.
int DirectSource(const Module& module, const LocationTable& locations,
                 const LocationSet& present, int device) {
  int found = kNoLocation;
  for (int i = present.First(); i < LocationSet::kLimit; i = present.Next(i)) {
    const int from = locations[i].device;
    if (from == 0) return kNoLocation;
    if (found == kNoLocation &&
        module.options.links.Between(from, device).direct) {
      found = i;
    }
  }
  return found;
}

}  // namespace

std::vector<Move> Route(const Module& module, LocationTable& locations,
                        const LocationSet& at, int target, double bytes,
                        double* cost) {
  LocationSet present = at;
  std::vector<Move> moves;
  const auto reorder = [&](int from, int to) {
    const ir::DeviceInfo& info = module.device(locations[to].device);
    *cost += 2 * bytes / (info.gbytes_per_second * kReorderEfficiency * 1e3) +
             info.launch_us;
    moves.push_back({from, to});
    present.Add(to);
  };
  const auto transfer = [&](int from, int to) {
    *cost += module.options.links
                 .Between(locations[from].device, locations[to].device)
                 .Microseconds(bytes);
    moves.push_back({from, to});
    present.Add(to);
  };
  // A location of `device` where the value is; dense ones first.
  const auto source_on = [&](int device) {
    const int dense = locations.Intern({device, ir::Layout::Dense()});
    if (present.Has(dense)) return dense;
    for (int i = present.First(); i < LocationSet::kLimit;
         i = present.Next(i)) {
      if (locations[i].device == device) return i;
    }
    return kNoLocation;
  };
  const auto make_dense_on = [&](int device) {
    const int dense = locations.Intern({device, ir::Layout::Dense()});
    if (!present.Has(dense)) reorder(source_on(device), dense);
    return dense;
  };
  if (present.Has(target)) return moves;
  const Location goal = locations[target];
  const int direct = source_on(goal.device) == kNoLocation && goal.device != 0
                         ? DirectSource(module, locations, present, goal.device)
                         : kNoLocation;
  if (direct != kNoLocation) {
    const int dense = make_dense_on(locations[direct].device);
    transfer(dense, locations.Intern({goal.device, ir::Layout::Dense()}));
  } else if (source_on(goal.device) == kNoLocation) {
    // Between devices through dense host memory.
    if (source_on(0) == kNoLocation) {
      const int from = locations[present.First()].device;
      const int dense = make_dense_on(from);
      transfer(dense, locations.Intern({0, ir::Layout::Dense()}));
    }
    if (goal.device != 0) {
      const int host = make_dense_on(0);
      transfer(host, locations.Intern({goal.device, ir::Layout::Dense()}));
    }
  }
  if (present.Has(target)) return moves;
  // Strided memory becomes dense, and is made of dense memory.
  int from = source_on(goal.device);
  const bool strided =
      goal.layout.strided() || locations[from].layout.strided();
  if (strided) from = make_dense_on(goal.device);
  if (!present.Has(target)) reorder(from, target);
  return moves;
}

}  // namespace tim::compiler
