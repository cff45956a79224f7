#pragma once
#include "holdfast/log.hpp"
#include "matching.hpp"
#include "test_file.hpp"

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace holdfast::spec::unified {

struct recorded_message {
    severity level = severity::informational;
    log_component component = {};
    bson::document data;  // "message" and the other fields
};

/// What one client entity logs, as "observeLogMessages" asks for. Thread-safe.
class client_messages : public log_sink {
public:
    /// `client`: the fields of the client entity.
    explicit client_messages(bson::view client);

    bool wants(log_component component, severity level) const noexcept override;
    void write(const log_record& record) noexcept override;

    /// Forgets what has been recorded: the case begins only now.
    void forget();

    /// Nothing is recorded any more: the operations of the case have ended.
    void stop();

    std::vector<recorded_message> recorded() const;

private:
    std::map<log_component, severity> observed_;
    mutable std::mutex mutex_;
    bool stopped_ = false;
    std::vector<recorded_message> messages_;
};

/// Throws case_failure with the number of the message and how it differs. `received` has the texts
/// of all errors of the case, also of those that a retry has made up for: a failure in the log is
/// redacted if it repeats none of them.
void check_messages(const expected_messages& expected, const client_messages& logged,
                    const matcher& rules, std::span<const std::string> received);

}  // namespace holdfast::spec::unified
