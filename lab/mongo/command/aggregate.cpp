#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/cursors.hpp"
#include "lab/mongo/command/explain.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/output.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/views.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule aggregate_rules[] = {
    {"pipeline", kind::array, true},
    {"cursor", kind::document},
    {"explain", kind::boolean},
    {"allowDiskUse", kind::boolean},
    {"bypassDocumentValidation", kind::boolean},
    {"collation", kind::document},
    {"hint", kind::text_or_document},
    {"let", kind::document, false, 500},
    {"fromMongos", kind::ignored},
    {"fromRouter", kind::ignored},
    {"needsMerge", kind::ignored},
    {"exchange", kind::ignored},
    {"runtimeConstants", kind::ignored},
    {"collectionUUID", kind::ignored},
    {"encryptionInformation", kind::ignored},
    {"includeQueryStatsMetrics", kind::ignored},
    {"querySettings", kind::ignored},
};

result<namespace_text> namespace_of(const request& what)
{
    const bson::element first = *what.body.begin();
    if (first.type() == bson::type::string)
        return namespace_text::of(what);
    if (as_number(first) != 1) {
        return refuse(server_code::failed_to_parse,
                      "Invalid command format: the 'aggregate' field must specify a collection "
                      "name or 1");
    }
    return namespace_text::join(what.database, "$cmd.aggregate");
}

// A filter in a pipeline runs no JavaScript.
result<void> check_filters(bson::array_view stages)
{
    for (const bson::element& stage : stages) {
        if (stage.type() != bson::type::document)
            continue;
        const bson::element filter = stage.as_document().find("$match");
        if (filter.type() == bson::type::document && asks_where(filter.as_document()))
            return refuse(server_code::bad_value, "$where is not allowed in this context");
    }
    return {};
}

/// "$out" or "$merge"; empty for a pipeline that does not write.
std::string_view output_stage_of(bson::array_view stages)
{
    for (const bson::element& stage : stages) {
        for (const std::string_view name : {"$out", "$merge"}) {
            if (stage.type() == bson::type::document && stage.as_document().find(name))
                return name;
        }
    }
    return {};
}

}  // namespace

result<progress> run_aggregate(node& on, request& what, bson::builder& reply)
{
    auto read = fields<aggregate_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const auto& f = *read;
    auto ns = namespace_of(what);
    if (!ns)
        return std::move(ns).error();
    if (!f.has("cursor") && !f.flag("explain")) {
        return refuse(server_code::failed_to_parse,
                      "The 'cursor' option is required, except for aggregate with the explain "
                      "argument");
    }
    auto batch_size = read_cursor_options(f["cursor"], "aggregate");
    if (!batch_size)
        return std::move(batch_size).error();
    if (auto fine = check_filters(f.array("pipeline")); !fine)
        return std::move(fine).error();
    const std::string_view output = output_stage_of(f.array("pipeline"));
    if (!output.empty() && what.reads.level == "linearizable") {
        return refuse(server_code::invalid_options,
                      std::string{output} +
                          " cannot be used with a 'linearizable' read concern level");
    }
    if (!on.member->writable() && !f.flag("explain") && !output.empty()) {
        // Secondaries take it since 5.0, and the primary writes. From one server to the other it
        // comes once: who is not the primary then says so.
        if (version_number(on) >= 500 && !what.client.internal)
            return progress::later;
        return refuse(server_code::not_writable_primary, "not primary");
    }
    auto context = context_of(on, f.document("let"));
    if (!context)
        return std::move(context).error();
    const pipeline_run run{.ns = *ns,
                           .stages = f.array("pipeline"),
                           .on_collection = what.body.begin()->type() == bson::type::string,
                           .collation = f["collation"],
                           .hint = f["hint"],
                           .at = read_time_of(on, what)};
    if (f.flag("explain"))
        return explain_pipeline(on, run, *context, reply);
    auto made = run_pipeline(on, run, *context);
    if (!made)
        return std::move(made).error();
    if (made->out || made->merge) {
        const bool bypass = f.flag("bypassDocumentValidation");
        auto fine = made->out
                        ? write_out(on, what, *made->out, made->results, bypass)
                        : write_merge(on, what, *made->merge, made->results, *context, bypass);
        if (!fine)
            return std::move(fine).error();
        settle(on, what);
        made->results.clear();
    }
    opening open;
    open.ns = *ns;
    open.from = std::make_unique<documents_source>(std::move(made->results),
                                                   made->out || made->merge);
    open.batch_size = *batch_size;
    if (what.reads.level == "snapshot")
        open.reported_time = run.at;
    if (auto fine = open_cursor(on, what, reply, std::move(open)); !fine)
        return std::move(fine).error();
    return progress::done;
}

}  // namespace holdfast::lab::mongo
