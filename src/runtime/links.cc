// Measures copies between devices, and keeps what they cost.
#include "runtime/links.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork/per_process.h"
#include "base/json_text.h"
#include "base/log.h"
#include "device/host/host_buffer.h"
#include "runtime/stored_figures.h"
#include "runtime/transfer.h"

namespace tim::runtime {
namespace {

using compiler::Link;
using compiler::LinkTable;
using device::Buffer;
using device::Device;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr int64_t kSmall = 4 << 10;
constexpr int64_t kLarge = 4 << 20;
constexpr int kSmallCopies = 8;
constexpr int kLargeCopies = 3;
constexpr Microseconds kBudget{50'000};

struct KnownLink {
  std::string from;
  std::string to;
  Link link;
};

struct Known {
  std::mutex mutex;
  std::map<std::string, KnownLink> links;  // by key
};

// Held while links are measured.
constinit GlobalPerProcess<Known> g_known;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Copies from a buffer to another one, by a stream of one of their devices.
class CopyTimer {
 public:
  static Result<CopyTimer> Create(Device& from, Device& to) {
    CopyTimer timer;
    TIM_ASSIGN_OR_RETURN(timer.from_,
                         from.Allocate(kLarge, ir::MemoryKind::kDevice));
    TIM_ASSIGN_OR_RETURN(timer.to_,
                         to.Allocate(kLarge, ir::MemoryKind::kDevice));
    Device& by = to.info().kind == "host" ? from : to;
    TIM_ASSIGN_OR_RETURN(timer.stream_, by.CreateStream());
    return timer;
  }

  // Medians of copies of some size, in microseconds, until `until` at latest.
  Result<double> Time(int64_t bytes, int copies, Clock::time_point until) {
    std::vector<double> times;
    for (int i = 0; i < copies; ++i) {
      const Clock::time_point begin = Clock::now();
      if (!times.empty() && begin >= until) break;
      TIM_RETURN_IF_ERROR(
          stream_->Copy({from_.get(), 0, bytes}, {to_.get(), 0, bytes}));
      TIM_RETURN_IF_ERROR(Finish(*stream_));
      times.push_back(Microseconds(Clock::now() - begin).count());
    }
    return Median(std::move(times));
  }

 private:
  // In this order: work is over before its memory goes.
  std::unique_ptr<Buffer> from_;
  std::unique_ptr<Buffer> to_;
  std::unique_ptr<device::Stream> stream_;
};

Result<Link> Measure(Device& from, Device& to) {
  TIM_ASSIGN_OR_RETURN(CopyTimer timer, CopyTimer::Create(from, to));
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(kBudget);
  // The first copy may make the memory.
  TIM_RETURN_IF_ERROR(timer.Time(kLarge, 1, end).status());
  TIM_ASSIGN_OR_RETURN(const double small,
                       timer.Time(kSmall, kSmallCopies, end));
  TIM_ASSIGN_OR_RETURN(const double large,
                       timer.Time(kLarge, kLargeCopies, end));
  Link link;
  constexpr double kMostGBytesPerSecond = 1000;
  constexpr double kBytes = static_cast<double>(kLarge - kSmall);
  link.gbytes_per_second =
      kBytes / std::max((large - small) * 1e3, kBytes / kMostGBytesPerSecond);
  link.latency_us =
      std::max(0.1, small - kSmall / (link.gbytes_per_second * 1e3));
  return link;
}

std::string IdentityOf(const Device& device) {
  const ir::DeviceInfo& info = device.info();
  return StrCat(info.kind, "|", info.name, "|", info.driver, "|",
                info.compute_units);
}

std::optional<Link> DecodeLink(std::string_view text) {
  Link link;
  if (!DecodeFigures(text, {&link.latency_us, &link.gbytes_per_second})) {
    return std::nullopt;
  }
  return link;
}

enum class Freshness : uint8_t { kKept, kAnew };

// The caller holds the lock.
Result<Link> LinkBetween(Device& from, Device& to, bool direct,
                         device::BinaryStore& store, Freshness freshness,
                         Known& known) {
  const std::string key = StrCat("link 1|", direct ? "direct|" : "host|",
                                 IdentityOf(from), "|", IdentityOf(to));
  if (freshness == Freshness::kKept) {
    const auto found = known.links.find(key);
    if (found != known.links.end()) return found->second.link;
    const auto text = store.Load(key);
    if (auto link = text ? DecodeLink(*text) : std::nullopt) {
      link->direct = direct;
      known.links[key] = {from.info().name, to.info().name, *link};
      return *link;
    }
  }
  auto link = Measure(from, to);
  if (!link.ok()) {
    return link.status().WithContext(StrCat(
        "measuring copies from ", from.info().name, " to ", to.info().name));
  }
  link->direct = direct;
  store.Store(key, EncodeFigures({link->latency_us, link->gbytes_per_second}));
  known.links[key] = {from.info().name, to.info().name, *link};
  return link;
}

// A link as the slower device describes its way to the host.
Link AssumedLink(const Device& from, const Device& to) {
  Link link;
  double gbytes_per_second = 0;
  double latency_us = 0;
  for (const Device* device : {&from, &to}) {
    const ir::DeviceInfo& info = device->info();
    latency_us = std::max(latency_us, info.link_latency_us);
    const double rate = info.link_gbytes_per_second;
    if (rate <= 0) continue;
    gbytes_per_second =
        gbytes_per_second > 0 ? std::min(gbytes_per_second, rate) : rate;
  }
  if (gbytes_per_second > 0) link.gbytes_per_second = gbytes_per_second;
  if (latency_us > 0) link.latency_us = latency_us;
  return link;
}

// Calls `with(from, to, direct)` for each pair that has a link of its own.
template <typename With>
Status ForEachLink(const device::Devices& devices, const With& with) {
  const int count = static_cast<int>(devices.size());
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      if (from == to) continue;
      const bool direct = from != 0 && to != 0 &&
                          devices[static_cast<size_t>(from)]->domain() ==
                              devices[static_cast<size_t>(to)]->domain();
      if (from != 0 && to != 0 && !direct) continue;
      TIM_RETURN_IF_ERROR(with(from, to, direct));
    }
  }
  return OkStatus();
}

}  // namespace

