#include "lab/couchbase/n1ql/run.hpp"

#include "lab/couchbase/n1ql/change.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/row_source.hpp"
#include "lab/couchbase/n1ql/select.hpp"

#include <functional>
#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

/// Does it all in one go, when it is asked for the first time.
class single_step final : public running {
public:
    explicit single_step(std::function<result<void>()> what) : what_{std::move(what)} {}

    result<progress> next(std::string&) override
    {
        if (!what_)
            return progress::end;
        auto done = std::exchange(what_, nullptr)();
        if (!done)
            return std::move(done).error();
        return progress::end;
    }

private:
    std::function<result<void>()> what_;
};

class single_row final : public running {
public:
    explicit single_row(const json::value& row) : row_{json_text(row)} {}

    result<progress> next(std::string& to) override
    {
        if (row_.empty())
            return progress::end;
        to += std::exchange(row_, {});
        return progress::row;
    }

private:
    std::string row_;
};

using started = result<std::unique_ptr<running>>;

started make_step(std::function<result<void>()> what)
{
    return std::unique_ptr<running>{std::make_unique<single_step>(std::move(what))};
}

result<std::vector<std::string>> names_from(const select_statement& query, datastore& on,
                                            environment& in)
{
    auto begun = start_select(query, on, in);
    if (!begun)
        return std::move(begun).error();
    std::vector<std::string> names;
    for (;;) {
        std::string row;
        const auto done = (*begun)->next(row);
        if (!done)
            return error{done.error()};
        if (*done == progress::end)
            return names;
        const value name = read_json(row);
        if (const json::string* const text = string_in(name); *done == progress::row && text)
            names.emplace_back(view(*text));
    }
}

struct starter {
    datastore& on;
    environment& in;
    run_options options;

    started operator()(const select_statement& what) const { return start_select(what, on, in); }
    started operator()(const insert_statement& what) const
    {
        return start_insert(what, on, in, options);
    }
    started operator()(const update_statement& what) const
    {
        return start_update(what, on, in, options);
    }
    started operator()(const delete_statement& what) const { return start_delete(what, on, in); }
    started operator()(const create_index_statement& what) const
    {
        return make_step([this_on = &on, &what] { return this_on->create_index(what); });
    }
    started operator()(const drop_index_statement& what) const
    {
        return make_step([this_on = &on, &what] { return this_on->drop_index(what); });
    }
    started operator()(const build_index_statement& what) const
    {
        return make_step([this_on = &on, with = &in, &what]() -> result<void> {
            if (!what.query)
                return this_on->build_indexes(what.on, what.names);
            const auto names = names_from(*what.query, *this_on, *with);
            return names ? this_on->build_indexes(what.on, *names) : error{names.error()};
        });
    }
    started operator()(const dataset_statement& what) const
    {
        return make_step([this_on = &on, &what] { return this_on->change_datasets(what); });
    }
    started operator()(const explain_statement& what) const
    {
        return give_row(json::object{{"plan", plan_of(*what.of)}, {"text", text(what.of->text)}});
    }
    started operator()(const prepare_statement&) const { return elsewhere(); }
    started operator()(const execute_statement&) const { return elsewhere(); }

    static started elsewhere()
    {
        return refuse(query_code::internal, "plans are kept by the service");
    }
};

json::value shape_of(const std::vector<projection>& what, bool raw)
{
    if (raw)
        return "json";
    json::object made;
    std::size_t unnamed = 0;
    for (const projection& one : what) {
        if (!one.of || one.all_fields) {
            made["*"] = "*";
            continue;
        }
        std::string name = one.alias;
        if (name.empty())
            name = "$" + std::to_string(++unnamed);
        const literal* const known = std::get_if<literal>(&one.of->is);
        const kind of = known ? kind_of(known->is) : kind::missing;
        const bool is_number = of == kind::number || std::holds_alternative<aggregate>(one.of->is);
        made[name] = is_number             ? "number"
                     : of == kind::string  ? "string"
                     : of == kind::boolean ? "boolean"
                                           : "json";
    }
    return made;
}

std::string_view operator_name(const statement& of)
{
    constexpr std::string_view names[] = {
        "PrimaryScan3", "SendInsert", "SendUpdate", "SendDelete", "CreateIndex", "DropIndex",
        "BuildIndexes", "Prepare",    "Prepare",    "Prepare",    "Dataset"};
    return names[of.is.index()];
}

}  // namespace

started start(const statement& what, datastore& on, environment& in, run_options options)
{
    return std::visit(starter{on, in, options}, what.is);
}

std::unique_ptr<running> give_row(const json::value& row)
{
    return std::make_unique<single_row>(row);
}

const keyspace_name* scanned_keyspace(const statement& of)
{
    const source* from = nullptr;
    if (const auto* const select = std::get_if<select_statement>(&of.is))
        from = select->from ? &*select->from : nullptr;
    if (const auto* const update = std::get_if<update_statement>(&of.is))
        from = &update->what;
    if (const auto* const removal = std::get_if<delete_statement>(&of.is))
        from = &removal->what;
    return from && from->keyspace && !from->keys ? &*from->keyspace : nullptr;
}

json::value signature_of(const statement& of)
{
    const returning* gives = nullptr;
    if (const auto* const select = std::get_if<select_statement>(&of.is))
        return shape_of(select->projections, select->raw);
    if (const auto* const insert = std::get_if<insert_statement>(&of.is))
        gives = &insert->gives;
    if (const auto* const update = std::get_if<update_statement>(&of.is))
        gives = &update->gives;
    if (const auto* const removal = std::get_if<delete_statement>(&of.is))
        gives = &removal->gives;
    if (gives && !gives->projections.empty())
        return shape_of(gives->projections, gives->raw);
    const bool is_plan = std::holds_alternative<explain_statement>(of.is) ||
                         std::holds_alternative<prepare_statement>(of.is);
    return is_plan ? json::value("json") : json::value(nullptr);
}

json::value plan_of(const statement& of)
{
    const json::object scan{{"#operator", text(operator_name(of))},
                            {"namespace", "default"},
                            {"using", "gsi"}};
    return json::object{{"#operator", "Sequence"}, {"~children", json::array{scan}}};
}

}  // namespace holdfast::lab::couchbase::n1ql
