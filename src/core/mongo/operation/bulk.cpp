#include "core/mongo/operation/bulk.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/batch_eligibility.hpp"
#include "core/mongo/operation/bulk_failure.hpp"
#include "core/mongo/operation/bulk_plan.hpp"
#include "core/mongo/operation/draft.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {
namespace {

using holdfast::mongo::bulk_write_options;
using holdfast::mongo::bulk_write_result;
using holdfast::mongo::id_value;
using holdfast::mongo::insert_many_result;
using holdfast::mongo::write_failure;
using holdfast::mongo::details::write_list;

constexpr std::size_t kinds = 3;
constexpr std::array<std::string_view, kinds> command_names = {"insert", "update", "delete"};
constexpr std::array<std::string_view, kinds> sequence_names = {"documents", "updates", "deletes"};

constexpr std::size_t number(statement_kind kind) noexcept
{
    return static_cast<std::size_t>(kind);
}

error unaccounted_inserts(std::size_t sent, std::size_t stored, std::size_t refused)
{
    return error{errc::incomplete_reply,
                 "of " + std::to_string(sent) + " documents the server has stored " +
                     std::to_string(stored) + " and refused " + std::to_string(refused) +
                     "; what became of the others, and which they are, is unclear"};
}

class writes_in_turn final : public collection_writes, private command_load {
public:
    writes_in_turn(write_list list, bool ordered)
        : plan_{std::move(list), ordered}, ordered_{ordered}
    {
    }

    result<void> prepare(const operation_space& space, const bulk_write_options& options);
    command* next() override;
    void done(result<bson::document> outcome) override;
    result<bulk_write_result> finish() override;
    result<insert_many_result> finish_inserts() override;

private:
    struct range {
        std::size_t begin;
        std::size_t end;
    };

    result<command> make_command(statement_kind kind, const operation_space& space,
                                 const bulk_write_options& options);
    bool is_eligible(const connection_description& limits) override;
    result<void> write(message_builder& to, const connection_description& limits) override;
    result<std::size_t> measure(std::size_t room, const connection_description& limits) const;
    void merge(bson::view reply);
    void merge_upserted(const bson::element& list);
    void merge_errors(const bson::element& list);
    void merge_inserted(std::int64_t n, std::size_t refused);
    bulk_write_result counts();
    error failed();

    /// A place in the last batch, as the server counts them.
    std::size_t position_of(const bson::element& in_batch) const
    {
        const std::int64_t place = std::max<std::int64_t>(number_or(in_batch, 0), 0);
        return std::min(begin_ + static_cast<std::size_t>(place), end_ - 1);
    }
    /// ... and the same in the application's list.
    std::int64_t index_of(std::size_t position) const
    {
        return static_cast<std::int64_t>(plan_.index_of(position));
    }
    const bulk_plan::group& current() const noexcept { return plan_.groups()[group_]; }

    const bulk_plan plan_;
    const bool ordered_;
    bool acknowledged_ = true;
    std::array<command, kinds> commands_;  // as those of each kind begin

    std::size_t group_ = 0;
    std::size_t begin_ = 0;  // of the batch
    std::size_t end_ = 0;  // the same: not decided yet
    batch_eligibility<const bulk_plan> eligibility_{plan_};
    command current_;
    bool sent_ = false;
    bool stopped_ = false;

