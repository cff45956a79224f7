#pragma once
#include "client/prose/lab_scene.hpp"

#include <functional>

namespace holdfast::proof {

/// A method that takes a session, called with one or, if there is null, without.
struct session_method {
    const char* name;
    const char* command;  // that it sends
    std::function<std::optional<error>(lab_scene&, const mongo::session*)> call;
};

/// All of them, in an order in which they succeed one after the other.
const std::vector<session_method>& session_methods();

}  // namespace holdfast::proof
