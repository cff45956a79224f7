#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/single_write.hpp"
#include "core/mongo/sdam/reply.hpp"
#include "holdfast/mongo/error.hpp"

#include <memory>
#include <utility>
#include <vector>

/// From the replies to writes of one statement to results and errors.
namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::delete_result;
using holdfast::mongo::id_value;
using holdfast::mongo::insert_one_result;
using holdfast::mongo::server_failure;
using holdfast::mongo::update_result;
using holdfast::mongo::write_concern_error;
using holdfast::mongo::write_error;
using holdfast::mongo::write_failure;

constexpr std::int32_t unknown_error = 8;  // the server's own code for an error without one

std::int32_t code_in(bson::view from)
{
    return static_cast<std::int32_t>(number_or(from.find("code"), unknown_error));
}

bson::document details_in(bson::view from)
{
    const bson::element details = from.find("errInfo");
    return details.type() == bson::type::document ? bson::document{details.as_document()}
                                                  : bson::document{};
}

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
                         .message = std::string{text_or_empty(from.find("errmsg"))},
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
                     .code_name = std::string{text_or_empty(from.find("codeName"))},
                     .message = std::string{text_or_empty(from.find("errmsg"))},
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
std::shared_ptr<write_failure> failure_in(const bson::document& reply, const command* sent)
{
    auto found = std::make_shared<write_failure>();
    found->write_errors = write_errors_in(reply);
    found->write_concern_errors = concern_errors_in(reply);
    found->partly_done = !found->write_errors.empty() && sent != nullptr && is_multi(*sent);
    found->reply = reply;
    return found;
}

error with_labels(error to, bson::view reply)
{
    const bson::element labels = reply.find("errorLabels");
    if (labels.type() != bson::type::array)
        return to;
    for (const bson::element& label : labels.as_array())
        if (label.type() == bson::type::string)
            to = std::move(to).with_label(label.as_string());
    return to;
}

/// The server's words about the statement itself; they tell more than those about its safety.
error statement_error(std::shared_ptr<write_failure> from)
{
    const write_error& first = from->write_errors.front();
    error made{error_code{first.code, server_category()},
               first.message.empty() ? std::string{"the server gives no reason"} : first.message};
    made = with_labels(std::move(made), from->reply);
    return std::move(made).with_detail(std::move(from));
}

/// A command that was carried out, but not as safely as it should be, comes as an error with its
/// reply. All that the error knows is kept.
error as_write_failure(error why, const command* sent = nullptr)
{
    const auto* refusal = dynamic_cast<const server_failure*>(why.detail());
    if (refusal == nullptr || !is_ok(refusal->reply))
        return why;
    auto found = failure_in(refusal->reply, sent);
    if (found->write_errors.empty())
        return std::move(why).with_detail(std::move(found));
    error better = statement_error(std::move(found));
    for (const std::string& label : why.labels())
        better = std::move(better).with_label(label);
    for (const context_entry& fact : why.context())
        if (fact.name != "codeName")
            better = std::move(better).with_context(fact.name, fact.value);
    return std::move(better).with_history({why.history().begin(), why.history().end()});
}

/// What a reply to a write says, found in one walk.
struct write_reply {
    std::int64_t n = 0;
    std::int64_t modified = 0;
    bson::element upserted = {};
    bool has_errors = false;
};

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

/// False for nearly all replies, and found out without a look at their fields.
bool may_have_errors(bson::view reply)
{
    const auto bytes = reply.bytes();
    const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    return text.find("writeErrors") != text.npos;
}

result<write_reply> read(result<bson::document>& outcome, const command* sent = nullptr)
{
    if (!outcome) [[unlikely]]
        return as_write_failure(std::move(outcome).error(), sent);
    const write_reply seen = read(outcome->view());
    if (seen.has_errors) [[unlikely]] {
        auto found = failure_in(*outcome, sent);
        if (!found->write_errors.empty())
            return statement_error(std::move(found));
    }
    return seen;
}

bson::element inserted_id(const command& sent)
{
    const bson::element documents = sent.body.find("documents");
    if (documents.type() != bson::type::array || documents.as_array().empty())
        return {};
    const bson::element first = *documents.as_array().begin();
    return first.type() == bson::type::document ? first.as_document().find("_id") : bson::element{};
}

/// The _id of the document that an upsert has made: "upserted" is an array of {index, _id}.
bson::element upserted_id(const bson::element& upserted)
{
    if (upserted.type() != bson::type::array || upserted.as_array().empty())
        return {};
    const bson::element first = *upserted.as_array().begin();
    return first.type() == bson::type::document ? first.as_document().find("_id") : bson::element{};
}

}  // namespace

result<insert_one_result> read_insert_one(result<bson::document> outcome, const command& sent)
{
    if (!outcome || may_have_errors(*outcome)) [[unlikely]]
        if (const auto seen = read(outcome); !seen)
            return seen.error();
    insert_one_result done;
    if (const bson::element id = inserted_id(sent))
        done.inserted_id = id_value{id};
    done.acknowledged = sent.acknowledged;
    return done;
}

result<update_result> read_update(result<bson::document> outcome, const command& sent)
{
    const auto seen = read(outcome, &sent);
    if (!seen) [[unlikely]]
        return seen.error();
    update_result done;
    done.acknowledged = sent.acknowledged;
    if (!sent.acknowledged)
        return done;
    done.matched_count = seen->n;
    done.modified_count = seen->modified;
    if (const bson::element id = upserted_id(seen->upserted)) {
        done.upserted_count = 1;
        done.upserted_id.emplace(id);
        done.matched_count = seen->n - 1;  // the server counts the new one among the matched
    }
    return done;
}

result<delete_result> read_delete(result<bson::document> outcome, const command& sent)
{
    const auto seen = read(outcome, &sent);
    if (!seen) [[unlikely]]
        return seen.error();
    return delete_result{.deleted_count = sent.acknowledged ? seen->n : 0,
                         .acknowledged = sent.acknowledged};
}

result<std::optional<bson::document>> read_found_and_modified(result<bson::document> outcome,
                                                              const command&)
{
    using found = std::optional<bson::document>;
    if (!outcome) [[unlikely]]
        return as_write_failure(std::move(outcome).error());
    const bson::element value = outcome->find("value");
    if (value.type() != bson::type::document)
        return found{};
    return found{bson::document{value.as_document()}};
}

}  // namespace holdfast::core::mongo
