// Which import it is, so that one that broke off goes on only where it would send the same graphs again.
#ifndef PACKTRAIN_CLIENT_INGEST_IMPORT_IDENTITY_H_
#define PACKTRAIN_CLIENT_INGEST_IMPORT_IDENTITY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/import_options.h"
#include "client/ingest/source_files.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

struct IdentifiedImport {
  v1::ImportIdentity identity;
  std::shared_ptr<const FileDigests> digests;  // of the files that are read, and of `join`
};

// Reads and hashes every file of the import. Its digest is over the version of the program, the format, the
// options that decide which graphs are sent, the paths of the files in their order, and the SHA-256 of each,
// that of `join` included; not over splits, which are made of what is stored. `format` is borrowed. Errors of
// FindFiles, FindFilesBelow and DiskFile; INVALID_ARGUMENT: a file is none that can be read twice, as a pipe
// is.
absl::StatusOr<IdentifiedImport> IdentifyImport(const Format& format, const ImportOptions& options,
                                                const std::string& name);

// CheckDigest of a file that was read without being hashed: reads it again, unless `digests` is null.
absl::Status CheckUnchanged(const FileDigests* digests, const std::string& path);

// In what an import differs from one that is kept, for people: "--edges is full, was radius:5; a.xyz has
// changed".
std::string DifferenceOf(const v1::ImportIdentity& wanted, const v1::ImportIdentity& kept);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_IMPORT_IDENTITY_H_
