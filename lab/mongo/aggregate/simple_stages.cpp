#include "lab/mongo/aggregate/compute.hpp"
#include "lab/mongo/aggregate/stage.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/stable_sort.hpp"
#include "lab/mongo/expression/node.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/query/sort_pattern.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::staging {

namespace {

// ---- $match ----

class match_stage final : public stage {
public:
    explicit match_stage(matcher by) : by_{std::move(by)} {}
    result<documents> run(documents in, runner&) const override
    {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
            const auto matched = by_.matches(in[i]);
            if (!matched)
                return matched.error();
            if (!*matched)
                continue;
            if (kept != i)
                in[kept] = std::move(in[i]);
            ++kept;
        }
        in.resize(kept);
        return in;
    }

private:
    matcher by_;
};

// ---- $sort ----

class sort_stage final : public stage {
public:
    explicit sort_stage(sort_pattern by) : by_{std::move(by)} {}
    result<documents> run(documents in, runner&) const override
    {
        struct row {
            std::vector<value> key;
            bson::document whole;
        };
        std::vector<row> rows;
        rows.reserve(in.size());
        for (bson::document& d : in) {
            auto key = by_.key_of(d);
            rows.push_back({std::move(key), std::move(d)});
        }
        sort_stably(rows,
                    [&](const row& a, const row& b) { return by_.compare(a.key, b.key) < 0; });
        for (std::size_t i = 0; i < rows.size(); ++i)
            in[i] = std::move(rows[i].whole);
        return in;
    }

private:
    sort_pattern by_;
};

// ---- $limit, $skip ----

class window_stage final : public stage {
public:
    window_stage(std::uint64_t skip, std::uint64_t limit) : skip_{skip}, limit_{limit} {}
    result<documents> run(documents in, runner&) const override
    {
        const auto first = std::min<std::uint64_t>(skip_, in.size());
        in.erase(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(first));
        if (in.size() > limit_)
            in.resize(static_cast<std::size_t>(limit_));
        return in;
    }

private:
    std::uint64_t skip_;
    std::uint64_t limit_;
};

// ---- $count ----

class count_stage final : public stage {
public:
    explicit count_stage(std::string field) : field_{std::move(field)} {}
    result<documents> run(documents in, runner&) const override
    {
        documents made;
        if (in.empty())
            return made;
        if (in.size() <= INT32_MAX)
            made.push_back(bson::doc(field_, static_cast<std::int32_t>(in.size())));
        else
            made.push_back(bson::doc(field_, static_cast<std::int64_t>(in.size())));
        return made;
    }

private:
    std::string field_;
};

// ---- $sample ----

class sample_stage final : public stage {
public:
    sample_stage(std::uint64_t size, std::function<double()> chance)
        : size_{size}, chance_{std::move(chance)}
    {
    }
    result<documents> run(documents in, runner&) const override
    {
        const std::size_t count = in.size();
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size_, count));
        for (std::size_t i = 0; i < wanted; ++i) {
            const double drawn = chance_ ? chance_() : 0.0;
            const auto offset = static_cast<std::size_t>(drawn * static_cast<double>(count - i));
            std::swap(in[i], in[std::min(i + offset, count - 1)]);
        }
        in.resize(wanted);
        return in;
    }

private:
    std::uint64_t size_;
    std::function<double()> chance_;
};

// ---- $replaceRoot, $replaceWith ----

class replace_root_stage final : public stage {
public:
    replace_root_stage(expression by, std::string what) : by_{std::move(by)}, what_{std::move(what)}
    {
    }
    result<documents> run(documents in, runner& with) const override
    {
        room left{with};
        for (bson::document& d : in) {
            const auto made = by_.evaluate(d);
            if (!made)
                return made.error();
            const bson::element root = made->get();
            if (root.type() != bson::type::document)
                return refuse(40228, "'" + what_ +
                                         "' expression  must evaluate to an object, but resulting "
                                         "value was: " +
                                         computing::to_text(root) + ". Type of resulting value: '" +
                                         computing::type_text(root) + "'.");
            d = bson::document{root.as_document()};
            if (auto good = check_document(d); !good)
                return std::move(good).error();
            if (auto good = left.take(d); !good)
                return std::move(good).error();
        }
        return in;
    }

private:
    expression by_;
    std::string what_;
};

}  // namespace

