#pragma once
#include "holdfast/error.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::truth {

/// A Couchbase cluster of the lab in a process of its own, for measurements of what the client
/// alone holds. Only a process without other threads may start one.
class lab_process {
public:
    static result<std::unique_ptr<lab_process>> start(std::size_t nodes);
    lab_process(const lab_process&) = delete;
    lab_process& operator=(const lab_process&) = delete;
    /// Ends the process, and waits for that.
    ~lab_process();

    const std::string& uri() const noexcept { return uri_; }

    /// One member is failed over, "hard", "gracefully" or after a "crash", and another joins in its
    /// place. Returns at once; outcome() waits for it.
    void fail_over(std::string_view kind);
    /// Empty: it went well, or none was asked for.
    std::string outcome();

private:
    lab_process(int process, int commands, int answers) noexcept
        : process_{process}, commands_{commands}, answers_{answers}
    {
    }
    std::string read_line();

    int process_;
    int commands_;
    int answers_;
    bool waits_ = false;  // an answer is due
    std::string uri_;
};

}  // namespace holdfast::truth
