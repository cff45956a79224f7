#include "core/mongo/operation/client_bulk.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/batch_eligibility.hpp"
#include "core/mongo/operation/bulk_failure.hpp"
#include "core/mongo/operation/bulk_statements.hpp"
#include "core/mongo/operation/client_bulk_plan.hpp"
#include "core/mongo/operation/draft.hpp"
#include "core/mongo/sdam/reply.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {
namespace {

using holdfast::mongo::bulk_write_options;
using holdfast::mongo::client_bulk_write_result;
using holdfast::mongo::client_bulk_writes;
using holdfast::mongo::delete_result;
using holdfast::mongo::id_value;
using holdfast::mongo::insert_one_result;
using holdfast::mongo::update_result;
using holdfast::mongo::write_error;
using holdfast::mongo::write_failure;

constexpr std::int32_t knows_bulk_write = 25;  // MongoDB 8.0

/// The command itself is sent to a database that says nothing about its writes.
error in_space(error why, std::string space)
{
    if (space.empty())
        return why;
    return std::move(why)
        .with_context("operation", "bulkWrite in " + space)
        .with_context("namespace", std::move(space));
}

/// What the specification sets aside for the header and for what all commands have in common.
constexpr std::size_t message_overhead = 1000;

class client_writes_in_turn final : public client_writes, private command_load {
public:
    client_writes_in_turn(client_bulk_writes work, const bulk_write_options& options,
                          id_source& ids)
        : plan_{std::move(work), ids}, ordered_{options.ordered}
    {
        total_.verbose = options.verbose_results;
    }

    result<void> prepare(const operation_space& admin, const bulk_write_options& options);
    command* next() override;
    void done(result<bson::document> outcome) override;
    command* more() override;
    void add_batch(result<bson::document> outcome) override;
    command* kill() override;
    result<client_bulk_write_result> finish() override;

private:
    bool is_eligible(const connection_description& limits) override;
    result<void> write(message_builder& to, const connection_description& limits) override;
    result<std::size_t> measure(const connection_description& limits);
    std::size_t room_in(const connection_description& limits) const noexcept;
    result<void> check_sizes(const connection_description& limits) const;
    void count(bson::view reply);
    void read_results(bson::view reply);
    void read_one(bson::view from);
    void add_result(std::size_t index, bson::view from);
    std::string failed_space() const;

    client_bulk_plan plan_;
    const bool ordered_;
    command first_;  // as every command begins

    std::size_t begin_ = 0;  // of the batch
    std::size_t end_ = 0;    // the same: not decided yet
    batch_eligibility<client_bulk_plan> eligibility_{plan_};
    command current_;
    bool sent_ = false;
    bool stopped_ = false;  // no more commands

    // The results of the last command.
    std::size_t results_begin_ = 0;
    std::size_t results_end_ = 0;
    std::int64_t cursor_ = 0;
    std::string cursor_space_;
    std::int64_t received_ = 0;
    bool reading_ = false;

