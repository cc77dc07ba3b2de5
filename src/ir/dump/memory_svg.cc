// Draws slots over steps.
#include "ir/dump/memory_svg.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace tim::ir {
namespace {

constexpr double kMargin = 10;
constexpr double kHeading = 24;
constexpr double kHeight = 480;  // of an arena
constexpr double kMostWidth = 1600;
constexpr double kMostStep = 80;
constexpr double kLetter = 6;  // about, of the text in rectangles

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : ValidUtf8(text)) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < ' ' || c == '\x7F' ? ' ' : c;
    }
  }
  return out;
}

// In hundredths, which a picture can show.
std::string Pixels(double value) {
  const auto hundredths = static_cast<int64_t>(value * 100 + 0.5);
  return StrCat(static_cast<double>(hundredths) / 100);
}

struct Box {
  int slot = 0;
  int first = 0;  // step
  int last = -1;  // below `first`: no step uses it
  std::string name;
};

std::vector<Box> BoxesOf(const Plan& plan) {
  std::vector<Box> boxes(plan.slots.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      Box& box = boxes[step.operands[i]];
      if (box.last < 0) box.first = static_cast<int>(s);
      box.last = static_cast<int>(s);
      if (s >= plan.notes.operands.size() ||
          i >= plan.notes.operands[s].size()) {
        continue;
      }
      const PlanNotes::Operand& note = plan.notes.operands[s][i];
      if (note.value < 0 || !box.name.empty()) continue;
      box.name = plan.notes.values[note.value].name;
      if (note.offset > 0) box.name += StrCat(" from byte ", note.offset);
    }
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    boxes[i].slot = static_cast<int>(i);
    if (boxes[i].name.empty()) boxes[i].name = StrCat("slot ", i);
  }
  return boxes;
}

class Picture {
 public:
  explicit Picture(const Plan& plan)
      : plan_(plan),
        boxes_(BoxesOf(plan)),
        step_(std::min(kMostStep,
                       kMostWidth / std::max<size_t>(1, plan.steps.size()))) {}

  std::string Run() {
    Text(kMargin, kMargin + 10,
         StrCat("memory of graph '", plan_.graph, "': ", plan_.memory.peak,
                " bytes in arenas, ", plan_.memory.no_reuse_sum,
                " without reuse, at least ", plan_.memory.lower_bound));
    top_ = kMargin + kHeading;
    for (size_t i = 0; i < plan_.arenas.size(); ++i) {
      if (plan_.arenas[i].bytes > 0) AddArena(static_cast<int>(i));
    }
    const std::string width = Pixels(std::max(Width(), 600.0) + 2 * kMargin);
    const std::string height = Pixels(top_ + kMargin);
    return StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width,
                  "\" height=\"", height, "\" viewBox=\"0 0 ", width, " ",
                  height, "\" font-family=\"sans-serif\" font-size=\"10\">\n",
                  body_, "</svg>\n");
  }

 private:
  double Width() const {
    return step_ * static_cast<double>(plan_.steps.size());
  }

  void Text(double x, double y, std::string_view text) {
    body_ += StrCat("<text x=\"", Pixels(x), "\" y=\"", Pixels(y), "\">",
                    Escaped(text), "</text>\n");
  }

  void AddArena(int index) {
    const Arena& arena = plan_.arenas[index];
    Text(kMargin, top_ + 14,
         StrCat("arena ", index, " on device ", arena.device, ": ", arena.bytes,
                " bytes, ", plan_.steps.size(), " steps"));
    top_ += kHeading;
    body_ +=
        StrCat("<rect x=\"", Pixels(kMargin), "\" y=\"", Pixels(top_),
               "\" width=\"", Pixels(Width()), "\" height=\"", Pixels(kHeight),
               "\" fill=\"#f4f4f4\" stroke=\"#888888\"/>\n");
    // What lies in another slot is drawn over it.
    std::vector<const Box*> boxes;
    for (const Box& box : boxes_) {
      const Slot& slot = plan_.slots[box.slot];
      if (slot.kind == SlotKind::kArena && slot.index == index &&
          box.last >= box.first && slot.bytes > 0) {
        boxes.push_back(&box);
      }
    }
    std::stable_sort(
        boxes.begin(), boxes.end(), [&](const Box* a, const Box* b) {
          return plan_.slots[a->slot].bytes > plan_.slots[b->slot].bytes;
        });
    for (const Box* box : boxes) AddBox(*box, arena.bytes);
    top_ += kHeight + kMargin;
  }

  void AddBox(const Box& box, int64_t arena_bytes) {
    const Slot& slot = plan_.slots[box.slot];
    const double scale = kHeight / static_cast<double>(arena_bytes);
    const double x = kMargin + step_ * box.first;
    const double y = top_ + scale * static_cast<double>(slot.offset);
    const double width = step_ * (box.last - box.first + 1);
    const double height = scale * static_cast<double>(slot.bytes);
    const std::string steps =
        box.first == box.last
            ? StrCat("step ", box.first, " [", plan_.steps[box.first].label)
            : StrCat("steps ", box.first, " [", plan_.steps[box.first].label,
                     "] to ", box.last, " [", plan_.steps[box.last].label);
    body_ += StrCat(
        "<g><title>",
        Escaped(StrCat(box.name, ": ", slot.bytes, " bytes at offset ",
                       slot.offset, ", ", steps, "]")),
        "</title><rect x=\"", Pixels(x), "\" y=\"", Pixels(y), "\" width=\"",
        Pixels(width), "\" height=\"", Pixels(height), "\" fill=\"hsl(",
        box.slot * 47 % 360, ", 60%, 75%)\" stroke=\"#444444\"/>");
    const std::string label = StrCat(box.name, ", ", slot.bytes);
    if (height >= 12 && width >= kLetter * static_cast<double>(label.size())) {
      body_ += StrCat("<text x=\"", Pixels(x + 3), "\" y=\"", Pixels(y + 11),
                      "\">", Escaped(label), "</text>");
    }
    body_ += "</g>\n";
  }

  const Plan& plan_;
  const std::vector<Box> boxes_;
  const double step_;
  double top_ = 0;
  std::string body_;
};

}  // namespace

std::string MemorySvg(const Plan& plan) { return Picture(plan).Run(); }

}  // namespace tim::ir
