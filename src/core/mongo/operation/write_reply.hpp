#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/command_outcome.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// From replies to writes to counts and errors.
namespace holdfast::core::mongo {

/// The fields of a write error, or of a write concern error.
std::int32_t code_in(bson::view from);  // 8, UnknownError, if there is none
std::string text_in(bson::view from, std::string_view name);
bson::document details_in(bson::view from);  // "errInfo"

/// The fields of a reply to a write, found in one walk.
struct write_reply {
    std::int64_t n = 0;
    std::int64_t modified = 0;
    bson::element upserted = {};
    bool has_errors = false;
};

/// `outcome` is the reply, or the error that came instead; write errors in it become an error of
/// the kind `write`, with a write_failure. `sent` is null if the write was for one document anyway.
result<write_reply> read_write_reply(command_outcome& outcome, const command* sent = nullptr);

/// False for nearly all replies, which takes no look at their fields.
bool may_have_write_errors(bson::view reply);

/// The code of the first of many writes that the server has refused; none, of nearly all replies. A
/// refusal that a cursor will report later is an UnknownError until then.
error_code first_refusal(bson::view reply);

/// A command that was carried out, but not with the write concern that was asked for, comes as an
/// error with its reply. All facts of the error are kept.
error as_write_failure(error failed, const command* sent = nullptr);

/// The _id of the first document of an array, or none: of "documents", of "upserted".
bson::element first_id(const bson::element& array);

}  // namespace holdfast::core::mongo
