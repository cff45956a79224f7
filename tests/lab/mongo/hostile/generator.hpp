#pragma once
#include "tree.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::hostile {

/// Makes commands that are almost right, the same ones for the same seed.
class generator {
public:
    explicit generator(std::uint64_t seed);

    /// A command of this name is to be among them; those that have an example are.
    void cover(std::string_view name);

    /// The body of a command, most often well-formed BSON. `cursor` is the id of an open one.
    std::string command(std::int64_t cursor);

    std::uint64_t number();
    std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : number() % limit; }
    bool once_in(std::uint64_t times) { return below(times) == 0; }

    /// Damage to bytes, whatever they are.
    void spoil(std::string& bytes);

private:
    void mutate(tree& command);
    void mutate_list(std::vector<tree>& in, std::size_t which);
    tree odd_value();
    tree odd_number();
    std::string odd_key();
    std::string odd_text();
    tree deep(tree inner, std::size_t levels);
    tree& any_of(tree& from);
    void add_common_fields(tree& to);

    std::uint64_t state_;
    std::vector<tree> examples_;
    std::vector<tree> common_;
};

}  // namespace holdfast::lab::hostile
