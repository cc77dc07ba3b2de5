#include "ops/reduction/reduce_launch.h"

namespace tim::ops {
namespace {

constexpr char kSource[] = "ops/reduction/reduce.cl";

// One launch: [inner, count, outer] to [inner, chunks, outer].
struct Stage {
  ReduceGroup group;
  int64_t chunks = 1;
  bool first = false;
  bool last = false;

  int64_t results() const { return group.kept() * chunks; }
};

std::vector<Stage> StagesOf(std::span<const ReduceGroup> groups) {
  std::vector<Stage> stages;
  for (ReduceGroup group : groups) {
    while (group.count > kReduceChunk) {
      const int64_t chunks = CeilDiv(group.count, kReduceChunk);
      stages.push_back({.group = group, .chunks = chunks});
      group.count = chunks;
    }
    stages.push_back({.group = group});
  }
  stages.front().first = true;
  stages.back().last = true;
  return stages;
}

const char* SumName(ir::DataType sum) {
  switch (sum) {
    case ir::DataType::kInt32:
      return "int";
    case ir::DataType::kInt64:
      return "long";
    default:
      return "float";
  }
}

const char* FinishName(ReduceFinish::Kind kind) {
  switch (kind) {
    case ReduceFinish::Kind::kMean:
      return "MEAN";
    case ReduceFinish::Kind::kCode:
      return "CODE";
    case ReduceFinish::Kind::kCodeMean:
      return "CODE_MEAN";
    default:
      return "REAL";
  }
}

enum class Form : uint8_t { kRow, kRows, kColumns, kNarrow, kGather };

const char* FunctionOf(Form form) {
  switch (form) {
    case Form::kRow:
      return "reduce_row";
    case Form::kRows:
      return "reduce_rows";
    case Form::kColumns:
      return "reduce_columns";
    case Form::kNarrow:
      return "reduce_narrow";
    default:
      return "reduce_gather";
  }
}

// Neighbours of one work-item of reduce_columns, in vectors: as many as leave
// work for every core, as a row of them is read at a time.
int64_t VectorsOf(const Stage& stage, const ir::DeviceInfo& device) {
  if (device.device_class != ir::DeviceClass::kCpu) return 1;
  const int64_t rows = stage.chunks * stage.group.outer;
  for (const int64_t vectors : {16, 4}) {
    const int64_t columns = vectors * kReduceLanes;
    const int64_t items = stage.group.inner / columns * rows;
    if (items >= int64_t{4} * device.compute_units) return vectors;
  }
  return 1;
}

ir::TensorDesc DescOf(ir::DataType type) {
  ir::TensorDesc desc;
  desc.type = type;
  return desc;
}

// Makes the launches one by one; `scratch_` holds the results of the last.
class Stages {
 public:
  Stages(const ir::KernelNode& node, const ir::DeviceInfo& device,
         const ReduceLaunch& reduction, ir::Lowering* lowering)
      : node_(node),
        device_(device),
        reduction_(reduction),
        lowering_(lowering) {}

  Status Append(const Stage& stage) {
    const Form form = FormOf(stage);
    Launch launch(kSource, FunctionOf(form));
    const int64_t vectors = VectorsOf(stage, device_);
    AddOptions(stage, form, &launch);
    if (form == Form::kColumns) launch.Option(StrCat("-DVECTORS=", vectors));
    if (form == Form::kNarrow) {
      launch.Option(StrCat("-DINNER=", stage.group.inner));
    }
    AddOperands(stage, &launch);
    AddSizes(stage, form, &launch);
    AddSumArguments(SourceOf(stage), stage.first ? reduction_.source.zero : 0,
                    reduction_.finish, &launch);
    if (form == Form::kColumns) {
      launch.Tiles(device_, CeilDiv(stage.group.inner, vectors * kReduceLanes) *
                                stage.chunks * stage.group.outer);
    } else if (form == Form::kGather || form == Form::kRows) {
      launch.Tiles(device_, CeilDiv(stage.results(), kReduceLanes));
    } else {
      launch.Tiles(device_, stage.results() / stage.group.inner);
    }
    TIM_RETURN_IF_ERROR(launch.AppendTo(lowering_));
    scratch_ =
        ToScratch(stage) ? static_cast<int>(lowering_->scratch.size()) - 1 : -1;
    return OkStatus();
  }

  int scratch() const { return scratch_; }

 private:
  bool ToScratch(const Stage& stage) const {
    return !stage.last || reduction_.output < 0;
  }
  bool WithMeans(const Stage& stage) const {
    return stage.first && reduction_.means.has_value();
  }
  bool WithFactor(const Stage& stage) const {
    return stage.first && reduction_.factor.has_value();
  }
  // Whether vectors along the group's elements find a factor for each in its
  // place.
  bool LiesAlike(const Stage& stage) const {
    return !WithFactor(stage) || (reduction_.factor->inner &&
                                  reduction_.factor->step == stage.group.inner);
  }
  // Tiles of rows for every core.
  bool MakesRows(const Stage& stage) const {
    const int64_t least = int64_t{4} * device_.compute_units * kReduceLanes;
    return device_.device_class == ir::DeviceClass::kCpu && !WithMeans(stage) &&
           !WithFactor(stage) && stage.chunks == 1 && stage.results() >= least;
  }
  Form FormOf(const Stage& stage) const {
    const ReduceGroup& group = stage.group;
    if (group.inner >= kReduceLanes) return Form::kColumns;
    if (group.count < kReduceLanes) return Form::kGather;
    if (group.inner == 1) return MakesRows(stage) ? Form::kRows : Form::kRow;
    const bool whole = kReduceLanes % group.inner == 0;
    return whole && !WithMeans(stage) && LiesAlike(stage) ? Form::kNarrow
                                                          : Form::kGather;
  }
  ir::TensorDesc SourceOf(const Stage& stage) const {
    return stage.first ? reduction_.source.desc
                       : DescOf(reduction_.arithmetic.sum);
  }
  ir::TensorDesc ResultOf(const Stage& stage) const {
    if (!stage.last) return DescOf(reduction_.arithmetic.sum);
    return reduction_.output < 0 ? DescOf(ir::DataType::kFloat32)
                                 : node_.outputs[reduction_.output];
  }

