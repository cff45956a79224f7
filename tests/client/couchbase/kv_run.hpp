#pragma once
#include "holdfast/error.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::proof {

/// What becomes of an operation.
template <class T>
struct kv_operation_run {
    std::optional<result<T>> outcome = {};
    time_point began{};
    time_point ended{};
    bool done() const noexcept { return outcome.has_value(); }
    bool good() const noexcept { return outcome && outcome->has_value(); }
    duration took() const noexcept { return ended - began; }
    error_code code() const { return good() || !done() ? error_code{} : outcome->error().code(); }
    const holdfast::error& error() const { return outcome->error(); }
    std::string explain() const
    {
        if (!outcome)
            return "not done";
        return outcome->has_value() ? "done" : outcome->error().explain();
    }
};
template <class T>
using kv_run = std::shared_ptr<kv_operation_run<T>>;

}  // namespace holdfast::proof
