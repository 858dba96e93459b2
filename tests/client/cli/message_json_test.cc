#include "client/cli/message_json.h"

#include <gmock/gmock.h>

#include <limits>
#include <memory>
#include <string>

#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/text_format.h"
#include "packtrain/v1/run.pb.h"
#include "proto/base/json_text.h"

namespace packtrain::cli {
namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::TextFormat;

// A file of the protocol as it might be: one field of each kind.
constexpr char kFile[] = R"(
  name: "sample.proto" package: "packtrain.v1" syntax: "proto3"
  enum_type { name: "SampleColor"
    value { name: "SAMPLE_COLOR_UNSPECIFIED" number: 0 } value { name: "SAMPLE_COLOR_DARK_RED" number: 1 } }
  message_type { name: "Inner"
    field { name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "name" }
    field { name: "size" number: 2 type: TYPE_UINT32 label: LABEL_OPTIONAL json_name: "size" } }
  message_type { name: "Outer"
    nested_type { name: "CountsEntry" options { map_entry: true }
      field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "key" }
      field { name: "value" number: 2 type: TYPE_UINT64 label: LABEL_OPTIONAL json_name: "value" } }
    oneof_decl { name: "_ratio" } oneof_decl { name: "_child" }
    field { name: "whole" number: 9 type: TYPE_UINT64 label: LABEL_OPTIONAL json_name: "whole" }
    field { name: "signed" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL json_name: "signed" }
    field { name: "checksum" number: 3 type: TYPE_FIXED32 label: LABEL_OPTIONAL json_name: "checksum" }
    field { name: "real" number: 4 type: TYPE_DOUBLE label: LABEL_OPTIONAL json_name: "real" }
    field { name: "yes" number: 5 type: TYPE_BOOL label: LABEL_OPTIONAL json_name: "yes" }
    field { name: "text" number: 6 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "text" }
    field { name: "color" number: 7 type: TYPE_ENUM type_name: ".packtrain.v1.SampleColor" label: LABEL_OPTIONAL
            json_name: "color" }
    field { name: "inner" number: 8 type: TYPE_MESSAGE type_name: ".packtrain.v1.Inner" label: LABEL_OPTIONAL
            json_name: "inner" }
    field { name: "ratio" number: 1 type: TYPE_DOUBLE label: LABEL_OPTIONAL json_name: "ratio" proto3_optional: true
            oneof_index: 0 }
    field { name: "child" number: 10 type: TYPE_MESSAGE type_name: ".packtrain.v1.Inner" label: LABEL_OPTIONAL
            json_name: "child" proto3_optional: true oneof_index: 1 }
    field { name: "list" number: 11 type: TYPE_UINT32 label: LABEL_REPEATED json_name: "list" }
    field { name: "colors" number: 12 type: TYPE_ENUM type_name: ".packtrain.v1.SampleColor" label: LABEL_REPEATED
            json_name: "colors" }
    field { name: "inners" number: 13 type: TYPE_MESSAGE type_name: ".packtrain.v1.Inner" label: LABEL_REPEATED
            json_name: "inners" }
    field { name: "counts" number: 14 type: TYPE_MESSAGE type_name: ".packtrain.v1.Outer.CountsEntry"
            label: LABEL_REPEATED json_name: "counts" } }
)";

class MessageJsonTest : public ::testing::Test {
 protected:
  MessageJsonTest() {
    FileDescriptorProto file;
    EXPECT_TRUE(TextFormat::ParseFromString(kFile, &file));
    outer_ = pool_.BuildFile(file)->FindMessageTypeByName("Outer");
  }

  std::string Print(const std::string& text, const JsonRules& rules = {}) {
    const std::unique_ptr<google::protobuf::Message> message(factory_.GetPrototype(outer_)->New());
    EXPECT_TRUE(TextFormat::ParseFromString(text, message.get())) << text;
    return base::JsonText(MessageToJson(*message, rules));
  }

  // The value of one key alone.
  std::string PrintKey(const std::string& key, const std::string& text, const JsonRules& rules = {}) {
    return Json::parse(Print(text, rules)).value(key, Json("no such key")).dump();
  }

  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::Descriptor* outer_ = nullptr;
};

TEST_F(MessageJsonTest, KeysAreTheFieldsInTheOrderOfTheFile) {
  EXPECT_EQ(
      Print(""),
      R"({"whole":0,"signed":0,"checksum":0,"real":0.0,"yes":false,"text":"","color":"",)"
      R"("inner":{"name":"","size":0},"ratio":null,"child":null,"list":[],"colors":[],"inners":[],"counts":{}})");
}

TEST_F(MessageJsonTest, EachKindOfFieldHasItsForm) {
  EXPECT_EQ(
      Print(R"(whole: 18446744073709551615 signed: -3 checksum: 4294967295 real: 0.1 yes: true text: "é\n"
                     color: SAMPLE_COLOR_DARK_RED inner { name: "a" size: 1 } ratio: 0 child {} list: [1, 2]
                     colors: [SAMPLE_COLOR_DARK_RED, SAMPLE_COLOR_UNSPECIFIED] inners { size: 7 }
                     counts { key: "b" value: 2 } counts { key: "a" value: 1 })"),
      R"({"whole":18446744073709551615,"signed":-3,"checksum":4294967295,"real":0.1,"yes":true,"text":"é\n",)"
      R"("color":"dark red","inner":{"name":"a","size":1},"ratio":0.0,"child":{"name":"","size":0},"list":[1,2],)"
      R"("colors":["dark red",""],"inners":[{"name":"","size":7}],"counts":{"a":1,"b":2}})");
}

