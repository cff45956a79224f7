#pragma once
#include "lab/mongo/expression/node.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::lab::computing {

class compiler;

/// An operator whose arguments are a list: {$add: [1, 2]}, or a single one without brackets.
struct list_operator {
    static constexpr std::uint8_t any = 255;
    std::string_view name;
    std::uint8_t least;
    std::uint8_t most;
    operation run;
};

/// An operator whose arguments have names: {$trim: {input: "$a"}}.
struct named_operator {
    struct parameter {
        std::string_view name;
        int missing = 0;  // the code if it is not there; zero: it may be left out
    };
    std::string_view name;
    int not_an_object;
    int unknown;
    operation run;
    std::array<parameter, 6> parameters;
};

/// An operator that decides itself what it evaluates, and when.
struct special_form {
    std::string_view name;
    result<node_ptr> (*compile)(compiler& with, const bson::element& spec);
};

std::span<const list_operator> number_operators();
std::span<const list_operator> logic_operators();
std::span<const list_operator> array_operators();
std::span<const list_operator> set_operators();
std::span<const list_operator> object_operators();
std::span<const list_operator> string_operators();
std::span<const list_operator> substring_operators();
std::span<const list_operator> conversion_operators();
std::span<const list_operator> date_operators();
std::span<const list_operator> accumulating_operators();

std::span<const named_operator> array_operators_with_names();
std::span<const named_operator> object_operators_with_names();
std::span<const named_operator> string_operators_with_names();
std::span<const named_operator> regex_operators();
std::span<const named_operator> conversion_operators_with_names();
std::span<const named_operator> date_operators_with_names();

std::span<const special_form> conditional_forms();
std::span<const special_form> loop_forms();

}  // namespace holdfast::lab::computing
