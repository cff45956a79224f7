#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

/// What a fail point does to a command that it has chosen. The order is MongoDB's: block first,
/// then close the connection or answer with the error; a write concern error is added to the reply
/// of a command that was carried out.
struct injected_fault {
    std::chrono::milliseconds block{0};
    bool close_connection = false;
    std::optional<int> error_code = {};
    std::optional<std::vector<std::string>> error_labels = {};  // empty: none at all
    bson::document write_concern_error = {};  // empty: none
    std::string threads = {};
};

/// Who sends the command, for those that choose by it.
struct fault_target {
    std::string_view command;   // as it was sent, "insert"
    std::string_view ns;        // "db.coll" or empty
    std::string_view app_name;  // of the handshake
    bool internal = false;      // a connection from another member: only if failInternalCommands
};

/// The fail points of one node: configureFailPoint sets them, commands ask them. Modes: "off",
/// "alwaysOn", {times: n}, {skip: n}, {activationProbability: p}.
class fail_points {
public:
    /// {configureFailPoint: name, mode: ..., data: {...}}; unknown names are refused (code 266 with
    /// MongoDB's words), as are wrong fields. Gives the times it was entered before.
    result<std::int64_t> configure(bson::view command);

    /// What failCommand has in store for a command; counts it if so. `chance` is for
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
    bool any() const noexcept { return active_ != 0; }

    void clear() noexcept;

private:
    struct point {
        bson::document data;
        enum class when : std::uint8_t { off, always, times, skip, probability } mode = when::off;
        std::int64_t count = 0;
        double probability = 0;
        std::int64_t entered = 0;
    };
    static result<void> read_mode(const bson::element& mode, point& to);
    point* active(std::string_view name);
    bool enters(point& which, double chance);
    std::map<std::string, point, std::less<>> points_;
    std::size_t active_ = 0;
};

}  // namespace holdfast::lab
