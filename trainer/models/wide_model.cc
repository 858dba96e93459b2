#include "trainer/models/wide_model.h"

#include <torch/types.h>

#include <utility>

namespace packtrain::trainer {
namespace {

class WideModel final : public Model {
 public:
  explicit WideModel(std::shared_ptr<Model> model) : model_(register_module("wide", std::move(model))) {
    model_->to(at::kDouble);
  }

  at::Tensor Forward(const GraphTensors& graphs) override { return model_->Forward(InF64(graphs)); }

 private:
  const std::shared_ptr<Model> model_;
};

}  // namespace

std::shared_ptr<Model> MakeWide(std::shared_ptr<Model> model) {
  return std::make_shared<WideModel>(std::move(model));
}

}  // namespace packtrain::trainer
