#include "trainer/models/f64_model.h"

#include <torch/types.h>

#include <utility>

namespace packtrain::trainer {
namespace {

class F64Model final : public Model {
 public:
  explicit F64Model(std::shared_ptr<Model> model) : model_(register_module("f64", std::move(model))) {
    model_->to(at::kDouble);
  }

  at::Tensor Forward(const GraphTensors& graphs) override { return model_->Forward(InF64(graphs)); }

 private:
  const std::shared_ptr<Model> model_;
};

}  // namespace

std::shared_ptr<Model> MakeF64(std::shared_ptr<Model> model) {
  return std::make_shared<F64Model>(std::move(model));
}

}  // namespace packtrain::trainer
