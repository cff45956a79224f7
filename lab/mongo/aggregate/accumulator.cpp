#include "lab/mongo/aggregate/accumulator.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/accumulate.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::lab::staging {

namespace {

class sum_or_mean final : public accumulator {
public:
    explicit sum_or_mean(bool mean) : mean_{mean} {}
    result<void> take(value v) override { return sum_.take(v.get()); }
    value total() const override { return mean_ ? sum_.mean() : sum_.total(); }

private:
    computing::running_sum sum_;
    bool mean_;
};

class extreme final : public accumulator {
public:
    extreme(bool greatest, const collation* by) : found_{greatest, by} {}
    result<void> take(value v) override { return found_.take(v.get()), result<void>{}; }
    value total() const override { return found_.found(); }

private:
    computing::running_extreme found_;
};

class first_or_last final : public accumulator {
public:
    explicit first_or_last(bool first) : first_{first} {}
    result<void> take(value v) override
    {
        if (!first_ || !seen_)
            held_ = std::move(v);
        seen_ = true;
        return {};
    }
    value total() const override { return held_; }

private:
    value held_;
    bool first_;
    bool seen_ = false;
};

class pushed final : public accumulator {
public:
    pushed(bool once, const collation* by) : known_{value_less{by}}, once_{once} {}
    result<void> take(value v) override
    {
        if (v.missing() || (once_ && !known_.insert(v).second))
            return {};
        out_.copy(v.get());
        return {};
    }
    value total() const override
    {
        // The builder stays open for more; a copy of its elements is closed.
        bson::byte_buffer bytes = bytes_;
        *bytes.grow(1) = 0;
        bson::layout::store(bytes.data(), static_cast<std::int32_t>(bytes.size()));
        return value{bson::array_view{bson::view::trusted(bytes.data())}};
    }
    std::size_t memory() const override { return bytes_.size() * (once_ ? 3 : 1); }

private:
    bson::byte_buffer bytes_;
    bson::array_builder out_{bytes_};
    std::set<value, value_less> known_;
    bool once_;
};

class merged final : public accumulator {
public:
    result<void> take(value v) override
    {
        const bson::element e = v.get();
        if (computing::is_nullish(e))
            return {};
        if (e.type() != bson::type::document)
            return refuse(40400, "$mergeObjects requires object inputs, but input " +
                                     computing::to_text(e) + " is of type " +
                                     computing::type_text(e));
        bson::byte_buffer bytes;
        {
            bson::builder out{bytes};
            for (const bson::element& before : so_far_) {
                const bson::element now = e.as_document().find(before.key());
                out.copy(before.key(), now ? now : before);
            }
            for (const bson::element& now : e.as_document()) {
                if (!now.malformed() && !so_far_.find(now.key()))
                    out.copy(now);
            }
        }
        so_far_ = bson::document::adopt(std::move(bytes));
        return {};
    }
    value total() const override { return value{so_far_.view()}; }
    std::size_t memory() const override { return so_far_.size(); }

private:
    bson::document so_far_;
};

constexpr std::string_view operators[] = {"$sum",  "$avg",  "$min",      "$max",   "$first",
                                          "$last", "$push", "$addToSet", "$count", "$mergeObjects"};

}  // namespace

std::unique_ptr<accumulator> make_accumulator(std::string_view op, const collation* by)
{
    if (op == "$avg")
        return std::make_unique<sum_or_mean>(true);
    if (op == "$min" || op == "$max")
        return std::make_unique<extreme>(op == "$max", by);
    if (op == "$first" || op == "$last")
        return std::make_unique<first_or_last>(op == "$first");
    if (op == "$push" || op == "$addToSet")
        return std::make_unique<pushed>(op == "$addToSet", by);
    if (op == "$mergeObjects")
        return std::make_unique<merged>();
    return std::make_unique<sum_or_mean>(false);
}

result<accumulated_field> read_accumulated(const bson::element& spec, const surroundings& in)
{
    const std::string name{spec.key()};
    if (name.find('.') != std::string::npos)
        return refuse(40235, "The field name '" + name + "' cannot contain '.'");
    if (name.starts_with('$'))
        return refuse(40236, "The field name '" + name + "' cannot be an operator name");
    if (spec.type() != bson::type::document || spec.as_document().empty())
        return refuse(40234, "The field '" + name + "' must be an accumulator object");
    const bson::element call = *spec.as_document().begin();
    auto rest = spec.as_document().begin();
    if (call.malformed() || ++rest != std::default_sentinel)
        return refuse(40238, "The field '" + name + "' must specify one accumulator");
    if (!call.key().starts_with('$'))
        return refuse(40234, "The field '" + name + "' must be an accumulator object");
    const auto op = std::ranges::find(operators, call.key());
    if (op == std::end(operators))
        return refuse(15952, "unknown group operator '" + std::string{call.key()} + "'");
    const value one = value::of(1);
    bson::element operand = call;
    if (*op == "$count") {
        if (call.type() != bson::type::document || !call.as_document().empty())
            return refuse(server_code::type_mismatch, "$count takes no arguments, i.e. $count:{}");
        operand = one.get();
    } else if (call.type() == bson::type::array) {
        if (call.as_array().count() != 1)
            return refuse(40237, "The " + std::string{*op} + " accumulator is a unary operator");
        operand = call.as_array()[0];
    }
    auto by = expression::compile(operand, in.by, in.context);
    if (!by)
        return std::move(by).error();
    return accumulated_field{name, *op, *std::move(by)};
}

}  // namespace holdfast::lab::staging
