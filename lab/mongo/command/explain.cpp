#include "lab/mongo/command/explain.hpp"

#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/server_info.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <array>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule explain_rules[] = {{"verbosity", kind::text}};

constexpr std::string_view explainable[] = {
    "find", "aggregate", "count", "distinct", "update", "delete", "findAndModify", "findandmodify"};

// The filter of whatever is explained.
bson::view filter_of(bson::view command)
{
    for (const std::string_view name : {"filter", "query", "q"}) {
        const bson::element e = command.find(name);
        if (e.type() == bson::type::document)
            return e.as_document();
    }
    for (const std::string_view name : {"updates", "deletes"}) {
        const bson::element e = command.find(name);
        if (e.type() != bson::type::array)
            continue;
        const bson::element first = e.as_array()[0];
        return first.type() == bson::type::document ? filter_of(first.as_document()) : bson::view{};
    }
    return {};
}

struct plan_facts {
    bson::view filter;
    std::string index;  // the field of the index that is used
    std::size_t returned = 0;
    std::size_t examined = 0;
    bool there = false;
    bool by_id = false;
};

result<plan_facts> look_at(node& on, std::string_view ns, bson::view filter)
{
    plan_facts facts;
    facts.filter = filter;
    const expression_context context;
    auto compiled = matcher::compile(filter, {}, context);
    if (!compiled)
        return std::move(compiled).error();
    const collection* const in = std::as_const(on.data->data()).find(ns);
    if (!in)
        return facts;
    facts.there = true;
    facts.by_id = static_cast<bool>(sole_id(filter));
    scan walk{*in, &*compiled, {}};
    facts.index = walk.index_path();
    for (;;) {
        auto one = walk.next();
        if (!one)
            return std::move(one).error();
        if (!*one)
            break;
        ++facts.returned;
    }
    facts.examined = facts.index.empty() ? in->count() : facts.returned;
    return facts;
}

void write_winner(bson::builder& plan, const plan_facts& facts)
{
    if (!facts.there) {
        plan.add("stage", "EOF");
    } else if (facts.by_id) {
        plan.add("stage", "IDHACK");
    } else if (!facts.index.empty()) {
        plan.add("stage", "FETCH");
        auto input = plan.document("inputStage");
        input.add("stage", "IXSCAN").add("keyPattern", bson::object(facts.index, 1));
        input.add("indexName", facts.index == "_id" ? std::string{"_id_"} : facts.index + "_1");
        input.add("direction", "forward");
    } else {
        plan.add("stage", "COLLSCAN");
        if (!facts.filter.empty())
            plan.add("filter", facts.filter);
        plan.add("direction", "forward");
    }
}

void write_explanation(const node& on, std::string_view ns, const plan_facts& facts, bool executed,
                       bson::view command, bson::builder& reply)
{
    reply.add("explainVersion", "1");
    {
        auto planner = reply.document("queryPlanner");
        planner.add("namespace", ns).add("indexFilterSet", false).add("parsedQuery", facts.filter);
        planner.add("maxIndexedOrSolutionsReached", false);
        {
            auto winner = planner.document("winningPlan");
            write_winner(winner, facts);
        }
        planner.add("rejectedPlans", bson::list());
    }
    if (executed) {
        auto stats = reply.document("executionStats");
        stats.add("executionSuccess", true);
        stats.add("nReturned", static_cast<std::int32_t>(facts.returned));
        stats.add("executionTimeMillis", 0);
        stats.add("totalKeysExamined",
                  static_cast<std::int32_t>(facts.index.empty() ? 0 : facts.returned));
        stats.add("totalDocsExamined", static_cast<std::int32_t>(facts.examined));
        auto stages = stats.document("executionStages");
        write_winner(stages, facts);
    }
    reply.add("command", command);
    write_server_info(on, reply);
}

}  // namespace

result<progress> explain_pipeline(node& on, const pipeline_run& run,
                                  const expression_context& context, bson::builder& reply)
{
    auto stages = pipeline::compile(run.stages, run.on_collection, {}, context);
    if (!stages)
        return std::move(stages).error();
    const bson::document filter = stages->leading_match();
    auto facts = look_at(on, run.ns, filter);
    if (!facts)
        return std::move(facts).error();
    write_explanation(on, run.ns, *facts, false,
                      bson::doc("aggregate", bson::unchecked_text{run.ns}, "pipeline", run.stages),
                      reply);
    return progress::done;
}

result<progress> run_explain(node& on, request& what, bson::builder& reply)
{
    auto read = fields<explain_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const std::string_view verbosity = read->has("verbosity") ? read->text("verbosity")
                                                              : "allPlansExecution";
    if (verbosity != "queryPlanner" && verbosity != "executionStats" &&
        verbosity != "allPlansExecution") {
        return refuse(server_code::bad_value, "Enumeration value '" + std::string{verbosity} +
                                                  "' for field 'explain.verbosity' is not a valid "
                                                  "value.");
    }
    const bson::element first = *what.body.begin();
    if (first.type() != bson::type::document)
        return wrong_type("explain", "explain", first.type(), "object");
    const bson::view command = first.as_document();
    const std::string_view name = command.empty() ? "" : command.begin()->key();
    if (std::ranges::find(explainable, name) == std::end(explainable)) {
        return refuse(server_code::command_not_found,
                      "Explain failed due to unknown command: " + std::string{name});
    }
    if (command.begin()->type() != bson::type::string)
        return refuse(server_code::invalid_namespace, "collection name has invalid type");
    auto ns = namespace_text::join(what.database, command.begin()->as_string());
    if (!ns)
        return std::move(ns).error();
    bson::document leading;
    bson::view filter = filter_of(command);
    if (const bson::element stages = command.find("pipeline");
        name == "aggregate" && stages.type() == bson::type::array) {
        const expression_context context;
        auto compiled = pipeline::compile(stages.as_array(), true, {}, context);
        if (!compiled)
            return std::move(compiled).error();
        leading = compiled->leading_match();
        filter = leading;
    }
    auto facts = look_at(on, *ns, filter);
    if (!facts)
        return std::move(facts).error();
    write_explanation(on, *ns, *facts, verbosity != "queryPlanner", command, reply);
    return progress::done;
}

}  // namespace holdfast::lab::mongo
