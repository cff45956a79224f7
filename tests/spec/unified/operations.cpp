#include "operations.hpp"

#include "errors.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::spec::unified {
namespace {

using operation_list = std::span<const named_operation> (*)() noexcept;

constexpr operation_list of_driver[] = {write_operations,     bulk_operations,  read_operations,
                                        cursor_operations,    admin_operations, session_operations,
                                        deprecated_operations};
constexpr operation_list of_runner[] = {runner_operations, assertions};

const named_operation* find_in(std::span<const operation_list> lists, std::string_view name)
{
    for (const operation_list all : lists) {
        const auto known = all();
        const auto found = std::ranges::find(known, name, &named_operation::name);
        if (found != known.end())
            return &*found;
    }
    return nullptr;
}

/// Operations of the format that this library has no function for, or not yet.
struct absent_operation {
    std::string_view name;
    std::string_view why;
};
constexpr absent_operation absent[] = {
    {"startTransaction", "needs transactions"},
    {"commitTransaction", "needs transactions"},
    {"abortTransaction", "needs transactions"},
    {"withTransaction", "needs transactions"},
    {"targetedFailPoint", "needs transactions"},
    {"assertSessionPinned", "needs transactions"},
    {"assertSessionUnpinned", "needs transactions"},
    {"assertSessionTransactionState", "needs transactions"},
    {"createChangeStream", "needs change streams"},
    {"createSearchIndex", "needs search indexes"},
    {"createSearchIndexes", "needs search indexes"},
    {"dropSearchIndex", "needs search indexes"},
    {"listSearchIndexes", "needs search indexes"},
    {"updateSearchIndex", "needs search indexes"},
};

const named_operation& operation_named(const operation& what)
{
    const auto lists = what.is_of_runner() ? std::span<const operation_list>{of_runner}
                                           : std::span<const operation_list>{of_driver};
    if (const named_operation* const found = find_in(lists, what.name))
        return *found;
    const auto* const known = std::ranges::find(absent, what.name, &absent_operation::name);
    if (known != std::end(absent))
        throw case_skipped{std::string{known->why}};
    throw case_failure{"operation " + std::string{what.name} + " of " + std::string{what.object} +
                       " is not known"};
}

}  // namespace

runtime::awaitable<void> execute(std::shared_ptr<context> in, operation what)
{
    const named_operation& found = operation_named(what);
    const outcome_of_operation came = co_await found.run(in, what);
    if (came.failed)
        std::ranges::move(sentences_of(*came.failed), std::back_inserter(in->reported_errors));
    check_outcome(what, came, in->rules);
    if (!what.save_result_as || came.failed || found.saves_itself)
        co_return;
    demand(came.value.has_value(),
           "operation " + std::string{what.name} + " gives nothing that could be kept");
    in->named.save(*what.save_result_as, came.value->find("v"));
}

}  // namespace holdfast::spec::unified
