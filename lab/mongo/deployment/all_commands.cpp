#include "lab/mongo/deployment/all_commands.hpp"

#include "lab/mongo/command/tables.hpp"
#include "lab/mongo/set/set_member.hpp"

namespace holdfast::lab::mongo {

void add_all_commands(node& to)
{
    for (const std::span<const command> part : all_commands())
        to.add_commands(part);
    to.add_commands(all_set_commands());
}

}  // namespace holdfast::lab::mongo
