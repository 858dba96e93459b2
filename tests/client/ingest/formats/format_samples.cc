#include "tests/client/ingest/formats/format_samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/strings/str_format.h"
#include "client/ingest/formats/native_file.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/records/graph_record.h"

namespace packtrain::testing {
namespace {

FormatSample Extxyz() {
  const std::string first = "2\nid=a e=1.5\nC 0.25 -1.5 2e-1\nH 1 2 3\n";
  const std::string last = "3\nid=c e=2\nO 0 0 0\nH 0.75 0 0.5\nH -0.75 0 0.5\n";
  FormatSample sample;
  sample.file_name = "m.xyz";
  sample.three = first + "1\nid=b e=-4\nN 7 8 9\n" + last;
  sample.ids = {"a", "b", "c"};
  sample.one = first;
  sample.second_is_bad = first + "1\nid=b e=-4\nN 7 nan 9\n" + last;
  sample.reason = "not_finite";
  sample.stray_line = first + "H 4 5 6\n1\nid=b e=-4\nN 7 8 9\n" + last;
  sample.latin1_comment = first + "1\nid=b e=-4 note=\"caf\xe9\"\nN 7 8 9\n" + last;
  sample.latin1_id = first + "1\nid=caf\xe9 e=-4\nN 7 8 9\n" + last;
  return sample;
}

FormatSample Qm9Xyz() {
  const auto record = [](const std::string& index, const std::string& atoms, const std::string& frequencies) {
    const std::string count = std::to_string(std::count(atoms.begin(), atoms.end(), '\n'));
    return count + "\ngdb " + index + "\t1.5\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14\t15\t\n" + atoms +
           frequencies + "\nC\tC\t\nI\tI\n";
  };
  const std::string first = record("1", "C\t0.25\t-1.5\t2*^-1\t0.5\n", "");
  const std::string last = record("3", "O\t0\t0\t0\t-1\nH\t0.75\t0\t0.5\t1\n", "3600.5");
  FormatSample sample;
  sample.file_name = "gdb_1.xyz";
  sample.three = first + record("2", "N 7 8 9 0\n", "") + last;
  sample.ids = {"gdb_1", "gdb_2", "gdb_3"};
  sample.one = first;
  sample.second_is_bad = first + record("2", "N 7 nan 9 0\n", "") + last;
  sample.reason = "not_finite";
  sample.stray_line = first + "H 4 5 6 0\n" + record("2", "N 7 8 9 0\n", "") + last;
  const auto second_by = [&](std::string_view from, const std::string& to) {
    std::string second = record("2", "N 7 8 9 0\n", "");
    return first + second.replace(second.find(from), from.size(), to) + last;
  };
  sample.latin1_comment = second_by("\nC\tC\t", "\nC\tcaf\xe9\t");
  sample.latin1_id = second_by("gdb", "caf\xe9");
  return sample;
}

FormatSample Jsonl() {
  const auto molecule = [](const std::string& id, const std::string& z, const std::string& edges) {
    return "{\"id\":\"" + id + "\",\"nodes\":{\"z\":[" + z + "]},\"edges\":[" + edges +
           "],\"targets\":{\"e\":-1.5}}\n";
  };
  const std::string first = molecule("a", "6,1", "[0,1],[1,0]"), last = molecule("c", "8,1,1", "[0,2]");
  FormatSample sample;
  sample.file_name = "m.jsonl";
  sample.three = first + molecule("b", "7", "") + last;
  sample.ids = {"a", "b", "c"};
  sample.one = first;
  sample.second_is_bad = first + molecule("b", "7", "[0,1]") + last;
  sample.reason = "edge_out_of_range";
  sample.stray_line = first + "{\n" + molecule("b", "7", "") + last;
  sample.why_no_latin1_comment = "JSON is UTF-8";
  sample.latin1_id = first + molecule("caf\xe9", "7", "") + last;
  return sample;
}

std::string CifOf(const std::string& name, const std::string& energy, const std::string& sites) {
  return "data_" + name +
         "\n_cell_length_a 3\n_cell_length_b 4\n_cell_length_c 5\n_symmetry_Int_Tables_number 1\n_e " + energy +
         "\nloop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n" + sites;
}

FormatSample Cif() {
  const std::string first = CifOf("a", "1.5", "C1 0.25 0.5 0\nH2 0 0 0.5\n");
  const std::string last = CifOf("c", "2", "O1 0 0 0\nH2 0.75 0 0.5\nH3 0.5 0 0.5\n");
  FormatSample sample;
  sample.file_name = "a.cif";
  sample.three = first + CifOf("b", "-4", "N1 0.125 0 0\n") + last;
  sample.ids = {"a", "b", "c"};
  sample.one = first;
  sample.second_is_bad = first + CifOf("b", "-4", "N1 0.125 ? 0\n") + last;
  sample.reason = "unknown_coordinate";
  sample.stray_line = first + "stray\n" + CifOf("b", "-4", "N1 0.125 0 0\n") + last;
  sample.latin1_comment = first + "# caf\xe9\n" + CifOf("b", "-4", "N1 0.125 0 0\n# caf\xe9\n") + last;
  sample.why_no_latin1_id = "a block's name of other bytes than ASCII is no CIF, and refused as bad_cif";
  return sample;
}

FormatSample Poscar() {
  const std::string first = "a\n1\n3 0 0\n0 3 0\n0 0 3\nC H\n1 1\nDirect\n0.25 -0.5 2e-1\n0 0 0.5\n";
  const std::string second = "b\n2\n3 0 0\n0 3 0\n0 0 3\nN\n1\nCartesian\n0.25 ";
  const std::string last = "c\n1\n3 0 0\n0 3 0\n0 0 3\nO H\n1 2\nDirect\n0 0 0\n0.75 0 0.5\n0.5 0 0.5\n";
  FormatSample sample;
  sample.file_name = "a.vasp";
  sample.three = first + second + "0 0\n" + last;
  sample.ids = {"a", "b", "c"};
  sample.one = first;
  sample.second_is_bad = first + second + "nan 0\n" + last;
  sample.reason = "not_finite";
  sample.stray_line = first + "0 0 0.25\n" + second + "0 0\n" + last;
  sample.latin1_comment = first + "b caf\xe9" + second.substr(1) + "0 0\n" + last;
  sample.latin1_id = first + "caf\xe9" + second.substr(1) + "0 0\n" + last;
  return sample;
}

FormatSample Smiles() {
  FormatSample sample;
  sample.file_name = "m.smi";
  sample.three = "CC=O a\nC#N b\nc1ccoc1 c\n";
  sample.ids = {"a", "b", "c"};
  sample.one = "CC=O a\n";
  sample.id_of_one = "m";
  sample.second_is_bad = "CC=O a\nC(N b\nc1ccoc1 c\n";
  sample.reason = "bad_smiles";
  sample.stray_line = "CC=O a\nstray\nC#N b\nc1ccoc1 c\n";
  sample.why_records_may_merge = "a name may hold anything";
  sample.latin1_comment = "CC=O a\nC#N b caf\xe9\nc1ccoc1 c\n";
  sample.latin1_id = "CC=O a\nC#N caf\xe9\nc1ccoc1 c\n";
  return sample;
}

// A molfile of atoms in a chain.
std::string ChainMolfile(const std::string& title, const std::vector<std::string>& elements) {
  std::string text = absl::StrFormat("%s\n\n\n%3d%3d  0  0  0  0            999 V2000\n", title,
                                     elements.size(), elements.size() - 1);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    absl::StrAppendFormat(&text, "%10.4f%10.4f%10.4f %-3s 0  0\n", 1.25 * k, 0.5, 0.0, elements[k]);
  }
  for (std::size_t k = 1; k < elements.size(); ++k) absl::StrAppendFormat(&text, "%3d%3d  1\n", k, k + 1);
  return text + "M  END\n$$$$\n";
}

FormatSample Sdf() {
  const std::string first = ChainMolfile("a", {"C", "O"});
  const std::string last = ChainMolfile("c", {"O", "C", "N"});
  FormatSample sample;
  sample.file_name = "m.sdf";
  sample.three = first + ChainMolfile("b", {"N"}) + last;
  sample.ids = {"a", "b", "c"};
  sample.one = first;
  sample.id_of_one = "m";
  sample.second_is_bad = first + ChainMolfile("b", {"Qx"}) + last;
  sample.reason = "bad_molfile";
  sample.stray_line = first + "stray\n" + ChainMolfile("b", {"N"}) + last;
  sample.latin1_comment = first + ChainMolfile("b caf\xe9", {"N"}) + last;
  sample.latin1_id = first + ChainMolfile("caf\xe9", {"N"}) + last;
  return sample;
}

v1::Schema SchemaOfNative() {
  v1::Schema schema;
  v1::Field* z = schema.add_fields();
  z->set_name("z");
  z->set_scope(v1::FIELD_SCOPE_NODE);
  z->set_data_type(v1::DATA_TYPE_U8);
  schema.set_edge_rule(v1::EDGE_RULE_FULL);
  schema.set_edges("full");
  return schema;
}

std::string RecordOfNative(std::string_view id, std::string_view z) {
  const records::RecordLayout layout = records::RecordLayout::Create(SchemaOfNative()).value();
  const auto n_node = static_cast<std::uint32_t>(z.size());
  const std::string_view fields[] = {z};
  records::GraphView graph;
  graph.n_node = n_node;
  graph.n_edge = n_node * (n_node - 1);
  graph.fields = fields;
  graph.source_id = id;
  std::string record;
  EXPECT_TRUE(records::EncodeRecord(layout, graph, record).ok());
  return record;
}

// A file with a block for each record.
std::string NativeFileOf(const std::vector<std::string>& records) {
  v1::ExportDatasetResponse message;
  message.mutable_header()->mutable_dataset()->set_name("mols");
  *message.mutable_header()->mutable_dataset()->mutable_schema() = SchemaOfNative();
  std::string bytes = std::string(ingest::kNativeMagic) + ingest::NativeFrame(message);
  for (const std::string& record : records) {
    message.mutable_block()->clear_records();
    message.mutable_block()->add_records(record);
    bytes += ingest::NativeFrame(message);
  }
  message.mutable_end()->set_graphs(records.size());
  return bytes + ingest::NativeFrame(message);
}

FormatSample Native() {
  const std::string first = RecordOfNative("a", "\x06\x01");
  FormatSample sample;
  sample.file_name = "m.packtrain";
  sample.three = NativeFileOf({first, RecordOfNative("b", "\x07"), RecordOfNative("c", "\x08\x01\x01")});
  sample.ids = {"a", "b", "c"};
  sample.one = NativeFileOf({first});
  sample.is_text = false;
  sample.why_no_latin1_comment = "the format is no text";
  sample.why_no_latin1_id = "ids are checked when records are made, and by the server";
  return sample;
}

FormatSample OgbCsv() {
  FormatSample sample;
  sample.folder = {{"num-node-list.csv", "2\n1\n3\n"},
                   {"num-edge-list.csv", "1\n0\n2\n"},
                   {"edge.csv", "0,1\n0,1\n1,2\n"},
                   {"node-feat.csv", "10,1\n10,2\n10,3\n10,4\n10,5\n10,6\n"},
                   {"graph-label.csv", "1\n0\n1\n"}};
  return sample;
}

FormatSample Tudataset() {
  FormatSample sample;
  sample.folder = {{"DS_A.txt", "1, 2\n4, 5\n5, 6\n"},
                   {"DS_graph_indicator.txt", "1\n1\n2\n3\n3\n3\n"},
                   {"DS_graph_labels.txt", "1\n0\n1\n"}};
  return sample;
}

}  // namespace

FormatSample SampleOf(std::string_view format) {
  static constexpr std::pair<std::string_view, FormatSample (*)()> kSamples[] = {
      {"cif", Cif},       {"extxyz", Extxyz},  {"jsonl", Jsonl}, {"native", Native}, {"ogb-csv", OgbCsv},
      {"poscar", Poscar}, {"qm9-xyz", Qm9Xyz}, {"sdf", Sdf},     {"smiles", Smiles}, {"tudataset", Tudataset}};
  for (const auto& [name, make] : kSamples) {
    if (name == format) return make();
  }
  ADD_FAILURE() << "there is no sample of format " << format;
  return {};
}

}  // namespace packtrain::testing
