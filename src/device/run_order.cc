// Remembers which run's work a thread enqueues.
#include "device/run_order.h"

#include <utility>

namespace tim::device {
namespace {

thread_local constinit RunOrder* t_order = nullptr;

}  // namespace

RunOrder* RunOrder::Current() { return t_order; }

RunOrder::Scope::Scope(RunOrder* order)
    : outer_(std::exchange(t_order, order)) {}

RunOrder::Scope::~Scope() { t_order = outer_; }

}  // namespace tim::device
