#pragma once
#include "truth/storm.hpp"
#include "truth/totals.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Planted defects by name, and what they look like in a storm.
namespace holdfast::truth {

std::optional<defect> defect_named(std::string_view name);

/// What a storm says of a Couchbase client with that defect. It may say more. Empty: its harm to
/// writes is what is counted.
std::string_view symptom_of(defect with);

/// The line of the complaints in which the symptom is; the first line if it has none.
std::string line_with(const std::string& complaints, std::string_view symptom);

/// The harm that the planted defect does has been seen.
bool found_out(defect with, const totals& sum);

}  // namespace holdfast::truth
