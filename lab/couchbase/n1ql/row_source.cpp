#include "lab/couchbase/n1ql/row_source.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"

#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

class one_empty_row final : public row_source {
public:
    result<progress> next(source_row&) override
    {
        return std::exchange(given_, true) ? progress::end : progress::row;
    }

private:
    bool given_ = false;
};

class listed_values final : public row_source {
public:
    explicit listed_values(json::array all) : all_(std::move(all)) {}

    result<progress> next(source_row& into) override
    {
        if (at_ == all_.size())
            return progress::end;
        into.content = std::move(all_[at_++]);
        return progress::row;
    }

private:
    json::array all_;
    std::size_t at_ = 0;
};

/// ARRAY_RANGE, of which there is never more than one number.
class ranged_numbers final : public row_source {
public:
    explicit ranged_numbers(number_range range) : range_{range} {}

    result<progress> next(source_row& into) override
    {
        const auto number_here = range_.take();
        if (!number_here)
            return progress::end;
        into.content = number(*number_here);
        return progress::row;
    }

private:
    number_range range_;
};

class documents final : public row_source {
public:
    documents(keyspace in, std::vector<std::string> keys, datastore& on)
        : in_{std::move(in)}, keys_{std::move(keys)}, on_{on}
    {
    }

    result<progress> next(source_row& into) override
    {
        if (at_ == keys_.size())
            return progress::end;
        auto found = on_.get(in_, keys_[at_++]);
        if (!found)
            return std::move(found).error();
        if (!*found)
            return progress::work;
        into.content = std::move((*found)->content);
        into.metadata = std::move((*found)->metadata);
        return progress::row;
    }

private:
    keyspace in_;
    std::vector<std::string> keys_;
    std::size_t at_ = 0;
    datastore& on_;
};

/// Of USE KEYS: one, or a list of them. What is no text is passed over, as a server does.
result<std::vector<std::string>> listed_keys(const expression& of, environment& with)
{
    const value given = evaluate(of, {}, with);
    if (auto fine = check(with); !fine)
        return std::move(fine).error();
    std::vector<std::string> keys;
    const auto add = [&](const json::value& one) {
        if (const json::string* const key = one.if_string())
            keys.emplace_back(view(*key));
    };
    if (const json::array* const list = given ? given->if_array() : nullptr) {
        for (const json::value& one : *list)
            add(one);
    } else if (given) {
        add(*given);
    }
    return keys;
}

result<std::unique_ptr<row_source>> values_of(const expression& of, environment& with)
{
    const call* const made = std::get_if<call>(&of.is);
    if (made && made->what->name == "ARRAY_RANGE") {
        std::vector<value> arguments;
        for (const expression_ptr& one : made->arguments)
            arguments.push_back(evaluate(*one, {}, with));
        if (auto fine = check(with); !fine)
            return std::move(fine).error();
        if (const auto range = range_of(arguments))
            return std::unique_ptr<row_source>{std::make_unique<ranged_numbers>(*range)};
    }
    value all = evaluate(of, {}, with);
    if (auto fine = check(with); !fine)
        return std::move(fine).error();
    json::array list;
    if (all && all->is_array())
        list = std::move(all->get_array());
    else if (all)
        list.push_back(*std::move(all));
    return std::unique_ptr<row_source>{std::make_unique<listed_values>(std::move(list))};
}

}  // namespace

result<std::unique_ptr<row_source>> documents_of(const keyspace& in, const expression_ptr& keys,
                                                 datastore& on, environment& with)
{
    auto all = keys ? listed_keys(*keys, with) : on.keys(in);
    if (!all)
        return std::move(all).error();
    return std::unique_ptr<row_source>{std::make_unique<documents>(in, *std::move(all), on)};
}

result<std::unique_ptr<row_source>> open_source(const std::optional<source>& from, datastore& on,
                                                environment& with)
{
    if (!from)
        return std::unique_ptr<row_source>{std::make_unique<one_empty_row>()};
    if (!from->keyspace)
        return values_of(*from->of, with);
    if (on.is_catalog(*from->keyspace)) {
        auto rows = on.catalog_rows(*from->keyspace);
        if (!rows)
            return std::move(rows).error();
        return std::unique_ptr<row_source>{std::make_unique<listed_values>(*std::move(rows))};
    }
    auto found = on.find(*from->keyspace, purpose::read);
    if (!found)
        return std::move(found).error();
    return documents_of(*found, from->keys, on, with);
}

result<std::optional<std::uint64_t>> row_count(const expression_ptr& of, environment& in,
                                               std::string_view clause)
{
    std::optional<std::uint64_t> count;
    if (!of)
        return count;
    const value given = evaluate(*of, {}, in);
    if (auto fine = check(in); !fine)
        return std::move(fine).error();
    const auto number_given = integer_in(given);
    if (!number_given)
        return refuse(query_code::evaluation, "Invalid " + std::string{clause} + " value");
    count = static_cast<std::uint64_t>(std::max(*number_given, std::int64_t{0}));
    return count;
}

result<void> check(const environment& in)
{
    if (in.failed)
        return error{*in.failed};
    return {};
}

json::value project(const std::vector<projection>& what, bool raw, const row_view& at,
                    environment& in)
{
    if (raw) {
        const projection& only = what.front();
        if (!only.of)
            return at.item ? *at.item : json::value(nullptr);
        return evaluate(*only.of, at, in).value_or(json::value(nullptr));
    }
    json::object made;
    std::size_t unnamed = 0;
    for (const projection& one : what) {
        if (!one.of) {
            if (at.item)
                made[json::string_view{at.alias.data(), at.alias.size()}] = *at.item;
            continue;
        }
        value found = evaluate(*one.of, at, in);
        if (one.all_fields) {
            const json::object* const fields = found ? found->if_object() : nullptr;
            for (std::size_t n = 0; fields && n != fields->size(); ++n) {
                const auto& [name, member] = *(fields->begin() + static_cast<std::ptrdiff_t>(n));
                made[name] = member;
            }
            continue;
        }
        std::string name = one.alias;
        if (name.empty())
            name = "$" + std::to_string(++unnamed);
        if (found)
            made[name] = *std::move(found);
    }
    return made;
}

}  // namespace holdfast::lab::couchbase::n1ql
