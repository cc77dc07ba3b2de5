// Values, devices, events and modes of functions of arrays.
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>

#include "values_border.h"

namespace timcl {
namespace {

using nb::arg;
using KeptValue = Kept<tv::Value>;
using KeptDevice = Kept<tv::Device>;
using KeptEvent = Kept<tv::Event>;
using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::shape<-1>>;

tv::Value Checked(tv::Value value, const char* error = "GraphError") {
  if (!value.ok()) Raise(error, value.error());
  return value;
}

// Arrays of the host become values in one of these ways.
enum class Way { kCopy, kConstant, kShare };

Object<tv::Value> FromArray(nb::handle described, nb::handle array, int way) {
  const tv::Spec spec = ToValuesSpec(described);
  const Buffer buffer(array, Buffer::Access::kRead);
  return Keep(Checked(InFront([&] {
    switch (static_cast<Way>(way)) {
      case Way::kConstant:
        return tv::Value::Constant(spec, buffer.data());
      case Way::kShare:
        return tv::Value::Wrap(spec, buffer.data(),
                               [shared = buffer.Share()] {});
      default:
        return tv::Value::FromHost(spec, buffer.data());
    }
  })));
}

// Dense bytes, which belong to the result and may only be read.
Bytes BytesOf(const KeptValue& value) {
  std::string error;
  auto plain = std::make_unique<tv::Plain>(InFront([&] {
    tv::Plain made = value.get().ToPlain();
    if (!made) error = tv::LastError();
    return made;
  }));
  if (!*plain) {
    Raise(value.get().symbolic() ? "GraphError" : "RunError", error);
  }
  const void* const data = plain->data.get();
  const size_t size = plain->bytes;
  nb::capsule owner(plain.release(), [](void* held) noexcept {
    Released released;
    delete static_cast<tv::Plain*>(held);
  });
  return Bytes(static_cast<const uint8_t*>(data), {size}, owner);
}

void Wait(const KeptValue& value) {
  std::string error;
  const bool ok = InFront([&] {
    if (value.get().Wait()) return true;
    error = tv::LastError();
    return false;
  });
  if (!ok) Raise(value.get().symbolic() ? "GraphError" : "RunError", error);
}

// Calls `function(error)`, None where there is none, on a thread of the
// library.
void Then(const KeptEvent& event, nb::object function) {
  const tv::Event kept = event.get();
  InFront([&, call = PyRef(std::move(function))] {
    kept.Then([call, kept](bool ok) {
      const std::string error = ok ? std::string() : kept.error();
      const ThreadCall entered;
      if (!entered) return;
      nb::gil_scoped_acquire acquired;
      try {
        nb::borrow(call.get())(ok ? nb::none() : nb::object(Text(error)));
      } catch (nb::python_error& raised) {
        raised.discard_as_unraisable("then() of an event of timcl.values");
      }
    });
    return true;
  });
}

void WaitFor(const KeptEvent& event) {
  std::string error;
  const bool ok = InFront([&] {
    if (event.get().Wait()) return true;
    error = event.get().error();
    return false;
  });
  if (!ok) Raise("RunError", error);
}

void BindValue(nb::module_& module) {
  nb::class_<KeptValue>(module, "Value", "A value of timcl.values.")
      .def_static("from_array", &FromArray, arg("spec"), arg("array"),
                  arg("way"), "way: 0 copies, 1 a constant, 2 shares memory.")
      .def_static(
          "literal",
          [](float number) {
            return Keep(InFront([&] { return tv::Value(number); }));
          },
          arg("number"), "A number of the program text, float32.")
      .def_prop_ro(
          "spec",
          [](const KeptValue& value) { return ToPython(value.get().spec()); })
      .def_prop_ro(
          "device",
          [](const KeptValue& value) { return value.get().device().spec(); })
      .def_prop_ro(
          "symbolic",
          [](const KeptValue& value) { return value.get().symbolic(); })
      .def_prop_ro("pending",
                   [](const KeptValue& value) { return value.get().pending(); })
      .def_prop_ro("ready",
                   [](const KeptValue& value) { return value.get().ready(); })
      .def("bytes", &BytesOf, "Dense bytes; forces the value.")
      .def("wait", &Wait, "Blocks until the value is computed.")
      .def("event",
           [](const KeptValue& value) {
             return Keep(InFront([&] { return value.get().event(); }));
           })
      .def(
          "named",
          [](const KeptValue& value, const std::string& name) {
            return Keep(InFront([&] { return value.get().Named(name); }));
          },
          arg("name"), "The same value with a name for messages.");
  nb::class_<KeptEvent>(module, "Event", "When work has been done.")
      .def("wait", &WaitFor, "Blocks until the work has ended.")
      .def("ready",
           [](const KeptEvent& event) {
             return InFront([&] { return event.get().Ready(); });
           })
      .def("then", &Then, arg("function"),
           "Calls function(error) when the work has ended.");
}

Object<tv::Device> DeviceOf(const std::string& spec) {
  tv::Device device = InFront([&] { return tv::Device(spec); });
  if (!device.ok()) {
    std::string known;
    for (const tv::Device& each : InFront([] { return tv::Device::List(); })) {
      known += (known.empty() ? "" : ", ") + each.spec();
    }
    Raise("ArgumentError",
          "there is no device '" + spec + "'; there are " + known);
  }
  return Keep(std::move(device));
}

void BindDevice(nb::module_& module) {
  nb::class_<KeptDevice>(module, "ValueDevice", "A device of values.")
      .def_static("named", &DeviceOf, arg("spec"))
      .def_static("default",
                  [] { return Keep(InFront([] { return tv::Device(); })); })
      .def_static("list",
                  [] {
                    nb::list devices;
                    for (tv::Device& each :
                         InFront([] { return tv::Device::List(); })) {
                      devices.append(Keep(std::move(each)));
                    }
                    return devices;
                  })
      .def("set_default",
           [](const KeptDevice& device) {
             InFront([&] { return tv::Device::SetDefault(device.get()); });
           })
      .def_prop_ro(
          "spec",
          [](const KeptDevice& device) { return Text(device.get().spec()); })
      .def_prop_ro("name",
                   [](const KeptDevice& device) {
                     return Text(InFront([&] { return device.get().name(); }));
                   })
      .def(
          "move",
          [](const KeptDevice& device, const KeptValue& value) {
            return Keep(
                Checked(InFront([&] { return device.get().Move(value.get()); }),
                        value.get().symbolic() ? "GraphError" : "RunError"));
          },
          arg("value"), "The value on this device.")
      .def("memory",
           [](const KeptDevice& device) {
             const tv::Device::Memory memory =
                 InFront([&] { return device.get().memory(); });
             return nb::make_tuple(memory.in_use, memory.reserved, memory.peak);
           })
      .def("trim", [](const KeptDevice& device) {
        return InFront([&] { return device.get().Trim(); });
      });
}

// The mode of this thread from enter() to leave().
class Scope {
 public:
  Scope(bool lazy, nb::handle device)
      : mode_(lazy ? tv::Mode::kLazy : tv::Mode::kEager) {
    if (device.is_none()) return;
    device_.emplace(nb::cast<KeptDevice&>(device).get());
  }
  void Enter() {
    scope_ = device_ ? std::make_unique<tv::ModeScope>(mode_, *device_)
                     : std::make_unique<tv::ModeScope>(mode_);
  }
  void Leave() { scope_ = nullptr; }

