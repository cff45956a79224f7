#include "lab/mongo/aggregate/stage.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/node.hpp"
#include "lab/mongo/expression/number.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::staging {

namespace {

constexpr int max_pipeline_depth = 20;
constexpr std::size_t max_stages = 1000;
constexpr std::size_t overhead = 64;  // of a document in memory, roughly

/// Rules about where a stage may stand.
enum rule : unsigned {
    anywhere = 0,
    first_only = 1,        // makes its own documents, or asks about the collection
    last_only = 2,         // writes
    no_collection = 4,     // {aggregate: 1}
    not_in_facet = 8,
    own_source = 16,
};

struct known_stage {
    std::string_view name;
    stage_maker make;
    unsigned rules = anywhere;
};

constexpr known_stage table[] = {
    {"$match", make_match},
    {"$sort", make_sort},
    {"$limit", make_limit},
    {"$skip", make_skip},
    {"$count", make_count},
    {"$sample", make_sample},
    {"$unwind", make_unwind},
    {"$replaceRoot", make_replace_root},
    {"$replaceWith", make_replace_root},
    {"$project", make_project},
    {"$addFields", make_add_fields},
    {"$set", make_add_fields},
    {"$unset", make_unset},
    {"$group", make_group},
    {"$sortByCount", make_sort_by_count},
    {"$bucket", make_bucket},
    {"$facet", make_facet, not_in_facet},
    {"$lookup", make_lookup},
    {"$unionWith", make_union_with},
    {"$documents", make_documents, first_only | no_collection | not_in_facet | own_source},
    {"$listLocalSessions", make_host_source,
     first_only | no_collection | not_in_facet | own_source},
    {"$currentOp", make_host_source, first_only | no_collection | not_in_facet | own_source},
    {"$collStats", make_host_source, first_only | not_in_facet | own_source},
    {"$indexStats", make_host_source, first_only | not_in_facet | own_source},
    {"$out", make_out, last_only | not_in_facet},
    {"$merge", make_merge, last_only | not_in_facet},
    {"$changeStream", refuse_stage},
    {"$changeStreamSplitLargeEvent", refuse_stage},
    {"$redact", refuse_stage},
    {"$graphLookup", refuse_stage},
    {"$geoNear", refuse_stage},
    {"$bucketAuto", refuse_stage},
    {"$setWindowFields", refuse_stage},
    {"$densify", refuse_stage},
    {"$fill", refuse_stage},
    {"$planCacheStats", refuse_stage},
    {"$listSessions", refuse_stage},
    {"$search", refuse_stage},
    {"$searchMeta", refuse_stage},
    {"$vectorSearch", refuse_stage},
    {"$listSearchIndexes", refuse_stage},
};

result<void> check_place(const known_stage& s, bool first, bool last, const surroundings& in)
{
    const std::string name{s.name};
    if ((s.rules & not_in_facet) != 0 && in.where == place::facet)
        return refuse(40600, name + " is not allowed to be used within a $facet stage");
    if ((s.rules & last_only) != 0 && in.where == place::lookup)
        return refuse(51047, name + " is not allowed within a $lookup's sub-pipeline");
    if ((s.rules & last_only) != 0 && in.where == place::union_with)
        return refuse(31441, name + " is not allowed within a $unionWith's sub-pipeline");
    if ((s.rules & first_only) != 0 && !first)
        return refuse(40602, name + " is only valid as the first stage in a pipeline.");
    if ((s.rules & last_only) != 0 && !last)
        return refuse(40601, name + " can only be the final stage in the pipeline");
    if (in.where != place::top || !first)
        return {};
    if ((s.rules & no_collection) != 0 && in.on_collection)
        return refuse(server_code::invalid_namespace,
                      name +
                          " must be run against the database with {aggregate: 1}, not a "
                          "collection");
    if ((s.rules & no_collection) == 0 && !in.on_collection && s.make != refuse_stage)
        return refuse(server_code::invalid_namespace,
                      "{aggregate: 1} is not valid for '" + name + "'; a collection is required.");
    return {};
}

result<void> add_stage(const bson::element& e, bool last, const surroundings& in, stage_list& to)
{
    if (e.malformed())
        return refuse(22, "malformed BSON in the pipeline");
    if (e.type() != bson::type::document)
        return refuse(server_code::type_mismatch,
                      "Each element of the 'pipeline' array must be an object");
    const bson::view object = e.as_document();
    auto at = object.begin();
    const bool empty = at == object.end();
    const bson::element spec = empty ? bson::element{} : *at;
    if (empty || spec.malformed() || ++at != object.end())
        return refuse(40323,
                      "A pipeline stage specification object must contain exactly one field.");
    const auto found = std::ranges::find(table, spec.key(), &known_stage::name);
    if (found == std::end(table))
        return refuse(server_code::unrecognized_stage,
                      "Unrecognized pipeline stage name: '" + std::string{spec.key()} + "'");
    const bool first = to.stages.empty();
    if (auto good = check_place(*found, first, last, in); !good)
        return good;
    auto made = found->make(spec, in, to);
    if (!made)
        return std::move(made).error();
    if (first) {
        to.has_own_source = (found->rules & own_source) != 0;
        if (found->make == make_match)
            to.leading_match = bson::document{spec.as_document()};
    }
    to.stages.push_back(*std::move(made));
    return {};
}

}  // namespace

