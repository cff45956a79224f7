#include "lab/mongo/expression/expression.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/compiler.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab {

namespace {

// What one expression may do for all documents together. A little is added for each of them, so
// that only one that works hard comes to an end: while a server computes it answers no client.
constexpr std::size_t most_work = 10'000'000;
constexpr std::size_t work_for_each = 500;

}  // namespace

struct expression::compiled {
    computing::node_ptr top;
    expression_context kept;  // chance alone: all else was looked up while compiling
    std::optional<collation> by;
    std::size_t work_left = most_work;
};

expression::expression(std::unique_ptr<compiled> made) : compiled_{std::move(made)} {}
expression::expression(expression&&) noexcept = default;
expression& expression::operator=(expression&&) noexcept = default;
expression::~expression() = default;

result<expression> expression::compile(const bson::element& from,
                                       const std::optional<collation>& by,
                                       const expression_context& context)
{
    auto made = std::make_unique<compiled>();
    made->kept.chance = context.chance;
    made->by = by;
    computing::compiler with{context, made->by ? &*made->by : nullptr};
    auto top = with.compile(from);
    if (!top)
        return std::move(top).error();
    made->top = *std::move(top);
    return expression{std::move(made)};
}

result<value> expression::evaluate(bson::view root) const
{
    if (const value* same = compiled_->top->constant())
        return *same;
    computing::scope in{root, compiled_->kept, compiled_->by ? &*compiled_->by : nullptr};
    std::size_t& left = compiled_->work_left;
    left = std::min(left + work_for_each, most_work);
    const std::size_t lent = std::min(left, in.work_left);
    in.work_left = lent;
    auto made = compiled_->top->evaluate(in);
    left -= lent - in.work_left;
    return made;
}

bool is_true(const bson::element& what) noexcept
{
    switch (what.type()) {
    case bson::type::invalid:
    case bson::type::null:
    case bson::type::undefined:
        return false;
    case bson::type::boolean:
        return what.as_bool();
    case bson::type::int32:
        return what.as_int32() != 0;
    case bson::type::int64:
        return what.as_int64() != 0;
    case bson::type::double_:
        return what.as_double() != 0;
    case bson::type::decimal128: {
        const bson::decimal128 number = what.as_decimal128();
        if (number.is_nan() || number.is_infinite())
            return true;
        constexpr std::uint64_t coefficient = 0x0001'FFFF'FFFF'FFFF;
        // The long form of the encoding would be beyond 34 digits, which counts as zero.
        const bool long_form = (number.high & 0x6000'0000'0000'0000) == 0x6000'0000'0000'0000;
        return !long_form && (number.low != 0 || (number.high & coefficient) != 0);
    }
    default:
        return true;
    }
}

result<bson::document> evaluate_let(bson::view let, const expression_context& context)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& e : let) {
        if (e.malformed())
            return refuse(22, "malformed BSON in let");
        if (auto good = computing::check_variable_name(e.key(), false); !good)
            return std::move(good).error();
        auto compiled = expression::compile(e, {}, context);
        if (!compiled)
            return std::move(compiled).error();
        auto made = compiled->evaluate({});
        if (!made)
            return std::move(made).error();
        if (!made->missing())
            out.copy(e.key(), made->get());
        else
            out.put(e.key(), bson::undefined{});
    }
    if (auto done = out.finish(); !done)
        return std::move(done).error();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::lab
