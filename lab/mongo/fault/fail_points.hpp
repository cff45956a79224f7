#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/fault/fault_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

/// What a fail point does to a command that it has chosen. The order is MongoDB's: block first,
/// then close the connection or answer with the error; a write concern error is added to the reply
/// of a command that was carried out.
struct injected_fault : fault {
    std::optional<std::vector<std::string>> error_labels = {};  // empty: none at all
    bson::document write_concern_error = {};  // empty: none
    std::string threads = {};
};

/// The command and its sender, by which fail points choose.
struct fault_target {
    std::string_view command;   // as it was sent, "insert"
    std::string_view ns;        // "db.coll" or empty
    std::string_view app_name;  // of the handshake
    bool internal = false;      // a connection from another member: only if failInternalCommands
};

/// The fail points of one node: configureFailPoint is parsed into a plan of faults. Modes: "off",
/// "alwaysOn", {times: n}, {skip: n}, {activationProbability: p}.
class fail_points {
public:
    /// {configureFailPoint: name, mode: ..., data: {...}}; unknown names are refused (266 with
    /// MongoDB's text), as are wrong fields. Gives the times it was entered before.
    result<std::int64_t> configure(bson::view command);

    /// The fault that failCommand has for a command; counts it if so. `chance` is for
    /// activationProbability.
    std::optional<injected_fault> on_command(const fault_target& target, double chance);

    /// onPrimaryTransactionalWrite, for a write with a transaction number.
    struct transactional_write {
        bool close_connection = true;
        std::optional<int> fail_before_commit_code = {};
    };
    std::optional<transactional_write> on_transactional_write(double chance);

    /// failGetMoreAfterCursorCheckout.
    std::optional<injected_fault> on_get_more(double chance);

    /// Costs one test while none is set.
    bool any() const noexcept { return plan_.any(); }

    void clear() noexcept { plan_.clear(); }

private:
    fault_plan<fault_target, injected_fault> plan_;
};

}  // namespace holdfast::lab
