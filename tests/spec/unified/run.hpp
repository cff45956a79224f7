#pragma once
#include "../format.hpp"
#include "entities.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "needs.hpp"
#include "test_file.hpp"

#include <optional>
#include <string_view>

namespace holdfast::spec::unified {

/// What came of an operation. After a failure `value` may hold what is known of the writes that
/// were done ("expectResult" within "expectError"). A case that asks for what cannot be (an unknown
/// operation, an argument that the runner does not know, an entity that is not there) is no
/// outcome: it throws case_failure.
struct outcome_of_operation {
    std::optional<error> failed = {};
    std::optional<bson::document> value = {};  // {v: result}; nothing if it gives none
};

/// A running deployment of the lab, on sockets or in the simulator, and what the runner itself
/// keeps there: see running_lab.hpp.
class running_lab;

/// Initial data, entities, operations, events, messages, outcome. Whatever it throws is a failure.
outcome run_case(running_lab& on, const unified_file& file, const unified_case& one,
                 const settings& options);

/// What the folder that a file lies in says about it: the format's own tests are files that must be
/// refused ("invalid") or whose cases must fail ("valid-fail"); all others must pass.
enum class expectation : std::uint8_t { pass, fail, refused };

/// What such a file is reported as, given what came of it: a failure that was expected is a pass,
/// and a pass a failure. Skips stay.
outcome decided(outcome came, expectation expected);

}  // namespace holdfast::spec::unified
