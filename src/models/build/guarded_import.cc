// Failures of imports as members of the model that a caller gets.
#include "models/build/guarded_import.h"

#include "base/guarded.h"
#include "base/str_cat.h"
#include "base/utf8.h"

namespace tim::models {

Model GuardedImport(const std::string& name,
                    const std::function<Status(Model* model)>& import) {
  Model model;
  const Status status = GuardedCall([&] { return import(&model); });
  if (status.ok()) return model;
  model.graph = nullptr;
  model.inputs.clear();
  model.outputs.clear();
  model.error = ValidUtf8(status.WithContext(name).message());
  for (Refusal& refusal : model.refusals) {
    for (std::string* text :
         {&refusal.node, &refusal.op, &refusal.about, &refusal.reason}) {
      *text = ValidUtf8(*text);
    }
  }
  return model;
}

std::string RefusalText(const std::vector<Refusal>& refusals) {
  std::string text = StrCat("the model has ", refusals.size(), " part",
                            refusals.size() == 1 ? "" : "s", " that ",
                            refusals.size() == 1 ? "is" : "are", " not taken:");
  for (const Refusal& refusal : refusals) {
    const bool says_itself = refusal.reason.starts_with(refusal.about);
    text += StrCat("\n  '", refusal.node, "' (", refusal.op,
                   "): ", says_itself ? "" : refusal.about,
                   says_itself ? "" : ": ", refusal.reason);
  }
  text +=
      "\nNodes can be made by the caller: see ImportOptions::supplier; "
      "docs/models.md lists what is taken";
  return text;
}

}  // namespace tim::models
