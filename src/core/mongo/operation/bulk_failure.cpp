#include "core/mongo/operation/bulk_failure.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/write_reply.hpp"
#include "core/mongo/sdam/reply.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace holdfast::core::mongo {
namespace {

using holdfast::mongo::server_failure;
using holdfast::mongo::write_concern_error;
using holdfast::mongo::write_error;
using holdfast::mongo::write_failure;

}  // namespace

error unfit_write(error_code code, std::size_t index, std::string_view text)
{
    std::string where = "writes[" + std::to_string(index) + "]";
    std::string description = where + ": ";
    description += text;
    return error{code, std::move(description)}.with_context("write", std::move(where));
}

std::optional<bson::document> bulk_failure::take(result<bson::document> outcome)
{
    if (outcome) {
        if (const bson::element concern = outcome->find("writeConcernError");
            concern.type() == bson::type::document) [[unlikely]]
            note_concern(outcome->view(), nullptr);
        return *std::move(outcome);
    }
    error why = std::move(outcome).error();
    const auto* failed_detail = dynamic_cast<const server_failure*>(why.detail());
    if (failed_detail == nullptr || !is_ok(failed_detail->reply) ||
        failed_detail->reply.find("writeConcernError").type() != bson::type::document) {
        ended_by_ = std::move(why);
        return std::nullopt;
    }
    bson::document reply = failed_detail->reply;
    note_concern(reply.view(), &why);
    return reply;
}

void bulk_failure::note_concern(bson::view reply, const error* why)
{
    const bson::view said = reply.find("writeConcernError").as_document();
    concern_errors_.push_back({.code = code_in(said),
                               .code_name = text_in(said, "codeName"),
                               .message = text_in(said, "errmsg"),
                               .details = details_in(said)});
    if (!by_concern_)
        by_concern_ = why != nullptr ? *why : make_server_error(reply);
}

void bulk_failure::add_write_error(std::int64_t index, bson::view from, bool multi)
{
    partly_done_ = partly_done_ || multi;
    write_errors_.push_back({.index = index,
                             .code = code_in(from),
                             .message = text_in(from, "errmsg"),
                             .details = details_in(from)});
}

error bulk_failure::worst() const
{
    if (ended_by_)
        return *ended_by_;
    if (write_errors_.empty())
        return *by_concern_;
    const write_error& first = write_errors_.front();
    std::string where = "writes[" + std::to_string(first.index) + "]";
    std::string description = where + ": ";
    description += first.message.empty() ? "the server gives no reason" : first.message;
    if (const std::size_t more = write_errors_.size() - 1; more != 0)
        description += "; " + std::to_string(more) +
                       (more == 1 ? " other write" : " other writes") + " failed as well";
    error made{error_code{first.code, server_category()}, std::move(description)};
    made = std::move(made).with_context("write", std::move(where));
    if (const std::string_view name = known_code_name(first.code); !name.empty())
        made = std::move(made).with_context("codeName", std::string{name});
    if (!by_concern_)
        return made;
    for (const std::string& label : by_concern_->labels())
        made = std::move(made).with_label(label);
    for (const context_entry& fact : by_concern_->context()) {
        if (fact.name != "codeName")
            made = std::move(made).with_context(fact.name, fact.value);
    }
    return std::move(made).with_history(
        {by_concern_->history().begin(), by_concern_->history().end()});
}

error bulk_failure::as_error(std::shared_ptr<write_failure> failed_detail) &&
{
    std::ranges::sort(write_errors_, {}, &write_error::index);
    error made = worst();
    failed_detail->write_errors = std::move(write_errors_);
    failed_detail->write_concern_errors = std::move(concern_errors_);
    failed_detail->ended_by = std::move(ended_by_);
    failed_detail->partly_done = partly_done_;
    return std::move(made).with_detail(std::move(failed_detail));
}

}  // namespace holdfast::core::mongo