result<stage_ptr> make_match(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document)
        return refuse(15959, "the match filter must be an expression in an object");
    auto by = matcher::compile(spec.as_document(), in.by, in.context);
    if (!by)
        return std::move(by).error();
    return std::make_unique<match_stage>(*std::move(by));
}

result<stage_ptr> make_sort(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document)
        return refuse(15973, "the $sort key specification must be an object");
    if (spec.as_document().empty())
        return refuse(15976, "$sort stage must have at least one sort key");
    for (const bson::element& e : spec.as_document()) {
        if (e.type() == bson::type::document)
            continue;  // {$meta: ...} is checked by the pattern
        const auto n = whole(e);
        if (!n || (*n != 1 && *n != -1))
            return refuse(15975,
                          "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
    }
    auto by = sort_pattern::compile(spec.as_document(), in.by);
    if (!by)
        return std::move(by).error();
    return std::make_unique<sort_stage>(*std::move(by));
}

result<stage_ptr> make_limit(const bson::element& spec, const surroundings&, stage_list&)
{
    const auto n = whole(spec);
    if (!n || *n < 0)
        return refuse(5107201,
                      "invalid argument to $limit stage: Expected a non-negative number "
                      "in: $limit: " +
                          computing::to_text(spec));
    if (*n == 0)
        return refuse(15958, "the limit must be positive");
    return std::make_unique<window_stage>(0, static_cast<std::uint64_t>(*n));
}

result<stage_ptr> make_skip(const bson::element& spec, const surroundings&, stage_list&)
{
    const auto n = whole(spec);
    if (!n || *n < 0)
        return refuse(5107200,
                      "invalid argument to $skip stage: Expected a non-negative number "
                      "in: $skip: " +
                          computing::to_text(spec));
    return std::make_unique<window_stage>(static_cast<std::uint64_t>(*n), UINT64_MAX);
}

result<stage_ptr> make_count(const bson::element& spec, const surroundings&, stage_list&)
{
    if (spec.type() != bson::type::string)
        return refuse(40156, "the count field must be a non-empty string");
    const std::string_view field = spec.as_string();
    if (field.empty())
        return refuse(40157, "the count field must be a non-empty string");
    if (field.starts_with('$'))
        return refuse(40158, "the count field cannot be a $-prefixed path");
    if (field.find('\0') != std::string_view::npos)
        return refuse(40159, "the count field cannot contain a null byte");
    if (field.find('.') != std::string_view::npos)
        return refuse(40160, "the count field cannot contain '.'");
    return std::make_unique<count_stage>(std::string{field});
}

result<stage_ptr> make_sample(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document)
        return refuse(28745, "the $sample stage specification must be an object");
    bson::element size;
    for (const bson::element& e : spec.as_document()) {
        if (e.key() != "size")
            return refuse(28748, "unrecognized option to $sample: " + std::string{e.key()});
        size = e;
    }
    if (!size)
        return refuse(28749, "$sample stage must specify a size");
    const auto n = whole(size);
    if (!n)
        return refuse(28746, "size argument to $sample must be a number");
    if (*n <= 0)
        return refuse(28747, "size argument to $sample must be a positive integer");
    return std::make_unique<sample_stage>(static_cast<std::uint64_t>(*n), in.context.chance);
}

result<stage_ptr> make_replace_root(const bson::element& spec, const surroundings& in, stage_list&)
{
    bson::element root = spec;
    const bool with = spec.key() == "$replaceWith";
    if (!with) {
        if (spec.type() != bson::type::document)
            return refuse(40229,
                          "expected an object as specification for $replaceRoot stage, got " +
                              computing::type_text(spec));
        root = {};
        for (const bson::element& e : spec.as_document()) {
            if (e.key() != "newRoot")
                return refuse(server_code::unknown_field, "BSON field '$replaceRoot." +
                                                              std::string{e.key()} +
                                                              "' is an unknown field.");
            root = e;
        }
        if (!root)
            return refuse(server_code::missing_field,
                          "BSON field '$replaceRoot.newRoot' is missing but a required field");
    }
    auto by = expression::compile(root, in.by, in.context);
    if (!by)
        return std::move(by).error();
    return std::make_unique<replace_root_stage>(*std::move(by),
                                                with ? "replacement document" : "newRoot");
}

}  // namespace holdfast::lab::staging
