#include "lab/mongo/aggregate/group.hpp"

#include "lab/mongo/aggregate/compute.hpp"
#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/stable_sort.hpp"
#include "lab/mongo/expression/node.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace holdfast::lab::staging {

namespace {

struct group {
    value key;
    std::vector<std::unique_ptr<accumulator>> fields;
};

/// Groups in the order of their first documents, found by key.
class group_table {
public:
    explicit group_table(const group_plan& plan)
        : plan_{plan}, by_{plan.by ? &*plan.by : nullptr}, known_{value_less{by_}}
    {
    }

    result<void> take(bson::view document)
    {
        auto key = plan_.key(document);
        if (!key)
            return std::move(key).error();
        group& to = find(key->missing() ? value::of(bson::null{}) : *std::move(key));
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            auto v = plan_.fields[i].by.evaluate(document);
            if (!v)
                return std::move(v).error();
            accumulator& field = *to.fields[i];
            const std::size_t before = field.memory();
            if (auto taken = field.take(*std::move(v)); !taken)
                return taken;
            bytes_ += field.memory() - before;
        }
        return {};
    }

    std::size_t bytes() const { return bytes_ + groups_.size() * 256; }

    result<documents> totals()
    {
        if (plan_.sorted)
            sort_stably(groups_, [&](const group& a, const group& b) {
                return compare(a.key.get(), b.key.get(), by_) < 0;
            });
        documents made;
        for (const group& g : groups_) {
            bson::byte_buffer bytes;
            {
                bson::builder out{bytes};
                out.copy("_id", g.key.get());
                for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
                    const value total = g.fields[i]->total();
                    if (total.missing())
                        out.put(plan_.fields[i].name, bson::null{});
                    else
                        out.copy(plan_.fields[i].name, total.get());
                }
            }
            made.push_back(bson::document::adopt(std::move(bytes)));
            if (auto good = check_document(made.back()); !good)
                return std::move(good).error();
        }
        return made;
    }

private:
    group& find(value key)
    {
        const auto [at, is_new] = known_.try_emplace(key, groups_.size());
        if (!is_new)
            return groups_[at->second];
        bytes_ += 2 * key.get().value_bytes().size();
        groups_.push_back({std::move(key), {}});
        for (const accumulated_field& f : plan_.fields)
            groups_.back().fields.push_back(make_accumulator(f.op, by_));
        return groups_.back();
    }

    const group_plan& plan_;
    const collation* by_;
    std::map<value, std::size_t, value_less> known_;
    std::vector<group> groups_;
    std::size_t bytes_ = 0;
};

class group_stage final : public stage {
public:
    explicit group_stage(group_plan plan) : plan_{std::move(plan)} {}
    result<documents> run(documents in, runner& with) const override
    {
        return run_group(plan_, in, with);
    }

private:
    group_plan plan_;
};

/// A stage that is short for others.
class chain_stage final : public stage {
public:
    explicit chain_stage(stage_list list) : list_{std::move(list)} {}
    result<documents> run(documents in, runner& with) const override
    {
        return list_.run(std::move(in), with);
    }

private:
    stage_list list_;
};

/// Keys by an expression, which std::function can only share.
std::function<result<value>(bson::view)> key_by(expression by)
{
    auto held = std::make_shared<const expression>(std::move(by));
    return [held](bson::view document) { return held->evaluate(document); };
}

// ---- $bucket ----

struct bucket_spec {
    bson::element group_by;
    bson::element boundaries;
    bson::element otherwise;
    bson::element output;
};

result<bucket_spec> read_bucket(const bson::element& spec)
{
    if (spec.type() != bson::type::document)
        return refuse(40201, "Argument to $bucket stage must be an object, but found type: " +
                                 computing::type_text(spec) + ".");
    bucket_spec made;
    for (const bson::element& e : spec.as_document()) {
        if (e.key() == "groupBy")
            made.group_by = e;
        else if (e.key() == "boundaries")
            made.boundaries = e;
        else if (e.key() == "default")
            made.otherwise = e;
        else if (e.key() == "output")
            made.output = e;
        else
            return refuse(40197, "Unrecognized option to $bucket: " + std::string{e.key()} + ".");
    }
    if (!made.group_by || !made.boundaries)
        return refuse(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.");
    const bool path = made.group_by.type() == bson::type::string &&
                      made.group_by.as_string().starts_with('$');
    if (!path && made.group_by.type() != bson::type::document)
        return refuse(40202,
                      "The $bucket 'groupBy' field must be defined as a $-prefixed path or "
                      "an expression.");
    if (made.boundaries.type() != bson::type::array)
        return refuse(40200, "The $bucket 'boundaries' field must be an array, but found type: " +
                                 computing::type_text(made.boundaries) + ".");
    if (made.output && made.output.type() != bson::type::document)
        return refuse(40196, "The $bucket 'output' field must be an object, but found type: " +
                                 computing::type_text(made.output) + ".");
    return made;
}

/// A value that is the same whatever the document.
result<value> constant_of(const bson::element& e, const surroundings& in)
{
    auto by = expression::compile(e, in.by, in.context);
    if (!by)
        return std::move(by).error();
    return by->evaluate({});
}

result<std::vector<value>> read_boundaries(const bson::element& from, const surroundings& in)
{
    std::vector<value> made;
    for (const bson::element& e : from.as_array()) {
        auto v = constant_of(e, in);
        if (!v)
            return std::move(v).error();
        made.push_back(*std::move(v));
    }
    if (made.size() < 2)
        return refuse(40192,
                      "The $bucket 'boundaries' field must have at least 2 values, but found "
                      "less than 2.");
    const collation* by = in.by ? &*in.by : nullptr;
    for (std::size_t i = 0; i + 1 < made.size(); ++i) {
        if (rank_of(made[i].type()) != rank_of(made[i + 1].type()))
            return refuse(40193,
                          "All values in the the 'boundaries' option to $bucket must have "
                          "the same type.");
        if (compare(made[i].get(), made[i + 1].get(), by) >= 0)
            return refuse(40194,
                          "The 'boundaries' option to $bucket must be sorted, but elements " +
                              std::to_string(i) + " and " + std::to_string(i + 1) +
                              " are not in ascending order.");
    }
    return made;
}

}  // namespace

