#include "lab/mongo/command/find_source.hpp"

#include "lab/mongo/command/cursors.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/sort_pattern.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr std::size_t most_sort_bytes = std::size_t{256} << 20;

const matcher* filter_of(const find_plan& plan) noexcept
{
    return plan.all_match || !plan.filter ? nullptr : &*plan.filter;
}

// The document as the client wants it; `from` itself if nothing is to be changed.
result<bson::view> shaped(const find_plan& plan, const record& from, bson::document& into)
{
    bson::view made = from.document;
    if (plan.return_key) {
        bson::byte_buffer bytes;
        bson::builder key{bytes};
        for (const bson::element& e : plan.index_key) {
            if (const bson::element there = made.find_path(e.key()))
                key.copy(e.key(), there);
        }
        if (auto done = key.finish(); !done)
            return refuse(server_code::internal_error, done.error().message());
        into = bson::document::adopt(std::move(bytes));
        made = into;
    } else if (plan.shape && !plan.shape->keeps_everything()) {
        auto applied = plan.shape->apply(made);
        if (!applied)
            return std::move(applied).error();
        into = *std::move(applied);
        made = into;
    }
    if (plan.show_record_id) {
        bson::byte_buffer bytes;
        bson::builder with_id{bytes};
        with_id.merge(made).add("$recordId", std::int64_t{from.id});
        if (auto done = with_id.finish(); !done)
            return refuse(server_code::internal_error, done.error().message());
        into = bson::document::adopt(std::move(bytes));
        made = into;
    }
    return made;
}

// min and max: whether the document's key lies between them.
class bounds {
public:
    static result<bounds> make(const find_plan& plan)
    {
        bounds made;
        if (plan.min.empty() && plan.max.empty())
            return made;
        auto order = sort_pattern::compile(plan.index_key, plan.by);
        if (!order)
            return std::move(order).error();
        made.order_.emplace(*std::move(order));
        if (!plan.min.empty())
            made.min_ = made.order_->key_of(plan.min);
        if (!plan.max.empty())
            made.max_ = made.order_->key_of(plan.max);
        return made;
    }
    bool holds(bson::view document) const
    {
        if (!order_)
            return true;
        const auto key = order_->key_of(document);
        return (min_.empty() || order_->compare(key, min_) >= 0) &&
               (max_.empty() || order_->compare(key, max_) < 0);
    }

private:
    std::optional<sort_pattern> order_;
    std::vector<value> min_;
    std::vector<value> max_;
};

class collection_source final : public document_source {
public:
    collection_source(node& on, const collection& in, std::unique_ptr<find_plan> plan, bounds range)
        : on_{on},
          ns_{in.ns()},
          uuid_{in.uuid()},
          plan_{std::move(plan)},
          range_{std::move(range)},
          walk_{in, filter_of(*plan_), plan_->at, plan_->natural},
          in_{&in}
    {
    }

    result<void> refresh() override
    {
        const collection* const now = std::as_const(on_.data->data()).find(ns_);
        if (!now || now->uuid() != uuid_) {
            return refuse(175, "collection dropped. UUID " + uuid_.to_string());
        }
        if (plan_->at && *plan_->at < on_.data->history_from())
            return refuse(239, "the snapshot that this cursor reads is no longer available");
        in_ = now;
        walk_.rebind(*now);
        // A reader of a capped collection that was overtaken has missed something.
        if (plan_->tailable && walk_.position() != 0 && !now->find(walk_.position()) &&
            now->next(0)) {
            return refuse(136,
                          "CollectionScan died due to position in capped collection being "
                          "deleted. Last seen record id: RecordId(" +
                              std::to_string(walk_.position()) + ")");
        }
        return {};
    }

    result<std::optional<bson::view>> next() override
    {
        while (!ended()) {
            auto found = walk_.next();
            if (!found)
                return std::move(found).error();
            if (!*found)
                break;
            if (!range_.holds((*found)->document))
                continue;
            if (skipped_ < plan_->skip) {
                ++skipped_;
                continue;
            }
            ++given_;
            auto made = shaped(*plan_, **found, made_);
            if (!made)
                return std::move(made).error();
            return std::optional<bson::view>{*made};
        }
        return std::optional<bson::view>{};
    }

    bool ended() const noexcept override { return plan_->limit > 0 && given_ >= plan_->limit; }
    bool tailable() const noexcept override { return plan_->tailable; }

private:
    node& on_;
    std::string ns_;
    bson::uuid uuid_;
    std::unique_ptr<find_plan> plan_;
    bounds range_;
    scan walk_;
    const collection* in_;
    std::int64_t skipped_ = 0;
    std::int64_t given_ = 0;
    bson::document made_;
};

struct sortable {
    std::vector<value> key;
    record_id id;
    std::size_t place;  // in which it was found: equal keys keep that order
    bson::document document;
};

// Reads and sorts everything now: what comes later does not change it.
result<documents> sorted(const collection& in, const find_plan& plan, const bounds& range)
{
    auto order = sort_pattern::compile(plan.sort, plan.by);
    if (!order)
        return std::move(order).error();
    std::vector<sortable> all;
    std::size_t bytes = 0;
    scan walk{in, filter_of(plan), plan.at, plan.natural};
    for (;;) {
        auto found = walk.next();
        if (!found)
            return std::move(found).error();
        if (!*found)
            break;
        if (!range.holds((*found)->document))
            continue;
        bytes += (*found)->document.size();
        if (bytes > most_sort_bytes) {
            return refuse(server_code::query_exceeded_memory_limit,
                          "Sort exceeded memory limit of " + std::to_string(most_sort_bytes) +
                              " bytes");
        }
        all.push_back({order->key_of((*found)->document), (*found)->id, all.size(),
                       bson::document{(*found)->document}});
    }
    std::ranges::sort(all, [&](const sortable& a, const sortable& b) {
        const auto keys = order->compare(a.key, b.key);
        return keys != 0 ? keys < 0 : a.place < b.place;
    });
    const auto from = std::min<std::size_t>(all.size(), static_cast<std::size_t>(plan.skip));
    auto to = all.size();
    if (plan.limit > 0)
        to = std::min(to, from + static_cast<std::size_t>(plan.limit));
    documents made;
    made.reserve(to - from);
    for (std::size_t i = from; i != to; ++i) {
        bson::document changed;
        auto one = shaped(plan, {all[i].id, all[i].document}, changed);
        if (!one)
            return std::move(one).error();
        made.push_back(changed.empty() && !one->empty() ? std::move(all[i].document)
                                                        : std::move(changed));
    }
    return made;
}

}  // namespace

result<std::unique_ptr<document_source>> make_source(node& on, const collection& in,
                                                     std::unique_ptr<find_plan> plan)
{
    auto range = bounds::make(*plan);
    if (!range)
        return std::move(range).error();
    if (plan->sort.empty()) {
        return std::unique_ptr<document_source>{
            std::make_unique<collection_source>(on, in, std::move(plan), *std::move(range))};
    }
    auto all = sorted(in, *plan, *range);
    if (!all)
        return std::move(all).error();
    return std::unique_ptr<document_source>{
        std::make_unique<documents_source>(*std::move(all), true)};
}

}  // namespace holdfast::lab::mongo