 private:
  tv::Mode mode_;
  std::optional<tv::Device> device_;
  std::unique_ptr<tv::ModeScope> scope_;
};

void BindModes(nb::module_& module) {
  nb::class_<Scope>(module, "ModeScope", "The mode of a thread.")
      .def(nb::init<bool, nb::handle>(), arg("lazy"), arg("device").none())
      .def("enter", &Scope::Enter)
      .def("leave", &Scope::Leave);
  module.def("values_is_lazy",
             [] { return tv::CurrentMode() == tv::Mode::kLazy; });
  module.def(
      "values_flush",
      [](nb::handle list) {
        const auto values = ValuesOf(list);
        return Keep(InFront([&] { return tv::Flush(values); }));
      },
      arg("values"));
  module.def("values_flush_all",
             [] { return Keep(InFront([] { return tv::FlushAll(); })); });
  module.def(
      "values_set_lazy_options",
      [](int nodes, int64_t bytes, int compile_after, int plans) {
        tv::LazyOptions options;
        options.max_pending_nodes = nodes;
        options.max_pending_bytes = bytes;
        options.compile_after = compile_after;
        options.max_plans = plans;
        std::string error;
        InFront([&] {
          if (tv::SetLazyOptions(options)) return true;
          error = tv::LastError();
          return false;
        });
        if (!error.empty()) Raise("ArgumentError", error);
      },
      arg("max_pending_nodes"), arg("max_pending_bytes"), arg("compile_after"),
      arg("max_plans"));
  module.def("values_explain",
             [] { return Text(InFront([] { return tv::Explain(); })); });
}

}  // namespace

void BindValues(nb::module_& module) {
  BindValue(module);
  BindDevice(module);
  BindModes(module);
}

}  // namespace timcl