  void AddOptions(const Stage& stage, Form form, Launch* launch) const {
    const ReduceArithmetic& arithmetic = reduction_.arithmetic;
    const bool integers = arithmetic.sum != ir::DataType::kFloat32;
    launch->Type("IN", SourceOf(stage)).Type("OUT", ResultOf(stage));
    launch->Option(StrCat("-DJOIN=", arithmetic.join));
    AddSumOptions(arithmetic.sum,
                  stage.first ? arithmetic.value
                  : integers  ? "CENTERED"
                              : "REAL",
                  stage.last ? &reduction_.finish : nullptr, launch);
    if (WithMeans(stage)) launch->Option("-DMEANS");
    if (WithFactor(stage)) {
      const ReduceFactor& factor = *reduction_.factor;
      const bool each = form == Form::kRow ? factor.step == 1 : factor.inner;
      launch->Option(each ? "-DFACTORS=EACH" : "-DFACTORS=ONE");
    }
  }

  void AddOperands(const Stage& stage, Launch* launch) const {
    const ir::TensorDesc result = ResultOf(stage);
    const int bytes = ir::Info(result.type).bits / 8;
    const int earlier = stage.first ? reduction_.source.scratch : scratch_;
    if (earlier < 0) {
      launch->Input("in", node_, reduction_.source.input);
    } else {
      launch->EarlierScratch("in", earlier,
                             ir::Info(SourceOf(stage).type).bits / 8);
    }
    if (WithMeans(stage)) {
      const ReduceMeans& means = *reduction_.means;
      launch->EarlierScratch("mean", means.scratch, 4)
          .Packed("axes", PackAxes(means.axes, 1), 4)
          .Int("axis_count", static_cast<int64_t>(means.axes.size()));
    }
    if (WithFactor(stage)) {
      const ReduceFactor& factor = *reduction_.factor;
      launch->Input("factor", node_, factor.input)
          .Int("factor_step", factor.step)
          .Int("factor_outer", factor.outer)
          .Int("factor_images", factor.images);
    }
    if (ToScratch(stage)) {
      launch->Scratch("out", stage.results() * bytes, bytes);
    } else {
      launch->Output("out", node_, reduction_.output);
    }
  }

  static void AddSizes(const Stage& stage, Form form, Launch* launch) {
    const bool names_inner = form == Form::kColumns || form == Form::kGather;
    if (names_inner) launch->Int("inner", stage.group.inner);
    launch->Int("count", stage.group.count);
    if (form != Form::kRows) launch->Int("chunks", stage.chunks);
    if (form != Form::kGather) {
      launch->Int("rows", stage.results() / stage.group.inner);
    } else {
      launch->Int("results", stage.results());
    }
  }

  const ir::KernelNode& node_;
  const ir::DeviceInfo& device_;
  const ReduceLaunch& reduction_;
  ir::Lowering* lowering_;
  int scratch_ = -1;
};

}  // namespace

void AddSumOptions(ir::DataType sum, const char* value,
                   const ReduceFinish* finish, Launch* launch) {
  launch->Option(StrCat("-DSUM=", SumName(sum)))
      .Option(StrCat("-DVALUE=", value))
      .Option(StrCat("-DFINISH=",
                     finish == nullptr ? "PARTIAL" : FinishName(finish->kind)));
}

void AddSumArguments(const ir::TensorDesc& input, int32_t input_zero,
                     const ReduceFinish& finish, Launch* launch) {
  const auto divisor = static_cast<float>(finish.count);
  launch
      ->Float("in_scale", input.quantized() ? input.quantization.Scale() : 1.0f)
      .Int("in_zero", input_zero)
      .Float("divisor", divisor)
      .Float("inverse_divisor", 1.0f / divisor)
      .Int("divisor_count", finish.count)
      .Float("multiplier", finish.multiplier)
      .Float("out_scale", finish.scale)
      .Float("out_inverse", 1.0f / finish.scale)
      .Int("out_zero", finish.zero);
}

Result<int> AppendReduction(const ir::KernelNode& node,
                            const ir::DeviceInfo& device,
                            const ReduceLaunch& reduction,
                            ir::Lowering* lowering) {
  Stages stages(node, device, reduction, lowering);
  for (const Stage& stage : StagesOf(reduction.groups)) {
    TIM_RETURN_IF_ERROR(stages.Append(stage));
  }
  return stages.scratch();
}

}  // namespace tim::ops