TEST_F(MessageJsonTest, AValueOfANewerPeerKeepsItsNumber) {
  const std::unique_ptr<google::protobuf::Message> message(factory_.GetPrototype(outer_)->New());
  message->GetReflection()->SetEnumValue(message.get(), outer_->FindFieldByName("color"), 9);
  EXPECT_EQ(MessageToJson(*message)["color"], "unknown(9)");
}

TEST_F(MessageJsonTest, NanIsNamedOnceItIsPrinted) { EXPECT_EQ(PrintKey("real", "real: nan"), "\"NaN\""); }

TEST_F(MessageJsonTest, RulesHoldAtEveryDepth) {
  const JsonRules rules = {.fields = {{"Inner.size", Rename("bytes")}}};
  EXPECT_EQ(PrintKey("inner", "inner { size: 3 }", rules), R"({"name":"","bytes":3})");
  EXPECT_EQ(PrintKey("inners", "inners { size: 3 }", rules), R"([{"name":"","bytes":3}])");
}

TEST_F(MessageJsonTest, KeysCanBePutFirst) {
  const JsonRules rules = {.fields = {}, .first_keys = {{"Inner", {"size"}}}};
  EXPECT_EQ(PrintKey("inner", "", rules), R"({"size":0,"name":""})");
}

TEST_F(MessageJsonTest, AFieldCanBeLeftOut) {
  EXPECT_EQ(PrintKey("inner", "", {.fields = {{"Inner.size", Omit()}}}), R"({"name":""})");
  const JsonRules rules = {.fields = {{"Outer.ratio", OmitIfAbsent()}}};
  EXPECT_EQ(PrintKey("ratio", "", rules), R"("no such key")");
  EXPECT_EQ(PrintKey("ratio", "ratio: 2", rules), "2.0");
}

TEST_F(MessageJsonTest, FieldsCanBeGrouped) {
  const JsonRules rules = {
      .fields = {{"Inner.size", Within("group", "b")}, {"Inner.name", Within("group", "a")}}};
  EXPECT_EQ(PrintKey("inner", "inner { size: 3 }", rules), R"({"group":{"a":"","b":3}})");
}

TEST_F(MessageJsonTest, AMessageCanBeSpread) {
  const JsonRules rules = {.fields = {{"Outer.inner", Spread()}, {"Outer.child", Spread()}}};
  EXPECT_EQ(PrintKey("size", "inner { size: 3 }", rules), "3");
  EXPECT_EQ(PrintKey("inner", "inner { size: 3 }", rules), R"("no such key")");
}

TEST_F(MessageJsonTest, AListCanBecomeAnObject) {
  const JsonRules rules = {.fields = {{"Outer.inners", KeyedBy("name")}}};
  EXPECT_EQ(PrintKey("inners", R"(inners { name: "b" size: 1 } inners { name: "a" size: 2 })", rules),
            R"({"b":{"size":1},"a":{"size":2}})");
  EXPECT_EQ(PrintKey("inners", "", rules), "{}");
}

TEST_F(MessageJsonTest, EmptyAndUnspecifiedCanHaveAMeaning) {
  const JsonRules rules = {.fields = {{"Outer.text", NullIfEmpty()}, {"Outer.color", UnspecifiedIs("white")}}};
  EXPECT_EQ(PrintKey("text", "", rules), "null");
  EXPECT_EQ(PrintKey("text", R"(text: "a")", rules), R"("a")");
  EXPECT_EQ(PrintKey("color", "", rules), R"("white")");
  EXPECT_EQ(PrintKey("color", "color: SAMPLE_COLOR_DARK_RED", rules), R"("dark red")");
}

TEST_F(MessageJsonTest, TimesHaveTheUnitsOfTheCommandLine) {
  const JsonRules rules = {.fields = {{"Outer.whole", Seconds("seconds")}, {"Outer.signed", Time("time")}}};
  EXPECT_EQ(PrintKey("seconds", "whole: 1500000000", rules), "1.5");
  EXPECT_EQ(PrintKey("time", "signed: 1738324800999", rules), R"("2025-01-31T12:00:00Z")");
  EXPECT_EQ(PrintKey("time", "", rules), "null");
}

TEST(EnumWordTest, IsTheNameWithoutItsType) {
  EXPECT_EQ(EnumWord(v1::VERDICT_TOO_FEW_RUNS), "too few runs");
  EXPECT_EQ(EnumWord(v1::RUN_STATE_DONE), "done");
  EXPECT_EQ(EnumWord(v1::RUN_STATE_UNSPECIFIED), "");
  EXPECT_EQ(EnumWord(static_cast<v1::RunState>(77)), "unknown(77)");
}

}  // namespace
}  // namespace packtrain::cli
