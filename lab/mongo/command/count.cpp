#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/views.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/value.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule count_rules[] = {
    {"query", kind::document},
    {"limit", kind::number},
    {"skip", kind::count},
    {"hint", kind::text_or_document},
    {"collation", kind::document},
    {"fields", kind::ignored},
    {"encryptionInformation", kind::ignored},
    {"includeQueryStatsMetrics", kind::ignored},
};

constexpr field_rule distinct_rules[] = {
    {"key", kind::text, true},
    {"query", kind::document},
    {"collation", kind::document},
    {"hint", kind::text_or_document, false, 701},
    {"includeQueryStatsMetrics", kind::ignored},
};

result<documents> matching(node& on, request& what, const namespace_text& ns, bson::view filter,
                           const bson::element& by, const bson::element& hint)
{
    auto context = context_of(on);
    if (!context)
        return std::move(context).error();
    const bson::array stages = stages_of(filter, {}, 0, 0, {});
    const pipeline_run run{
        .ns = ns, .stages = stages, .collation = by, .hint = hint, .at = read_time_of(on, what)};
    auto made = run_pipeline(on, run, *context);
    if (!made)
        return std::move(made).error();
    return std::move(made->results);
}

bool is_index(std::string_view part, std::size_t& index) noexcept
{
    const auto [end, bad] = std::from_chars(part.data(), part.data() + part.size(), index);
    return bad == std::errc{} && end == part.data() + part.size();
}

// All values at a path, through arrays on the way; an array at its end counts by its elements.
class distinct_values {
public:
    explicit distinct_values(const std::optional<collation>& by)
        : by_{by}, seen_{value_less{by_ ? &*by_ : nullptr}}
    {
    }

    void collect(bson::view from, std::string_view path, int depth = 0)
    {
        if (depth > bson::max_depth)
            return;
        const std::size_t dot = path.find('.');
        const bson::element e = from.find(path.substr(0, dot));
        if (!e)
            return;
        if (dot == path.npos)
            return at_end(e);
        into(e, path.substr(dot + 1), depth + 1);
    }
    std::size_t bytes() const noexcept { return bytes_; }

    /// In their order, as servers do.
    void write(bson::array_builder& to) const
    {
        for (const value& one : seen_)
            to.copy(one.get());
    }

private:
    void into(const bson::element& e, std::string_view rest, int depth)
    {
        if (e.type() == bson::type::document)
            return collect(e.as_document(), rest, depth);
        if (e.type() != bson::type::array)
            return;
        for (const bson::element& inner : e.as_array()) {
            if (inner.type() == bson::type::document)
                collect(inner.as_document(), rest, depth);
        }
        std::size_t index = 0;
        if (is_index(rest.substr(0, rest.find('.')), index))
            collect(e.as_array().as_document(), rest, depth);
    }
    void at_end(const bson::element& e)
    {
        if (e.type() != bson::type::array)
            return add(e);
        for (const bson::element& inner : e.as_array()) {
            if (inner)
                add(inner);
        }
    }
    void add(const bson::element& e)
    {
        if (bytes_ <= largest_document && seen_.insert(value{e}).second)
            bytes_ += e.bytes().size() + 8;
    }

    std::optional<collation> by_;
    std::set<value, value_less> seen_;
    std::size_t bytes_ = 0;
};

}  // namespace

result<progress> run_count(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<count_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [f, ns] = *opened;
    const collection* const in = std::as_const(on.data->data()).find(ns);
    std::size_t count = 0;
    const bool simple = in && in->options().view_on.empty();
    if (simple && f.document("query").empty() && !f.has("hint") && !read_time_of(on, what)) {
        count = in->count();
    } else {
        auto context = context_of(on);
        auto by = collation_for(in, f["collation"]);
        if (!context || !by)
            return context ? std::move(by).error() : std::move(context).error();
        auto filter = matcher::compile(f.document("query"), *by, *context);
        if (!filter)
            return std::move(filter).error();
        auto over = has_slept(on, what, *filter, in);
        if (!over)
            return std::move(over).error();
        if (!*over)
            return progress::wait;
        auto found = matching(on, what, ns, f.document("query"), f["collation"], f["hint"]);
        if (!found)
            return std::move(found).error();
        count = found->size();
    }
    count -= std::min(count, static_cast<std::size_t>(f.number("skip")));
    std::int64_t limit = f.number("limit");
    if (limit < 0)  // as old drivers wrote it
        limit = limit == std::numeric_limits<std::int64_t>::min() ? 0 : -limit;
    if (limit > 0)
        count = std::min(count, static_cast<std::size_t>(limit));
    reply.add("n", static_cast<std::int32_t>(count));
    return progress::done;
}

result<progress> run_distinct(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<distinct_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [f, ns] = *opened;
    if (f.text("key").empty() || f.text("key").find('\0') != std::string_view::npos)
        return refuse(server_code::bad_value, "The key of a distinct must be a field's path");
    auto by = collation_for(std::as_const(on.data->data()).find(ns), f["collation"]);
    if (!by)
        return std::move(by).error();
    sleeps cost;
    cost.add(f.document("query"), std::as_const(on.data->data()).find(ns));
    auto over = cost.over(on, what);
    if (!over)
        return std::move(over).error();
    if (!*over)
        return progress::wait;
    auto found = matching(on, what, ns, f.document("query"), f["collation"], f["hint"]);
    if (!found)
        return std::move(found).error();
    distinct_values all{*by};
    for (const bson::document& one : *found)
        all.collect(one, f.text("key"));
    if (all.bytes() > largest_document)
        return refuse(17217, "distinct too big, 16mb cap");
    {
        auto values = reply.array("values");
        all.write(values);
    }
    if (what.reads.level == "snapshot") {
        if (const read_time at = read_time_of(on, what))
            reply.add("atClusterTime", *at);
    }
    return progress::done;
}

}  // namespace holdfast::lab::mongo