LinkTable LinksOf(const device::Devices& devices, device::BinaryStore* store) {
  LinkTable table(devices.size());
  Known& known = g_known.Get();
  const std::lock_guard lock(known.mutex);
  const Status done =
      ForEachLink(devices, [&](int from, int to, bool direct) -> Status {
        Link link = AssumedLink(*devices[static_cast<size_t>(from)],
                                *devices[static_cast<size_t>(to)]);
        link.direct = direct;
        if (store != nullptr) {
          auto measured = LinkBetween(*devices[static_cast<size_t>(from)],
                                      *devices[static_cast<size_t>(to)], direct,
                                      *store, Freshness::kKept, known);
          if (measured.ok()) {
            link = *measured;
          } else {
            TIM_LOG(kWarning, measured.status().message(),
                    "; the cost of copies is assumed");
          }
        }
        table.Set(from, to, link);
        return OkStatus();
      });
  static_cast<void>(done);  // the function never fails
  return table;
}

Status MeasureLinksAnew(const device::Devices& devices,
                        device::BinaryStore& store) {
  Known& known = g_known.Get();
  const std::lock_guard lock(known.mutex);
  return ForEachLink(devices, [&](int from, int to, bool direct) {
    return LinkBetween(*devices[static_cast<size_t>(from)],
                       *devices[static_cast<size_t>(to)], direct, store,
                       Freshness::kAnew, known)
        .status();
  });
}

std::string KnownLinksAsJson() {
  Known& known = g_known.Get();
  const std::lock_guard lock(known.mutex);
  JsonArray links;
  for (const auto& [key, one] : known.links) {
    links.Add(
        JsonObject()
            .AddText("from", one.from)
            .AddText("to", one.to)
            .Add("latency_us", JsonNumber(one.link.latency_us))
            .Add("gbytes_per_second", JsonNumber(one.link.gbytes_per_second))
            .AddText("route", one.link.direct ? "direct" : "host")
            .Text());
  }
  return links.Text();
}

}  // namespace tim::runtime
