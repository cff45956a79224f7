#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/cursors.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/find_source.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/views.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule find_rules[] = {
    {"filter", kind::document},
    {"sort", kind::document},
    {"projection", kind::document},
    {"hint", kind::text_or_document},
    {"skip", kind::count},
    {"limit", kind::number},
    {"batchSize", kind::count},
    {"singleBatch", kind::boolean},
    {"max", kind::document},
    {"min", kind::document},
    {"returnKey", kind::boolean},
    {"showRecordId", kind::boolean},
    {"tailable", kind::boolean},
    {"awaitData", kind::boolean},
    {"oplogReplay", kind::boolean},
    {"noCursorTimeout", kind::boolean},
    {"allowPartialResults", kind::boolean},
    {"allowDiskUse", kind::boolean, false, 404},
    {"collation", kind::document},
    {"let", kind::document, false, 500},
    {"term", kind::ignored},
    {"encryptionInformation", kind::ignored},
    {"includeQueryStatsMetrics", kind::ignored},
    {"querySettings", kind::ignored},
};
using find_fields = fields<find_rules>;

read_time reported_time(const request& what, read_time at)
{
    return what.reads.level == "snapshot" ? at : read_time{};
}

opening opening_of(const find_fields& f, std::string_view ns)
{
    opening made;
    made.ns = ns;
    made.batch_size = f.number("batchSize", first_batch_documents);
    made.single_batch = f.flag("singleBatch") || f.number("limit") < 0;
    made.tailable = f.flag("tailable");
    made.await_data = f.flag("awaitData");
    made.no_timeout = f.flag("noCursorTimeout");
    return made;
}

result<void> check_fields(const node& on, const find_fields& f)
{
    if (f.number("limit") < 0) {
        return refuse(51024, "BSON field 'limit' value must be >= 0, actual value '" +
                                 std::to_string(f.number("limit")) + "'");
    }
    if (f.flag("awaitData") && !f.flag("tailable"))
        return refuse(server_code::failed_to_parse,
                      "Cannot set 'awaitData' without also setting 'tailable'");
    if (f.flag("tailable") && !f.document("sort").empty() && natural_of(f.document("sort")) != 1)
        return refuse(server_code::bad_value,
                      "cannot use tailable option with a sort other than {$natural: 1}");
    if (f.flag("tailable") && f.flag("singleBatch"))
        return refuse(server_code::bad_value,
                      "cannot use tailable option with the 'singleBatch' "
                      "option");
    if ((f.has("min") || f.has("max")) && !f.has("hint") && version_number(on) >= 402)
        return refuse(51173,
                      "When using min()/max() a hint of which index to use must be "
                      "provided");
    return {};
}

// Equality on _id and nothing else worth a plan. True: the reply is written.
bool found_by_id(const node& on, const request& what, const find_fields& f, const collection* in,
                 const namespace_text& ns, bson::builder& reply)
{
    const bson::element id = sole_id(f.document("filter"));
    const auto is_plain = [](const collection_options& o) {
        return o.view_on.empty() && !o.order && !o.without_ids;
    };
    if (!id || (in && !is_plain(in->options())) || f.has("projection") || f.has("hint") ||
        f.has("collation") || f.has("min") || f.has("max") || f.flag("returnKey") ||
        f.flag("showRecordId") || f.flag("tailable") || f.number("skip") != 0 ||
        f.number("batchSize", 1) == 0 || !f.document("sort").empty())
        return false;
    const read_time at = read_time_of(on, what);
    auto cursor = reply.document("cursor");
    {
        auto first = cursor.array("firstBatch");
        if (in) {
            if (const auto found = in->find_by_id(id, at))
                first.add(found->document);
        }
    }
    cursor.add("id", std::int64_t{0}).add("ns", ns.text());
    if (const read_time requested = reported_time(what, at))
        cursor.add("atClusterTime", *requested);
    return true;
}

result<void> plan_order(find_plan& plan, const collection& in, const find_fields& f)
{
    auto hint = read_hint(&in, f["hint"]);
    if (!hint)
        return std::move(hint).error();
    plan.natural = hint->natural;
    if (hint->index)
        plan.index_key = hint->index->key;
    if (const int requested = natural_of(f.document("sort")); requested != 0)
        plan.natural = requested;
    else
        plan.sort = bson::document{f.document("sort")};
    // A walk through an index gives its order.
    if (hint->index && plan.sort.empty() && plan.natural == 0)
        plan.sort = hint->index->key;
    plan.min = bson::document{f.document("min")};
    plan.max = bson::document{f.document("max")};
    return {};
}

// Whether a walk through an index gives an order: forwards or backwards, and it may go on.
bool gives_order(bson::view key, bson::view sort)
{
    int turned = 0;
    auto at = key.begin();
    for (const bson::element& e : sort) {
        if (at == key.end() || at->key() != e.key())
            return false;
        const auto wanted = as_number(e);
        const auto has = as_number(*at);
        if (!wanted || !has)
            return false;
        const int same = (*wanted < 0) == (*has < 0) ? 1 : -1;
        if (turned != 0 && turned != same)
            return false;
        turned = same;
        ++at;
    }
    return true;
}

