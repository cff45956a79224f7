#include "session_inside.hpp"

#include "shell/mongo/execute/operation_session.hpp"

namespace holdfast::spec::unified {
namespace {

using state = std::shared_ptr<shell::mongo::session_state>;

/// An explicit instantiation may name what is private; so the public class needs no door for tests.
template <state mongo::session::* Member>
struct opened {
    friend const state& state_of(const mongo::session& which) { return which.*Member; }
};
const state& state_of(const mongo::session& which);
template struct opened<&mongo::session::state_>;

}  // namespace

bool is_dirty(const mongo::session& which)
{
    const state& inside = state_of(which);
    return inside && inside->server && inside->server->is_dirty();
}

}  // namespace holdfast::spec::unified