result<documents> run_group(const group_plan& plan, const documents& in, const runner& with)
{
    group_table table{plan};
    for (const bson::document& d : in) {
        if (auto taken = table.take(d); !taken)
            return std::move(taken).error();
        if (table.bytes() > with.memory_limit)
            return refuse(server_code::query_exceeded_memory_limit,
                          "Exceeded memory limit for $group");
    }
    return table.totals();
}

result<stage_ptr> make_group(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document)
        return refuse(15947, "a group's fields must be specified in an object");
    group_plan plan{{}, {}, in.by};
    for (const bson::element& e : spec.as_document()) {
        if (e.malformed())
            return refuse(22, "malformed BSON in $group");
        if (e.key() == "_id") {
            auto by = expression::compile(e, in.by, in.context);
            if (!by)
                return std::move(by).error();
            plan.key = key_by(*std::move(by));
            continue;
        }
        auto field = read_accumulated(e, in);
        if (!field)
            return std::move(field).error();
        plan.fields.push_back(*std::move(field));
    }
    if (!plan.key)
        return refuse(15955, "a group specification must include an _id");
    return std::make_unique<group_stage>(std::move(plan));
}

result<stage_ptr> make_sort_by_count(const bson::element& spec, const surroundings& in, stage_list&)
{
    const bool path = spec.type() == bson::type::string && spec.as_string().starts_with('$');
    if (spec.type() == bson::type::document) {
        const auto first = spec.as_document().begin();
        if (first == std::default_sentinel || !first->key().starts_with('$'))
            return refuse(40147,
                          "the sortByCount field must be defined as a $-prefixed path or an "
                          "expression inside an object");
    } else if (!path) {
        return refuse(spec.type() == bson::type::string ? 40148 : 40149,
                      "the sortByCount field must be specified as a string or as an object");
    }
    const bson::array both = bson::arr(
        bson::doc("$group", bson::doc("_id", spec, "count", bson::doc("$sum", 1))),
        bson::doc("$sort", bson::doc("count", -1)));
    const surroundings inner{in.by, in.context, place::lookup, true, in.depth};
    auto list = compile_stages(both, inner);
    if (!list)
        return std::move(list).error();
    return std::make_unique<chain_stage>(*std::move(list));
}

result<stage_ptr> make_bucket(const bson::element& spec, const surroundings& in, stage_list&)
{
    const auto read = read_bucket(spec);
    if (!read)
        return read.error();
    auto boundaries = read_boundaries(read->boundaries, in);
    if (!boundaries)
        return std::move(boundaries).error();
    const std::optional<collation> order = in.by;
    std::optional<value> otherwise;
    if (read->otherwise) {
        auto v = constant_of(read->otherwise, in);
        if (!v)
            return std::move(v).error();
        const collation* by = order ? &*order : nullptr;
        if (compare(v->get(), boundaries->front().get(), by) >= 0 &&
            compare(v->get(), boundaries->back().get(), by) < 0)
            return refuse(40199,
                          "The $bucket 'default' field must be less than the lowest boundary "
                          "or greater than or equal to the highest boundary.");
        otherwise = *std::move(v);
    }
    group_plan plan{{}, {}, order, true};
    const bson::document standard = bson::doc("count", bson::doc("$sum", 1));
    for (const bson::element& e : read->output ? read->output.as_document() : standard.view()) {
        auto field = read_accumulated(e, in);
        if (!field)
            return std::move(field).error();
        plan.fields.push_back(*std::move(field));
    }
    auto by = expression::compile(read->group_by, in.by, in.context);
    if (!by)
        return std::move(by).error();
    plan.key = [key = key_by(*std::move(by)), edges = *std::move(boundaries),
                otherwise = std::move(otherwise), order](bson::view document) -> result<value> {
        auto v = key(document);
        if (!v)
            return v;
        const value_less less{order ? &*order : nullptr};
        const auto above = std::upper_bound(edges.begin(), edges.end(), *v, less);
        if (above != edges.begin() && above != edges.end())
            return *(above - 1);
        if (otherwise)
            return *otherwise;
        return refuse(40066,
                      "$switch could not find a matching branch for an input, and no default "
                      "was specified.");
    };
    return std::make_unique<group_stage>(std::move(plan));
}

}  // namespace holdfast::lab::staging
