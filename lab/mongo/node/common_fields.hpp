#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/node/command.hpp"

namespace holdfast::lab::mongo {

/// Reads what all commands have in common out of the body: $db, lsid, txnNumber, writeConcern,
/// readConcern, $readPreference, the stable API's fields, maxTimeMS, $clusterTime. The errors for
/// wrong types and values are MongoDB's. One walk over the body; the handler makes its own.
result<void> read_common_fields(request& what);

/// True for a field that read_common_fields() knows, or that is for every command and needs no
/// reading (comment). For handlers that refuse unknown fields.
bool is_common_field(std::string_view key) noexcept;

result<write_concern> read_write_concern(const bson::element& from);
result<read_concern> read_read_concern(const bson::element& from);

/// {w: 1, wtimeout: 0}: as an error about it shows it.
void describe_write_concern(const write_concern& what, bson::builder& out);

}  // namespace holdfast::lab::mongo
