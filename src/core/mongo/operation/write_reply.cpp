#include "core/mongo/operation/write_reply.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/error/server_text.hpp"
#include "core/mongo/operation/draft.hpp"
#include "core/mongo/sdam/reply.hpp"
#include "holdfast/mongo/error.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::server_failure;
using holdfast::mongo::write_concern_error;
using holdfast::mongo::write_error;
using holdfast::mongo::write_failure;

constexpr std::int32_t unknown_error = 8;  // the server's own code for an error without one

std::vector<write_error> write_errors_in(bson::view reply)
{
    std::vector<write_error> found;
    const bson::element list = reply.find("writeErrors");
    if (list.type() != bson::type::array)
        return found;
    for (const bson::element& one : list.as_array()) {
        if (one.type() != bson::type::document)
            continue;
        const bson::view from = one.as_document();
        found.push_back({.index = number_or(from.find("index"), 0),
                         .code = code_in(from),
                         .message = text_in(from, "errmsg"),
                         .details = details_in(from)});
    }
    return found;
}

std::vector<write_concern_error> concern_errors_in(bson::view reply)
{
    std::vector<write_concern_error> found;
    const bson::element one = reply.find("writeConcernError");
    if (one.type() != bson::type::document)
        return found;
    const bson::view from = one.as_document();
    found.push_back({.code = code_in(from),
                     .code_name = text_in(from, "codeName"),
                     .message = text_in(from, "errmsg"),
                     .details = details_in(from)});
    return found;
}

/// Whether the only statement of an update or a delete is for many documents.
bool is_multi(const command& sent)
{
    for (const std::string_view name : {"updates", "deletes"}) {
        const bson::element list = sent.body.find(name);
        if (list.type() != bson::type::array || list.as_array().empty())
            continue;
        const bson::element first = *list.as_array().begin();
        if (first.type() != bson::type::document)
            return false;
        const bson::element multi = first.as_document().find("multi");
        return multi.type() == bson::type::boolean
                   ? multi.as_bool()
                   : number_or(first.as_document().find("limit"), 1) == 0;
    }
    return false;
}

/// `sent` is null if it was for one document anyway.
std::shared_ptr<write_failure> failure_in(bson::view reply, const command* sent)
{
    auto found = std::make_shared<write_failure>();
    found->write_errors = write_errors_in(reply);
    found->write_concern_errors = concern_errors_in(reply);
    found->partly_done = !found->write_errors.empty() && sent != nullptr && is_multi(*sent);
    found->reply = bson::document{reply};
    return found;
}

/// The error of the statement itself: it says more than that of the write concern.
error statement_error(std::shared_ptr<write_failure> from)
{
    const write_error& first = from->write_errors.front();
    error made{error_code{first.code, server_category()},
               first.message.empty() ? std::string{"the server gives no reason"} : first.message};
    if (const std::string_view name = known_code_name(first.code); !name.empty())
        made = std::move(made).with_context("codeName", std::string{name});
    made = with_server_labels(std::move(made), from->reply);
    return std::move(made).with_detail(std::move(from));
}

write_reply read(bson::view reply)
{
    write_reply seen;
    for (const bson::element& e : reply) {
        const std::string_view key = e.key();
        if (key == "n")
            seen.n = number_or(e, 0);
        else if (key == "nModified")
            seen.modified = number_or(e, 0);
        else if (key == "upserted")
            seen.upserted = e;
        else if (key == "writeErrors")
            seen.has_errors = e.type() == bson::type::array && !e.as_array().empty();
    }
    return seen;
}

}  // namespace

std::int32_t code_in(bson::view from)
{
    return static_cast<std::int32_t>(number_or(from.find("code"), unknown_error));
}

std::string text_in(bson::view from, std::string_view name)
{
    return limited_text(text_or_empty(from.find(name)));
}

bson::document details_in(bson::view from)
{
    const bson::element details = from.find("errInfo");
    return details.type() == bson::type::document ? bson::document{details.as_document()}
                                                  : bson::document{};
}

error_code first_refusal(bson::view reply)
{
    bson::element errors;
    bson::element cursor;
    std::int64_t count = 0;
    for (const bson::element& e : reply) {
        const std::string_view key = e.key();
        if (key == "writeErrors")
            errors = e;
        else if (key == "nErrors")
            count = number_or(e, 0);
        else if (key == "cursor")
            cursor = e;
    }
    if (errors.type() == bson::type::array) {
        for (const bson::element& one : errors.as_array())
            if (one.type() == bson::type::document)
                return {code_in(one.as_document()), server_category()};
    }
    if (count == 0)
        return {};
    if (cursor.type() == bson::type::document) {
        const bson::element batch = cursor.as_document().find("firstBatch");
        if (batch.type() == bson::type::array)
            for (const bson::element& one : batch.as_array())
                if (one.type() == bson::type::document && !is_ok(one.as_document()))
                    return {code_in(one.as_document()), server_category()};
    }
    return {unknown_error, server_category()};
}

error as_write_failure(error failed, const command* sent)
{
    const auto* refusal = dynamic_cast<const server_failure*>(failed.detail());
    if (refusal == nullptr || !is_ok(refusal->reply))
        return failed;
    auto found = failure_in(refusal->reply, sent);
    if (found->write_errors.empty())
        return std::move(failed).with_detail(std::move(found));
    error better = statement_error(std::move(found));
    for (const std::string& label : failed.labels())
        better = std::move(better).with_label(label);
    for (const context_entry& fact : failed.context())
        if (fact.name != "codeName")
            better = std::move(better).with_context(fact.name, fact.value);
    return std::move(better).with_history({failed.history().begin(), failed.history().end()});
}

bool may_have_write_errors(bson::view reply)
{
    const auto bytes = reply.bytes();
    const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    return text.find("writeErrors") != text.npos;
}

result<write_reply> read_write_reply(command_outcome& outcome, const command* sent)
{
    if (!outcome) [[unlikely]]
        return as_write_failure(std::move(outcome).error(), sent);
    const write_reply seen = read(*outcome);
    if (seen.has_errors) [[unlikely]] {
        auto found = failure_in(*outcome, sent);
        if (!found->write_errors.empty())
            return statement_error(std::move(found));
    }
    return seen;
}

bson::element first_id(const bson::element& array)
{
    if (array.type() != bson::type::array || array.as_array().empty())
        return {};
    const bson::element first = *array.as_array().begin();
    return first.type() == bson::type::document ? first.as_document().find("_id") : bson::element{};
}

}  // namespace holdfast::core::mongo
