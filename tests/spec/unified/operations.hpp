#pragma once
#include "api_entities.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace holdfast::spec::unified {

/// Carries out an operation, compares what came of it with what was expected, and keeps what is to
/// be kept. Throws case_failure, or case_skipped.
runtime::awaitable<void> execute(std::shared_ptr<context> in, operation what);

using context_ptr = std::shared_ptr<context>;

/// Waits until the thread has carried out all that it was given. Throws case_failure if it does not
/// end in time, or if one of its operations came out otherwise than expected.
runtime::awaitable<void> end_thread(context_ptr in, std::shared_ptr<thread_entity> which);

/// One operation. `what` outlives the coroutine.
struct named_operation {
    std::string_view name;
    runtime::awaitable<outcome_of_operation> (*run)(context_ptr in, const operation& what);
    bool saves_itself = false;  // under the name that it is given: its result is no BSON value
};

/// By what they do; each in a file of its own.
std::span<const named_operation> write_operations() noexcept;
std::span<const named_operation> bulk_operations() noexcept;
std::span<const named_operation> read_operations() noexcept;
std::span<const named_operation> cursor_operations() noexcept;
std::span<const named_operation> admin_operations() noexcept;
std::span<const named_operation> session_operations() noexcept;
std::span<const named_operation> deprecated_operations() noexcept;
/// Those whose object is the runner itself.
std::span<const named_operation> runner_operations() noexcept;
std::span<const named_operation> assertions() noexcept;

}  // namespace holdfast::spec::unified
