#include "trainer/data/tensor_file.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickler.h>
#include <torch/types.h>

#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/whole_file.h"

namespace packtrain::trainer {
namespace {

// With the types of aggregates, as torch::jit::pickle_save writes them, torch.load would only read it with
// weights_only=False.
std::string BytesOf(const c10::Dict<std::string, at::Tensor>& tensors) {
  std::string pickled;
  torch::jit::Pickler pickler([&pickled](const char* bytes, std::size_t size) { pickled.append(bytes, size); },
                              /*tensor_table=*/nullptr, /*type_renamer=*/nullptr,
                              /*memoized_class_types=*/nullptr,
                              /*get_tensor_id=*/nullptr, /*tag_aggregates=*/false);
  pickler.protocol();
  pickler.pushIValue(tensors);
  pickler.stop();
  std::string file;
  caffe2::serialize::PyTorchStreamWriter writer([&file](const void* bytes, std::size_t size) {
    file.append(static_cast<const char*>(bytes), size);
    return size;
  });
  writer.writeRecord("data.pkl", pickled.data(), pickled.size());
  std::size_t number = 0;
  for (const at::Tensor& tensor : pickler.tensorData()) {
    writer.writeRecord(absl::StrCat("data/", number++), tensor.storage().data(), tensor.storage().nbytes());
  }
  writer.writeEndOfFile();
  return file;
}

}  // namespace

absl::Status WriteTensors(const NamedTensors& tensors, const std::string& file) {
  c10::Dict<std::string, at::Tensor> dictionary;
  for (const auto& [name, tensor] : tensors) dictionary.insert(name, tensor.detach().cpu().contiguous());
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<base::WholeFile> out, base::WholeFile::Create(file));
  ABSL_RETURN_IF_ERROR(out->Write(BytesOf(dictionary)));
  return out->Commit();
}

}  // namespace packtrain::trainer
