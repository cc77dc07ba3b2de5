// Asks kernels about nodes, before layouts are chosen.
#include "compiler/offers.h"

namespace tim::compiler {

using ir::Node;

std::string KernelOpName(const Node& node) {
  const Node* op = &node;
  if (node.composite) {
    if (node.composite->anchor == ir::kNone) return node.composite->name;
    op = &node.composite->body.node(node.composite->anchor);
  }
  return StrCat(op->schema->domain, ".", op->schema->name);
}

std::vector<Offer> OffersOn(const Module& module, const ir::KernelNode& view,
                            int device) {
  std::vector<Offer> offers;
  for (const ir::KernelDef* kernel : module.registry.Kernels(
           KernelOpName(*view.node), module.device(device).kind)) {
    offers.push_back({kernel, Analyze(module, *kernel, view, device)});
  }
  return offers;
}

NodeOffers OffersOf(const Module& module, const ir::KernelNode& view,
                    int device) {
  NodeOffers offers;
  for (int d = 1; d < static_cast<int>(module.options.devices.size()); ++d) {
    if (device < 0 || device == d) offers[d] = OffersOn(module, view, d);
  }
  return offers;
}

std::optional<double> LeastMicroseconds(const Module& module,
                                        const ir::KernelNode& view,
                                        const NodeOffers& offers) {
  std::optional<double> best;
  for (const auto& [device, list] : offers) {
    for (const Offer& offer : list) {
      if (!offer.problem.ok()) continue;
      const double cost =
          offer.kernel->cost(*offer.problem, view, module.device(device));
      if (!best || cost < *best) best = cost;
    }
  }
  return best;
}

std::optional<double> KernelMicroseconds(const Module& module,
                                         const ir::KernelNode& view,
                                         int device) {
  return LeastMicroseconds(module, view, OffersOf(module, view, device));
}

}  // namespace tim::compiler
