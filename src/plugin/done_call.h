// The call by which a device says that an event is reached.
#ifndef TIM_PLUGIN_DONE_CALL_H_
#define TIM_PLUGIN_DONE_CALL_H_

#include <chrono>
#include <cstdint>
#include <memory>

#include "plugin/loaded_plugin.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// One call of TimDeviceFns::on_done, and the call of done() that answers it.
/// May be destroyed before that comes.  Any thread.
class DoneCall {
 public:
  /// \param plugin is quarantined where it calls done() twice.
  explicit DoneCall(const std::shared_ptr<const LoadedPlugin>& plugin);
  ~DoneCall();
  DoneCall(const DoneCall&) = delete;
  DoneCall& operator=(const DoneCall&) = delete;

  /// Arguments of on_done().
  static void Done(void* state, TimCode code);
  void* state() const;

  /// on_done() failed: done() must not come.
  void Cancel();
  bool HasCome() const;
  /// False where it has not come within the limit; 0: there is none.
  bool Wait(std::chrono::seconds limit);

 private:
  struct Slot;
  struct Slots;
  static Slots& All();

  const std::shared_ptr<Slot> slot_;
  uintptr_t number_ = 0;
};

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_DONE_CALL_H_
