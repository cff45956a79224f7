#pragma once
#include "lab/mongo/aggregate/stage.hpp"
#include "lab/mongo/document/value.hpp"
#include "lab/mongo/expression/expression.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace holdfast::lab::staging {

/// What one field of one group has seen so far.
class accumulator {
public:
    virtual ~accumulator() = default;
    virtual result<void> take(value v) = 0;
    virtual value total() const = 0;
    virtual std::size_t memory() const { return 0; }
};

/// {total: {$sum: "$a"}}, compiled.
struct accumulated_field {
    std::string name;
    std::string_view op;
    expression by;
};

result<accumulated_field> read_accumulated(const bson::element& spec, const surroundings& in);

std::unique_ptr<accumulator> make_accumulator(std::string_view op, const collation* by);

}  // namespace holdfast::lab::staging