    bulk_write_result total_;
    std::vector<range> inserted_;  // positions, among which those of write errors do not count
    bulk_failure failure_;
};

result<void> writes_in_turn::prepare(const operation_space& space,
                                     const bulk_write_options& options)
{
    std::array<bool, kinds> has{};
    for (const bulk_plan::group& one : plan_.groups()) {
        if (std::exchange(has[number(one.kind)], true))
            continue;
        auto made = make_command(one.kind, space, options);
        if (!made)
            return std::move(made).error();
        acknowledged_ = made->acknowledged;
        commands_[number(one.kind)] = *std::move(made);
    }
    // The refusal of a hint by an old server would go unnoticed.
    if (!acknowledged_ && plan_.has_hint(statement_kind::update))
        commands_[number(statement_kind::update)].need = {8, "a hint in an update"};
    if (!acknowledged_ && plan_.has_hint(statement_kind::remove))
        commands_[number(statement_kind::remove)].need = {9, "a hint in a delete"};
    return {};
}

result<command> writes_in_turn::make_command(statement_kind kind, const operation_space& space,
                                             const bulk_write_options& options)
{
    draft made{space, command_names[number(kind)], options.let ? options.let->size() : 0};
    made.body.put("ordered", options.ordered);
    if (kind != statement_kind::remove)
        made.put("bypassDocumentValidation", options.bypass_document_validation);
    if (kind != statement_kind::insert)
        made.put("let", options.let);
    options.comment.write(made.body, "comment");
    if (auto put = put_write_concern(made.body, made.to, space, options.write_concern); !put)
        return std::move(put).error();
    made.limit(options.timeout);
    made.to.raw_data = options.raw_data;
    made.to.kind = retry_kind::write;
    made.to.load = this;
    return made.finish();
}

command* writes_in_turn::next()
{
    if (stopped_ || begin_ == plan_.size())
        return nullptr;
    const bulk_plan::group& from = current();
    current_ = commands_[number(from.kind)];
    end_ = begin_;
    current_.eligible = eligibility_.start(begin_, from.end, acknowledged_,
                                           from.kind != statement_kind::insert);
    return &current_;
}

bool writes_in_turn::is_eligible(const connection_description& limits)
{
    return eligibility_.on(limits);
}

/// Where the batch ends on a connection that leaves it so much room.
result<std::size_t> writes_in_turn::measure(std::size_t room,
                                            const connection_description& limits) const
{
    const std::size_t count = batch_limits{limits}.writes;
    auto limit = static_cast<std::size_t>(std::max(limits.max_bson_object_size, 0));
    if (current().kind != statement_kind::insert)
        limit += statement_allowance;
    limit = std::min(limit, room);
    const std::size_t end = std::max(plan_.fits(begin_, eligibility_.end(), room, count),
                                     begin_ + 1);
    const std::size_t bad = plan_.too_large(begin_, end, limit);
    if (bad == end) [[likely]]
        return end;
    const std::string size = std::to_string(plan_.statement(bad).size());
    return unfit_write(errc::message_too_large, plan_.index_of(bad),
                       size + " bytes are more than the " + std::to_string(limit) +
                           " that the server takes; nothing of its batch was sent");
}

result<void> writes_in_turn::write(message_builder& to, const connection_description& limits)
{
    const std::string_view name = sequence_names[number(current().kind)];
    if (end_ == begin_) {
        // The end of the body, the sequence's own bytes, and a checksum.
        const std::size_t used = to.size() + 1 + (1 + 4 + name.size() + 1) + 4;
        const std::size_t all = batch_limits{limits}.bytes;
        auto end = measure(all > used ? all - used : 0, limits);
        if (!end)
            return std::move(end).error();
        end_ = *end;
        eligibility_.written(limits);
    }
    sent_ = true;
    auto sequence = to.sequence(name);
    plan_.write(sequence, begin_, end_);
    return {};
}

void writes_in_turn::done(result<bson::document> outcome)
{
    if (end_ == begin_)
        end_ = eligibility_.end();
    const auto reply = failure_.take(std::move(outcome));
    if (!reply) {
        stopped_ = true;
        return;
    }
    if (acknowledged_)
        merge(reply->view());
    begin_ = end_;
    if (begin_ == current().end)
        ++group_;
}

void writes_in_turn::merge(bson::view reply)
{
    std::int64_t n = 0;
    const std::int64_t upserted_before = total_.upserted_count;
    const std::size_t failed_before = failure_.write_errors().size();
    for (const bson::element& one : reply) {
        const std::string_view key = one.key();
        if (key == "n")
            n = number_or(one, 0);
        else if (key == "nModified")
            total_.modified_count += number_or(one, 0);
        else if (key == "upserted")
            merge_upserted(one);
        else if (key == "writeErrors")
            merge_errors(one);
    }
    stopped_ = ordered_ && failure_.write_errors().size() != failed_before;
    switch (current().kind) {
    case statement_kind::insert:
        merge_inserted(n, failure_.write_errors().size() - failed_before);
        break;
    case statement_kind::update:
        // The server counts what it has made among what has matched.
        total_.matched_count += n - (total_.upserted_count - upserted_before);
        break;
    case statement_kind::remove:
        total_.deleted_count += n;
        break;
    }
}

void writes_in_turn::merge_inserted(std::int64_t n, std::size_t refused)
{
    total_.inserted_count += n;
    const auto stored = static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
    // Servers before 5.0 may leave out documents that they have refused, if an unordered insert is
    // retried and its last document was stored before. That is no success, and their places are
    // unknown.
    if (!ordered_ && stored + refused < end_ - begin_) {
        failure_.end_unread(unaccounted_inserts(end_ - begin_, stored, refused));
        stopped_ = true;
        return;
    }
    // If the order counts, those behind the first failure were not tried.
    inserted_.push_back({begin_, stopped_ ? std::min(end_, begin_ + stored) : end_});
}

void writes_in_turn::merge_upserted(const bson::element& list)
{
    if (list.type() != bson::type::array)
        return;
    for (const bson::element& one : list.as_array()) {
        if (one.type() != bson::type::document)
            continue;
        ++total_.upserted_count;
        const bson::element id = one.as_document().find("_id");
        if (id)
            total_.upserted_ids.emplace(index_of(position_of(one.as_document().find("index"))),
                                        id_value{id});
    }
}

void writes_in_turn::merge_errors(const bson::element& list)
{
    if (list.type() != bson::type::array)
        return;
    for (const bson::element& one : list.as_array()) {
        if (one.type() != bson::type::document)
            continue;
        const std::size_t position = position_of(one.as_document().find("index"));
        failure_.add_write_error(index_of(position), one.as_document(), plan_.is_multi(position));
    }
}

bulk_write_result writes_in_turn::counts()
{
    total_.acknowledged = acknowledged_;
    for (const range& some : inserted_) {
        for (std::size_t i = some.begin; i < some.end; ++i)
            total_.inserted_ids.emplace(static_cast<std::int64_t>(plan_.index_of(i)),
                                        id_value{plan_.statement(i).find("_id")});
    }
    for (const auto& refused : failure_.write_errors())
        total_.inserted_ids.erase(refused.index);
    return std::move(total_);
}

error writes_in_turn::failed()
{
    if (!sent_ && failure_.has_ended())
        return std::move(failure_).plain();
    auto failed_detail = std::make_shared<write_failure>();
    failed_detail->partial_result = counts();
    return std::move(failure_).as_error(std::move(failed_detail));
}

result<bulk_write_result> writes_in_turn::finish()
{
    if (failure_.is_any())
        return failed();
    return counts();
}

result<insert_many_result> writes_in_turn::finish_inserts()
{
    if (failure_.is_any())
        return failed();
    insert_many_result given;
    given.inserted_count = total_.inserted_count;
    given.acknowledged = acknowledged_;
    given.inserted_ids.reserve(plan_.size());
    for (std::size_t i = 0; i < plan_.size(); ++i)
        given.inserted_ids.add_from(plan_.statement(i));
    return given;
}

}  // namespace

result<std::unique_ptr<collection_writes>> collection_writes::make(
    const operation_space& space, write_list list, const bulk_write_options& options,
    id_source& ids)
{
    if (auto good = check_writes(list); !good)
        return std::move(good).error();
    give_ids(list, ids);
    auto made = std::make_unique<writes_in_turn>(std::move(list), options.ordered);
    if (auto ready = made->prepare(space, options); !ready)
        return std::move(ready).error();
    return result<std::unique_ptr<collection_writes>>{std::move(made)};
}

}  // namespace holdfast::core::mongo
