#include "lab/mongo/command/scan.hpp"

#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

bool is_junction(std::string_view name) noexcept
{
    return name == "$and" || name == "$or" || name == "$nor";
}

}  // namespace

scan::scan(const collection& in, const matcher* filter, read_time at, int natural)
    : in_{&in}, filter_{filter}, at_{at}, backwards_{natural < 0}
{
    if (filter_ && natural == 0 && !at_)
        choose_index();
}

void scan::choose_index()
{
    for (const bson::element& e : filter_->equalities()) {
        const bson::element value = filter_->equality(e.key());
        if (!value)
            continue;
        if (e.key() == "_id" && !in_->options().without_ids) {
            index_path_ = "_id";
            if (const auto found = in_->find_by_id(value))
                candidates_.assign(1, found->id);
            return;
        }
        if (index_path_.empty() && in_->has_index_on(e.key()))
            index_path_ = e.key();
    }
    if (!index_path_.empty())
        candidates_ = in_->find_equal(index_path_, filter_->equality(index_path_));
}

std::optional<record> scan::step()
{
    if (index_path_.empty())
        return backwards_ ? in_->previous(last_, at_) : in_->next(last_, at_);
    while (next_candidate_ != candidates_.size()) {
        if (auto found = in_->find(candidates_[next_candidate_++], at_))
            return found;
    }
    return std::nullopt;
}

result<std::optional<record>> scan::next(match_details* details)
{
    while (auto found = step()) {
        last_ = found->id;
        if (!filter_)
            return found;
        if (details)
            *details = {};
        auto matched = filter_->matches(found->document, details);
        if (!matched)
            return std::move(matched).error();
        if (*matched)
            return found;
    }
    return std::optional<record>{};
}

bson::element sole_id(bson::view filter) noexcept
{
    auto at = filter.begin();
    if (at == filter.end() || at->key() != "_id")
        return {};
    const bson::element id = *at;
    if (++at != filter.end())
        return {};
    switch (id.type()) {
    case bson::type::int32:
    case bson::type::int64:
    case bson::type::double_:
    case bson::type::string:
    case bson::type::object_id:
    case bson::type::binary:
    case bson::type::boolean:
    case bson::type::datetime:
        return id;
    default:
        return {};
    }
}

read_time read_time_of(const node& on, const request& what)
{
    if (what.reads.at_cluster_time)
        return what.reads.at_cluster_time;
    if (what.reads.level != "snapshot" && what.reads.level != "majority")
        return std::nullopt;
    if (!on.member->in_set())
        return std::nullopt;  // what it has is all that there is
    const bson::timestamp committed = on.member->committed().ts;
    const bson::timestamp last = on.data->last().ts;
    if (what.reads.level == "majority")
        return committed < last ? read_time{committed} : std::nullopt;
    return committed == bson::timestamp{} ? last : committed;
}

result<hinted> read_hint(const collection* in, const bson::element& hint)
{
    hinted chosen;
    if (!hint)
        return chosen;
    if (hint.type() == bson::type::document) {
        if (hint.as_document().empty())
            return chosen;
        chosen.natural = natural_of(hint.as_document());
        if (chosen.natural != 0)
            return chosen;
    } else if (hint.type() != bson::type::string) {
        return refuse(server_code::failed_to_parse, "Hint must be a string or an object");
    }
    if (!in)
        return chosen;
    chosen.index = hint.type() == bson::type::string ? in->index_named(hint.as_string())
                                                     : in->index_with_key(hint.as_document());
    if (!chosen.index || chosen.index->hidden) {
        return refuse(server_code::bad_value,
                      "error processing query: ns=" + in->ns() +
                          " planner returned error :: caused by :: hint provided does not "
                          "correspond to an existing index");
    }
    return chosen;
}

int natural_of(bson::view sort) noexcept
{
    const bson::element order = sort.find("$natural");
    const auto number = order ? as_number(order) : std::nullopt;
    if (!number)
        return 0;
    return *number < 0 ? -1 : 1;
}

result<std::optional<collation>> collation_for(const collection* in, const bson::element& given)
{
    if (!given && in)
        return in->options().order;
    return read_collation(given);
}

result<std::optional<found_record>> first_match(const collection& in, const matcher& filter,
                                                bson::view sort, const std::optional<collation>& by,
                                                int natural)
{
    std::optional<found_record> best;
    std::vector<value> best_key;
    if (const int requested = natural_of(sort); requested != 0) {
        natural = requested;
        sort = {};
    }
    auto order = sort_pattern::compile(sort, by);
    if (!order)
        return std::move(order).error();
    scan all{in, &filter, {}, natural};
    for (;;) {
        match_details details;
        auto found = all.next(&details);
        if (!found)
            return std::move(found).error();
        if (!*found)
            return best;
        if (order->empty()) {
            best.emplace(found_record{**found, std::move(details)});
            return best;
        }
        auto key = order->key_of((*found)->document);
        if (best && order->compare(key, best_key) >= 0)
            continue;
        best.emplace(found_record{**found, std::move(details)});
        best_key = std::move(key);
    }
}

bool asks_where(bson::view filter, int depth)
{
    for (const bson::element& e : filter) {
        if (!e.key().starts_with('$'))
            continue;
        if (e.key() == "$where")
            return true;
        if (e.type() != bson::type::array || !is_junction(e.key()))
            continue;
        for (const bson::element& part : e.as_array()) {
            if (part.type() == bson::type::document && depth < bson::max_depth &&
                asks_where(part.as_document(), depth + 1))
                return true;
        }
    }
    return false;
}

void sleeps::add(const matcher& filter, const collection* in, bool all_of_them)
{
    const std::size_t each = std::min<std::size_t>(filter.sleeps_ms(), 600'000);
    if (each == 0 || !in)
        return;
    const std::size_t documents = std::min<std::size_t>(in->count(), all_of_them ? 1000 : 1);
    constexpr std::chrono::milliseconds longest = std::chrono::hours{1000};
    total_ = std::min(longest, total_ + std::chrono::milliseconds{each * documents});
}

void sleeps::add(bson::view filter, const collection* in, bool all_of_them)
{
    if (!in || !asks_where(filter))
        return;
    if (const auto compiled = matcher::compile(filter))
        add(*compiled, in, all_of_them);
}

result<bool> sleeps::over(const node& on, request& what) const
{
    if (total_ == std::chrono::milliseconds{0})
        return true;
    auto total = total_;
    const bool limited = what.max_time_ms && *what.max_time_ms > 0 &&
                         std::chrono::milliseconds{*what.max_time_ms} < total;
    if (limited)
        total = std::chrono::milliseconds{*what.max_time_ms};
    what.wait_until = what.arrived + total;
    if (!what.expired && on.now() < what.wait_until)
        return false;
    if (limited)
        return refuse(server_code::max_time_ms_expired, "operation exceeded time limit");
    return true;
}

result<bool> has_slept(const node& on, request& what, const matcher& filter, const collection* in)
{
    sleeps all;
    all.add(filter, in);
    return all.over(on, what);
}

}  // namespace holdfast::lab::mongo