    client_bulk_write_result total_;
    bool any_success_ = false;
    bulk_failure failure_;
};

result<void> client_writes_in_turn::prepare(const operation_space& admin,
                                            const bulk_write_options& options)
{
    draft made{admin, options.let ? options.let->size() : 0};
    made.body.put("bulkWrite", std::int32_t{1});
    made.body.put("errorsOnly", !options.verbose_results);
    made.body.put("ordered", options.ordered);
    made.put("bypassDocumentValidation", options.bypass_document_validation);
    made.put("let", options.let);
    options.comment.write(made.body, "comment");
    if (auto put = put_write_concern(made.body, made.to, admin, options.write_concern); !put)
        return put;
    if (!made.to.acknowledged && options.verbose_results)
        return refused("verbose_results",
                       "Cannot request unacknowledged write concern and verbose results");
    if (!made.to.acknowledged && options.ordered)
        return refused("ordered",
                       "Cannot request unacknowledged write concern and ordered writes; say "
                       "ordered = false");
    made.limit(options.timeout);
    made.to.database = "admin";
    made.to.raw_data = options.raw_data;
    made.to.kind = retry_kind::write;
    made.to.need = {knows_bulk_write, "bulkWrite"};
    made.to.load = this;
    auto finished = made.finish();
    if (!finished)
        return std::move(finished).error();
    first_ = *std::move(finished);
    total_.acknowledged = first_.acknowledged;
    return {};
}

command* client_writes_in_turn::next()
{
    if (stopped_ || begin_ == plan_.size())
        return nullptr;
    current_ = first_;
    end_ = begin_;
    current_.eligible = eligibility_.start(begin_, plan_.size(), first_.acknowledged, true);
    return &current_;
}

bool client_writes_in_turn::is_eligible(const connection_description& limits)
{
    return eligibility_.on(limits);
}

std::size_t client_writes_in_turn::room_in(const connection_description& limits) const noexcept
{
    const std::size_t used = message_overhead + first_.body.size();
    const std::size_t all = batch_limits{limits}.bytes;
    return all > used ? all - used : 0;
}

/// Where the batch ends on a connection.
result<std::size_t> client_writes_in_turn::measure(const connection_description& limits)
{
    const std::size_t count = batch_limits{limits}.writes;
    const std::size_t room = room_in(limits);
    const std::size_t end = plan_.fits(begin_, eligibility_.end(), room, count);
    if (end != begin_)
        return end;
    return unfit_write(errc::message_too_large, begin_,
                       std::to_string(plan_.operation(begin_).size()) + " bytes, and " +
                           std::to_string(plan_.space_of(begin_).size()) +
                           " of its namespace, are more than the " + std::to_string(room) +
                           " that fit into a message to the server");
}

/// Without acknowledgement the refusal of a document that is too large would go unnoticed.
result<void> client_writes_in_turn::check_sizes(const connection_description& limits) const
{
    const auto most = static_cast<std::size_t>(std::max(limits.max_bson_object_size, 0));
    if (first_.body.size() > most + statement_allowance)
        return refused("let", "the command has " + std::to_string(first_.body.size()) +
                                  " bytes, more than the server takes");
    for (std::size_t i = begin_; i < end_; ++i) {
        const std::size_t whole = plan_.operation(i).size();
        const std::size_t inside = plan_.stored_size(i);
        if (inside > most || whole > most + statement_allowance)
            return unfit_write(errc::message_too_large, i,
                               std::to_string(std::max(inside, whole)) +
                                   " bytes are more than the " + std::to_string(most) +
                                   " that the server takes; nothing of its batch was sent");
    }
    return {};
}

result<void> client_writes_in_turn::write(message_builder& to, const connection_description& limits)
{
    if (end_ == begin_) {
        auto end = measure(limits);
        if (!end)
            return std::move(end).error();
        end_ = *end;
        if (!first_.acknowledged) {
            if (auto good = check_sizes(limits); !good) {
                end_ = begin_;
                return good;
            }
        }
        plan_.place(begin_, end_);
        eligibility_.written(limits);
    }
    sent_ = true;
    plan_.write(to, begin_, end_);
    return {};
}

void client_writes_in_turn::done(result<bson::document> outcome)
{
    if (end_ == begin_)
        end_ = eligibility_.end();
    results_begin_ = std::exchange(begin_, end_);
    results_end_ = end_;
    reading_ = false;
    const auto reply = failure_.take(std::move(outcome));
    if (!reply) {
        stopped_ = true;
        return;
    }
    if (!first_.acknowledged)
        return;
    count(reply->view());
    received_ = 0;
    reading_ = true;
    read_results(reply->view());
}

void client_writes_in_turn::count(bson::view reply)
{
    std::int64_t errors = 0;
    for (const bson::element& one : reply) {
        const std::string_view key = one.key();
        if (key == "nInserted")
            total_.inserted_count += number_or(one, 0);
        else if (key == "nMatched")
            total_.matched_count += number_or(one, 0);
        else if (key == "nModified")
            total_.modified_count += number_or(one, 0);
        else if (key == "nDeleted")
            total_.deleted_count += number_or(one, 0);
        else if (key == "nUpserted")
            total_.upserted_count += number_or(one, 0);
        else if (key == "nErrors")
            errors = number_or(one, 0);
    }
    if (ordered_ && errors != 0)
        stopped_ = true;  // the error's index says whether any before it succeeded
    else if (errors < static_cast<std::int64_t>(results_end_ - results_begin_))
        any_success_ = true;
}

void client_writes_in_turn::read_results(bson::view reply)
{
    auto batch = read_batch(reply);
    if (!batch) {
        failure_.end_unread(std::move(batch).error());
        stopped_ = true;
        reading_ = false;
        return;
    }
    cursor_ = batch->id;
    cursor_space_ = batch->space;
    for (const bson::element& one : batch->documents) {
        ++received_;
        read_one(one.as_document());
    }
}

void client_writes_in_turn::read_one(bson::view from)
{
    const std::int64_t place = std::max<std::int64_t>(number_or(from.find("idx"), 0), 0);
    const std::size_t index = std::min(results_begin_ + static_cast<std::size_t>(place),
                                       results_end_ - 1);
    if (is_ok(from)) {
        any_success_ = true;
        if (total_.verbose)
            add_result(index, from);
        return;
    }
    failure_.add_write_error(static_cast<std::int64_t>(index), from, plan_.is_multi(index));
    if (ordered_) {
        any_success_ = any_success_ || place > 0;
        stopped_ = true;
        reading_ = false;
    }
}

void client_writes_in_turn::add_result(std::size_t index, bson::view from)
{
    const auto at = static_cast<std::int64_t>(index);
    const std::int64_t n = number_or(from.find("n"), 0);
    switch (plan_.kind_of(index)) {
    case statement_kind::insert: {
        const bson::element document = plan_.operation(index).find("document");
        total_.insert_results.emplace(
            at, insert_one_result{.inserted_id = id_value{document.as_document().find("_id")}});
        break;
    }
    case statement_kind::update: {
        update_result one;
        one.matched_count = n;
        one.modified_count = number_or(from.find("nModified"), 0);
        const bson::element upserted = from.find("upserted");
        if (upserted.type() == bson::type::document) {
            one.upserted_count = 1;
            if (const bson::element id = upserted.as_document().find("_id"))
                one.upserted_id.emplace(id);
        }
        total_.update_results.emplace(at, std::move(one));
        break;
    }
    case statement_kind::remove:
        total_.delete_results.emplace(at, delete_result{.deleted_count = n});
        break;
    }
}

command* client_writes_in_turn::more()
{
    if (!reading_ || cursor_ == 0)
        return nullptr;
    current_ = get_more(cursor_space_, cursor_, {}, received_, knows_bulk_write);
    current_.timeout = first_.timeout;
    return &current_;
}

void client_writes_in_turn::add_batch(result<bson::document> outcome)
{
    if (outcome) {
        read_results(outcome->view());
        return;
    }
    failure_.end_unread(std::move(outcome).error());
    stopped_ = true;
    reading_ = false;
}

command* client_writes_in_turn::kill()
{
    const std::int64_t open = std::exchange(cursor_, 0);
    if (open == 0)
        return nullptr;
    reading_ = false;
    current_ = kill_cursor(cursor_space_, open);
    return &current_;
}

result<client_bulk_write_result> client_writes_in_turn::finish()
{
    if (!failure_.is_any())
        return std::move(total_);
    std::string space = failed_space();
    if (!sent_ && failure_.has_ended())
        return in_space(std::move(failure_).plain(), std::move(space));
    auto failed_detail = std::make_shared<write_failure>();
    if (any_success_)
        failed_detail->partial_client_result = std::move(total_);
    return in_space(std::move(failure_).as_error(std::move(failed_detail)), std::move(space));
}

/// The namespace of the first write that was refused, or of all writes; empty if they have several.
std::string client_writes_in_turn::failed_space() const
{
    const auto& refused = failure_.write_errors();
    if (!failure_.has_ended() && !refused.empty()) {
        const auto first = std::ranges::min_element(refused, {}, &write_error::index);
        return plan_.space_of(static_cast<std::size_t>(first->index));
    }
    return plan_.only_space();
}

result<void> check_spaces(const client_bulk_writes& work)
{
    for (const std::string& name : work.spaces()) {
        const std::size_t dot = name.find('.');
        if (dot == name.npos || dot == 0 || dot + 1 == name.size() || name.find('\0') != name.npos)
            return refused("writes", "'" + name + "' is no namespace; write database.collection");
    }
    return {};
}

}  // namespace

result<std::unique_ptr<client_writes>> client_writes::make(const operation_space& admin,
                                                           client_bulk_writes work,
                                                           const bulk_write_options& options,
                                                           id_source& ids)
{
    std::string space = work.spaces().size() == 1 ? work.spaces().front() : std::string{};
    if (auto good = check_writes(work.list()); !good)
        return in_space(std::move(good).error(), std::move(space));
    if (auto good = check_spaces(work); !good)
        return std::move(good).error();
    auto made = std::make_unique<client_writes_in_turn>(std::move(work), options, ids);
    if (auto ready = made->prepare(admin, options); !ready)
        return in_space(std::move(ready).error(), std::move(space));
    return result<std::unique_ptr<client_writes>>{std::move(made)};
}

}  // namespace holdfast::core::mongo
