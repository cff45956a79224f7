#include "lab/mongo/command/views.hpp"

#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/stats.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr int deepest_view = 20;
constexpr std::size_t most_bytes = std::size_t{512} << 20;  // that one command reads into memory

// The node, as stages see it.
class host final : public pipeline_host {
public:
    host(node& on, std::string_view ns, const expression_context& context, int depth)
        : on_{on}, ns_{ns}, context_{context}, depth_{depth}
    {
    }

    result<documents> read(std::string_view database, std::string_view collection) override
    {
        auto ns = namespace_text::join(database.empty() ? database_of(ns_) : database, collection);
        if (!ns)
            return std::move(ns).error();
        if (depth_ > deepest_view)
            return refuse(165, "View depth too deep or view cycle detected");
        auto view = resolve_view(on_, *ns);
        if (!view)
            return std::move(view).error();
        const std::optional<lab::collation> simple;
        if (!*view) {
            const lab::collection* const there = std::as_const(on_.data->data()).find(*ns);
            if (!there)
                return documents{};
            return read_collection(*there, {}, simple, {}, context_);
        }
        auto stages = pipeline::compile((*view)->stages, true, (*view)->order, context_);
        if (!stages)
            return std::move(stages).error();
        const lab::collection* const there = std::as_const(on_.data->data()).find((*view)->ns);
        documents input;
        if (there) {
            auto all = read_collection(*there, {}, simple, {}, context_);
            if (!all)
                return all;
            input = *std::move(all);
        }
        host inner{on_, (*view)->ns, context_, depth_ + 1};
        return stages->run(std::move(input), inner);
    }
    documents local_sessions() override { return local_sessions_of(on_); }
    documents current_operations() override { return current_operations_of(on_); }
    documents collection_stats(bson::view spec) override
    {
        return collection_stats_of(on_, ns_, spec);
    }
    documents index_stats() override { return index_stats_of(on_, ns_); }

private:
    node& on_;
    std::string ns_;
    const expression_context& context_;
    int depth_;
};

}  // namespace

result<std::optional<resolved_view>> resolve_view(const node& on, std::string_view ns)
{
    const catalog& all = std::as_const(on.data->data());
    const collection* there = all.find(ns);
    if (!there || there->options().view_on.empty())
        return std::optional<resolved_view>{};
    resolved_view found;
    found.order = there->options().order;
    const std::string database{database_of(ns)};
    for (int depth = 0; there && !there->options().view_on.empty(); ++depth) {
        if (depth == deepest_view)
            return refuse(165, "View depth too deep or view cycle detected; maximum depth is 20");
        found.ns = database + "." + there->options().view_on;
        found.stages = joined(bson::array_view{there->options().pipeline.view()}, found.stages);
        there = all.find(found.ns);
    }
    return std::optional<resolved_view>{std::move(found)};
}

bson::array joined(bson::array_view first, bson::array_view second)
{
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (const bson::element& e : first)
        out.copy(e);
    for (const bson::element& e : second)
        out.copy(e);
    if (!out.finish())
        return {};
    return bson::array::adopt(std::move(bytes));
}

bson::array stages_of(bson::view filter, bson::view sort, std::int64_t skip, std::int64_t limit,
                      bson::view projection)
{
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    if (!filter.empty())
        out.add(bson::object("$match", filter));
    if (!sort.empty() && natural_of(sort) == 0)
        out.add(bson::object("$sort", sort));
    if (skip > 0)
        out.add(bson::object("$skip", skip));
    if (limit > 0)
        out.add(bson::object("$limit", limit));
    if (!projection.empty())
        out.add(bson::object("$project", projection));
    if (!out.finish())
        return {};
    return bson::array::adopt(std::move(bytes));
}

result<documents> read_collection(const collection& in, bson::view filter,
                                  const std::optional<collation>& by, read_time at,
                                  const expression_context& context)
{
    std::optional<matcher> chosen;
    if (!filter.empty()) {
        auto compiled = matcher::compile(filter, by, context);
        if (!compiled)
            return std::move(compiled).error();
        chosen.emplace(*std::move(compiled));
    }
    documents found;
    std::size_t bytes = 0;
    scan all{in, chosen ? &*chosen : nullptr, at};
    for (;;) {
        auto one = all.next();
        if (!one)
            return std::move(one).error();
        if (!*one)
            return found;
        bytes += (*one)->document.size();
        if (bytes > most_bytes) {
            return refuse(server_code::query_exceeded_memory_limit,
                          "the documents that the command reads exceed 512 MB of memory");
        }
        found.emplace_back((*one)->document);
    }
}

result<pipeline_output> run_pipeline(node& on, const pipeline_run& what,
                                     const expression_context& context)
{
    auto view = what.on_collection ? resolve_view(on, what.ns) : std::optional<resolved_view>{};
    if (!view)
        return std::move(view).error();
    const std::string ns{*view ? std::string_view{(*view)->ns} : what.ns};
    const collection* const in = std::as_const(on.data->data()).find(ns);
    auto by = what.collation ? read_collation(what.collation)
                             : (*view ? (*view)->order
                                : in  ? in->options().order
                                      : std::optional<collation>{});
    if (!by)
        return std::move(by).error();
    if (auto fine = read_hint(in, what.hint); !fine)
        return std::move(fine).error();
    const bson::array all = *view ? joined((*view)->stages, what.stages) : bson::array{what.stages};
    auto stages = pipeline::compile(all, what.on_collection, *by, context);
    if (!stages)
        return std::move(stages).error();
    pipeline_output made;
    if (stages->out())
        made.out = *stages->out();
    if (stages->merge())
        made.merge = *stages->merge();
    documents input;
    if (in && !stages->has_own_source()) {
        const bson::document filter = stages->leading_match();
        auto read = read_collection(*in, filter, *by, what.at, context);
        if (!read)
            return std::move(read).error();
        input = *std::move(read);
    }
    host inner{on, ns, context, 0};
    auto results = stages->run(std::move(input), inner);
    if (!results)
        return std::move(results).error();
    made.results = *std::move(results);
    return made;
}

}  // namespace holdfast::lab::mongo
