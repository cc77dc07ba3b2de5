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

std::optional<double> LeastMicroseconds(const std::vector<Offer>& offers,
                                        const ir::KernelNode& view,
                                        const ir::DeviceInfo& device) {
  std::optional<double> best;
  for (const Offer& offer : offers) {
    if (!offer.problem.ok()) continue;
    const double cost = offer.kernel->cost(*offer.problem, view, device);
    if (!best || cost < *best) best = cost;
  }
  return best;
}

std::optional<double> KernelMicroseconds(const Module& module,
                                         const ir::KernelNode& view,
                                         int device) {
  std::optional<double> best;
  for (int d = 1; d < static_cast<int>(module.options.devices.size()); ++d) {
    if (device >= 0 && device != d) continue;
    const std::optional<double> cost =
        LeastMicroseconds(OffersOn(module, view, d), view, module.device(d));
    if (cost && (!best || *cost < *best)) best = cost;
  }
  return best;
}

}  // namespace tim::compiler