result<stage_list> compile_stages(bson::array_view stages, const surroundings& in)
{
    if (in.depth > max_pipeline_depth)
        return refuse(232, "Maximum number of nested sub-pipelines exceeded. Limit is " +
                               std::to_string(max_pipeline_depth));
    stage_list made;
    for (auto at = stages.begin(); at != stages.end();) {
        const bson::element e = *at;
        const bool last = ++at == stages.end();
        if (made.stages.size() == max_stages)
            return refuse(7749501, "Pipeline length must be no longer than " +
                                       std::to_string(max_stages) + " stages.");
        if (auto added = add_stage(e, last, in, made); !added)
            return std::move(added).error();
    }
    if (made.stages.empty() && in.where == place::top && !in.on_collection)
        return refuse(server_code::invalid_namespace,
                      "{aggregate: 1} is not valid for an empty pipeline.");
    return made;
}

result<documents> stage_list::run(documents in, runner& with) const
{
    for (const stage_ptr& s : stages) {
        if (auto paid = with.spend(in.size() + 1); !paid)
            return std::move(paid).error();
        auto made = s->run(std::move(in), with);
        if (!made)
            return made;
        if (auto good = with.check(*made); !good)
            return std::move(good).error();
        in = *std::move(made);
    }
    return in;
}

result<void> runner::spend(std::size_t documents)
{
    if (documents > documents_left)
        return refuse(server_code::exceeded_time_limit,
                      "a pipeline looked at more documents than this lab allows");
    documents_left -= documents;
    return {};
}

result<void> runner::check(const documents& made) const
{
    room left{*this};
    for (const bson::document& d : made) {
        if (auto good = left.take(d); !good)
            return good;
    }
    return {};
}

result<void> room::take(bson::view made)
{
    used_ += made.size() + overhead;
    if (used_ <= limit_)
        return {};
    return refuse(server_code::query_exceeded_memory_limit,
                  "a pipeline stage exceeded the memory limit of " + std::to_string(limit_) +
                      " bytes");
}

bson::array to_array(const documents& all)
{
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (const bson::document& d : all)
        out.add(d);
    (void)out.finish();
    return bson::array::adopt(std::move(bytes));
}

std::optional<std::int64_t> whole(const bson::element& e)
{
    return computing::as_int64(e);
}

result<stage_ptr> refuse_stage(const bson::element& spec, const surroundings&, stage_list&)
{
    if (spec.key().starts_with("$changeStream"))
        return refuse(server_code::command_not_supported, "change streams are not in this lab yet");
    if (spec.key().find("earch") != std::string_view::npos)
        return refuse(31082, "Using Atlas Search, " + std::string{spec.key()} +
                                 " among it, requires additional configuration. Please connect to "
                                 "Atlas to enable.");
    return refuse(server_code::command_not_supported,
                  "the stage " + std::string{spec.key()} + " is not in this lab yet");
}

}  // namespace holdfast::lab::staging