// The key of the index that a server would use: for the filter's equalities, or for the order. An
// empty one: it walks over all documents.
bson::document index_used(const collection& in, const find_plan& plan)
{
    const scan chosen{in, plan.all_match ? nullptr : &*plan.filter, plan.at};
    for (const index_spec& index : in.indexes()) {
        if (index.hidden || index.key.empty())
            continue;
        const bool serves = chosen.index_path().empty()
                                ? !plan.sort.empty() && gives_order(index.key, plan.sort)
                                : index.key.view().begin()->key() == chosen.index_path();
        if (serves)
            return index.key;
    }
    return {};
}

result<std::unique_ptr<find_plan>> make_plan(node& on, const request& what, const collection& in,
                                             const find_fields& f)
{
    auto plan = std::make_unique<find_plan>();
    auto context = context_of(on, f.document("let"));
    if (!context)
        return std::move(context).error();
    plan->context = *std::move(context);
    auto by = collation_for(&in, f["collation"]);
    if (!by)
        return std::move(by).error();
    plan->by = *by;
    auto filter = matcher::compile(f.document("filter"), plan->by, plan->context);
    if (!filter)
        return std::move(filter).error();
    plan->filter.emplace(*std::move(filter));
    plan->all_match = f.document("filter").empty();
    if (f.has("projection")) {
        auto shape = projection::compile(f.document("projection"), &*plan->filter, plan->context);
        if (!shape)
            return std::move(shape).error();
        plan->shape.emplace(*std::move(shape));
    }
    if (auto fine = plan_order(*plan, in, f); !fine)
        return std::move(fine).error();
    plan->skip = f.number("skip");
    plan->limit = f.number("limit");
    plan->at = read_time_of(on, what);
    plan->tailable = f.flag("tailable");
    if (plan->tailable)
        plan->natural = 1;
    plan->return_key = f.flag("returnKey");
    plan->show_record_id = f.flag("showRecordId") && !plan->return_key;  // the key and no more
    if (plan->return_key && plan->index_key.empty() && plan->natural == 0)
        plan->index_key = index_used(in, *plan);
    return plan;
}

result<progress> find_in_view(node& on, request& what, const find_fields& f,
                              const namespace_text& ns, bson::builder& reply)
{
    if (f.flag("tailable"))
        return refuse(server_code::invalid_options, "Option 'tailable' is not supported on views");
    auto context = context_of(on, f.document("let"));
    if (!context)
        return std::move(context).error();
    const bson::array stages = stages_of(f.document("filter"), f.document("sort"), f.number("skip"),
                                         f.number("limit"), f.document("projection"));
    const pipeline_run run{
        .ns = ns, .stages = stages, .collation = f["collation"], .at = read_time_of(on, what)};
    auto made = run_pipeline(on, run, *context);
    if (!made)
        return std::move(made).error();
    opening open = opening_of(f, ns);
    open.from = std::make_unique<documents_source>(std::move(made->results));
    open.reported_time = reported_time(what, run.at);
    if (auto fine = open_cursor(on, what, reply, std::move(open)); !fine)
        return std::move(fine).error();
    return progress::done;
}

// Even with no collection the filter has to be one.
result<progress> find_in_nothing(node& on, request& what, const find_fields& f,
                                 const namespace_text& ns, bson::builder& reply)
{
    auto context = context_of(on, f.document("let"));
    if (!context)
        return std::move(context).error();
    auto by = collation_for(nullptr, f["collation"]);
    if (!by)
        return std::move(by).error();
    auto filter = matcher::compile(f.document("filter"), *by, *context);
    if (!filter)
        return std::move(filter).error();
    if (auto shape = projection::compile(f.document("projection"), &*filter, *context); !shape)
        return std::move(shape).error();
    if (auto order = sort_pattern::compile(
            natural_of(f.document("sort")) != 0 ? bson::view{} : f.document("sort"), *by);
        !order)
        return std::move(order).error();
    opening open = opening_of(f, ns);
    open.from = std::make_unique<documents_source>(documents{}, true);
    open.batch_size = first_batch_documents;
    open.reported_time = reported_time(what, read_time_of(on, what));
    if (auto fine = open_cursor(on, what, reply, std::move(open)); !fine)
        return std::move(fine).error();
    return progress::done;
}

}  // namespace

result<progress> run_find(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<find_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [f, ns] = *opened;
    const collection* const in = std::as_const(on.data->data()).find(ns);
    if (auto fine = check_fields(on, f); !fine)
        return std::move(fine).error();
    if (found_by_id(on, what, f, in, ns, reply))
        return progress::done;
    if (!in)
        return find_in_nothing(on, what, f, ns, reply);
    if (!in->options().view_on.empty())
        return find_in_view(on, what, f, ns, reply);
    if (f.flag("tailable") && !in->options().capped) {
        return refuse(server_code::bad_value,
                      "error processing query: ns=" + in->ns() +
                          " tailable cursor requested on non capped collection");
    }
    auto plan = make_plan(on, what, *in, f);
    if (!plan)
        return std::move(plan).error();
    auto over = has_slept(on, what, *(*plan)->filter, in);
    if (!over)
        return std::move(over).error();
    if (!*over)
        return progress::wait;
    opening open = opening_of(f, ns);
    open.stays_open = in->count() != 0;
    open.reported_time = reported_time(what, (*plan)->at);
    auto from = make_source(on, *in, *std::move(plan));
    if (!from)
        return std::move(from).error();
    open.from = *std::move(from);
    if (auto fine = open_cursor(on, what, reply, std::move(open)); !fine)
        return std::move(fine).error();
    return progress::done;
}

}  // namespace holdfast::lab::mongo
