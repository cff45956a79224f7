#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <cstdint>
#include <optional>
#include <string>

/// What replies and errors of MongoDB mean for a write.
namespace holdfast::drill {

/// What an error means for the write that it ended.
fate fate_of(const error& cause) noexcept;
/// Notes what the error reports of the parts of a write that did several things.
void note_parts(operation& one, const error& cause);
/// Notes the count in the reply of a find_one_and_update. The write upserts the page, so a reply
/// without a document is wrong, and leaves no count.
void note_count(operation& one, const std::optional<bson::document>& after);
/// Notes the reply of a delete_one. If the application has repeated it by itself, its first call
/// may have deleted the document.
void note_deletion(operation& one, std::int64_t deleted, bool repeated);
/// Short, and the same for all errors of a kind: "server: NotWritablePrimary".
std::string reason_of(const error& cause);

}  // namespace holdfast::drill
