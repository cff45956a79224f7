#include "lab/mongo/aggregate/compute.hpp"
#include "lab/mongo/aggregate/stage.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/compiler.hpp"
#include "lab/mongo/expression/node.hpp"
#include "lab/mongo/expression/path.hpp"
#include "lab/mongo/query/matcher.hpp"

#include <utility>

namespace holdfast::lab::staging {

namespace {

struct lookup_plan {
    std::string database;
    std::string from;  // empty: the pipeline makes its own documents
    std::vector<std::string> as;
    std::vector<std::string> local;
    std::string foreign;  // empty: no equality
    struct variable {
        std::string name;
        expression by;
    };
    std::vector<variable> let;
    bson::document pipeline;
    bool has_pipeline = false;
    std::optional<collation> by;
    expression_context context;  // of the outer pipeline, without the variables of `let`
    int depth = 0;
};

class lookup_stage final : public stage {
public:
    explicit lookup_stage(lookup_plan plan) : plan_{std::move(plan)} {}

    result<documents> run(documents in, runner& with) const override
    {
        documents foreign;
        if (!plan_.from.empty()) {
            auto read = with.host.read(plan_.database, plan_.from);
            if (!read)
                return read;
            foreign = *std::move(read);
        }
        room left{with};
        for (bson::document& d : in) {
            auto joined = partners(d, foreign, with);
            if (!joined)
                return joined;
            const bson::array all = to_array(*joined);
            const value as{all.view()};
            d = with_path(d, plan_.as, as.get());
            if (auto good = check_document(d); !good)
                return std::move(good).error();
            if (auto good = left.take(d); !good)
                return std::move(good).error();
        }
        return in;
    }

private:
    result<documents> partners(bson::view d, const documents& foreign, runner& with) const
    {
        documents matching = foreign;
        if (!plan_.foreign.empty()) {
            auto equal = matching_ones(d, foreign, with);
            if (!equal)
                return equal;
            matching = *std::move(equal);
        }
        if (!plan_.has_pipeline)
            return matching;
        expression_context inner = plan_.context;
        auto variables = bind(d);
        if (!variables)
            return std::move(variables).error();
        inner.variables = *std::move(variables);
        const surroundings in{plan_.by, inner, place::lookup, true, plan_.depth + 1};
        const auto list = compile_stages(bson::array_view{plan_.pipeline.view()}, in);
        if (!list)
            return list.error();
        return list->run(std::move(matching), with);
    }

    /// The outer variables, and those of `let` for this document.
    result<bson::document> bind(bson::view d) const
    {
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        for (const lookup_plan::variable& v : plan_.let) {
            const auto made = v.by.evaluate(d);
            if (!made)
                return made.error();
            if (made->missing())
                out.put(v.name, bson::undefined{});
            else
                out.copy(v.name, made->get());
        }
        out.merge(plan_.context.variables);  // a name that comes twice is found first
        if (auto done = out.finish(); !done)
            return std::move(done).error();
        return bson::document::adopt(std::move(bytes));
    }

    result<documents> matching_ones(bson::view d, const documents& foreign, runner& with) const
    {
        const value local = computing::value_at(d, plan_.local);
        bson::byte_buffer bytes;
        bson::array_builder alternatives{bytes};
        const auto add = [&](const bson::element& e) {
            auto one = alternatives.document();
            auto condition = one.document(plan_.foreign);
            if (computing::is_nullish(e))
                condition.put("$eq", bson::null{});
            else
                condition.copy("$eq", e);
        };
        if (local.type() == bson::type::array) {
            for (const bson::element& e : local.get().as_array())
                add(e);
        } else {
            add(local.get());
        }
        const auto list = alternatives.finish();
        if (!list)
            return list.error();
        documents kept;
        if (list->empty())
            return kept;
        const auto filter = matcher::compile(bson::doc("$or", *list), plan_.by, plan_.context);
        if (!filter)
            return filter.error();
        if (auto paid = with.spend(foreign.size()); !paid)
            return std::move(paid).error();
        for (const bson::document& f : foreign) {
            const auto matched = filter->matches(f);
            if (!matched)
                return matched.error();
            if (*matched)
                kept.push_back(f);
        }
        return kept;
    }

