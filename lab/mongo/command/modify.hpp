#pragma once
#include "lab/mongo/command/batch.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/update/update.hpp"

#include <cstdint>

namespace holdfast::lab::mongo {

/// Which documents a statement is about.
struct selection {
    bson::view filter;
    bson::element collation = {};
    bson::element hint = {};
    bool multi = false;
};

/// One update, wherever it was asked for: update, bulkWrite.
struct update_statement {
    selection which;
    bson::element change;
    bson::array_view array_filters = {};
    bson::view sort = {};
    bson::view constants = {};  // variables of this statement alone
    bool upsert = false;
};

/// Whether the record of a statement keeps the document that it made, for the reply to a retry.
enum class keep_image : std::uint8_t { no, yes };

/// Inserts the document that an update makes of its filter, and gives it back: the one upsert of
/// update, bulkWrite and findAndModify.
result<bson::document> upsert_one(writer& to, const update& change, const matcher& filter,
                                  std::int32_t statement, keep_image image = keep_image::no);

/// Each performs one statement, or finds that it was performed before.
result<statement_result> insert_one(writer& to, bson::view document, std::int32_t statement);
result<statement_result> update_some(const request& what, writer& to,
                                     const update_statement& update,
                                     const expression_context& context, std::int32_t statement);
result<statement_result> delete_some(const request& what, writer& to, const selection& which,
                                     const expression_context& context, std::int32_t statement);

}  // namespace holdfast::lab::mongo