    lookup_plan plan_;
};

error lookup_type(std::string_view field, const bson::element& e, std::string_view wanted)
{
    return refuse(server_code::failed_to_parse, "$lookup argument '" + std::string{field} +
                                                    "' must be " + std::string{wanted} +
                                                    ", found " + computing::type_text(e));
}

/// "name" or {db: "name", coll: "name"}.
result<void> read_from(const bson::element& e, std::string& database, std::string& collection)
{
    if (e.type() == bson::type::string) {
        collection = e.as_string();
    } else if (e.type() == bson::type::document) {
        const bson::element db = e.as_document().find("db");
        const bson::element coll = e.as_document().find("coll");
        if (db.type() != bson::type::string || coll.type() != bson::type::string)
            return refuse(server_code::failed_to_parse,
                          "'from' must be a string, or an object with the strings db and coll");
        database = db.as_string();
        collection = coll.as_string();
    } else {
        return lookup_type("from", e, "a string");
    }
    if (collection.empty())
        return refuse(server_code::invalid_namespace, "Invalid namespace specified ''");
    return {};
}

result<void> read_let(const bson::element& e, const surroundings& in, lookup_plan& to)
{
    if (e.type() != bson::type::document)
        return lookup_type("let", e, "an object");
    for (const bson::element& v : e.as_document()) {
        if (auto good = computing::check_variable_name(v.key(), false); !good)
            return good;
        auto by = expression::compile(v, in.by, in.context);
        if (!by)
            return std::move(by).error();
        to.let.push_back({std::string{v.key()}, *std::move(by)});
    }
    return {};
}

result<void> read_lookup_field(const bson::element& e, const surroundings& in, lookup_plan& to)
{
    const std::string_view key = e.key();
    if (key == "from")
        return read_from(e, to.database, to.from);
    if (key == "let")
        return read_let(e, in, to);
    if (key == "pipeline") {
        if (e.type() != bson::type::array)
            return refuse(server_code::type_mismatch,
                          "'pipeline' option must be specified as an array");
        to.pipeline = bson::document{e.as_array().as_document()};
        to.has_pipeline = true;
        return {};
    }
    if (key != "as" && key != "localField" && key != "foreignField")
        return refuse(server_code::failed_to_parse,
                      "unknown argument to $lookup: " + std::string{key});
    if (e.type() != bson::type::string)
        return lookup_type(key, e, "a string");
    auto path = computing::split_path(e.as_string());
    if (!path)
        return std::move(path).error();
    if (key == "as")
        to.as = *std::move(path);
    else if (key == "localField")
        to.local = *std::move(path);
    else
        to.foreign = e.as_string();
    return {};
}

/// A pipeline is known to be right before it meets a document: with null for each variable.
result<bool> check_pipeline(const lookup_plan& plan)
{
    bson::byte_buffer bytes;
    bson::builder names{bytes};
    for (const lookup_plan::variable& v : plan.let)
        names.put(v.name, bson::null{});
    names.merge(plan.context.variables);
    if (auto done = names.finish(); !done)
        return std::move(done).error();
    expression_context inner = plan.context;
    inner.variables = bson::document::adopt(std::move(bytes));
    const auto list = compile_stages(bson::array_view{plan.pipeline.view()},
                                     {plan.by, inner, place::lookup, true, plan.depth + 1});
    if (!list)
        return list.error();
    return list->has_own_source;
}

}  // namespace

result<stage_ptr> make_lookup(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document)
        return refuse(server_code::failed_to_parse,
                      "the $lookup stage specification must be an object, but found " +
                          computing::type_text(spec));
    lookup_plan plan;
    plan.by = in.by;
    plan.context = in.context;
    plan.depth = in.depth;
    for (const bson::element& e : spec.as_document()) {
        if (e.malformed())
            return refuse(22, "malformed BSON in $lookup");
        if (auto done = read_lookup_field(e, in, plan); !done)
            return std::move(done).error();
    }
    if (plan.as.empty())
        return refuse(server_code::failed_to_parse, "must specify 'as' field for a $lookup");
    if (plan.local.empty() != plan.foreign.empty() || (plan.local.empty() && !plan.has_pipeline))
        return refuse(server_code::failed_to_parse,
                      "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' "
                      "to be specified");
    bool own_source = false;
    if (plan.has_pipeline) {
        const auto checked = check_pipeline(plan);
        if (!checked)
            return checked.error();
        own_source = *checked;
    }
    if (plan.from.empty() && !own_source)
        return refuse(server_code::failed_to_parse, "must specify 'from' field for a $lookup");
    return std::make_unique<lookup_stage>(std::move(plan));
}

}  // namespace holdfast::lab::staging
