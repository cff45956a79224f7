#pragma once
#include "holdfast/mongo/results.hpp"
#include "run.hpp"

#include <string>
#include <vector>

/// Outcomes of operations as the format writes them down.
namespace holdfast::spec::unified {

outcome_of_operation gave(const mongo::insert_one_result& came);
outcome_of_operation gave(const mongo::insert_many_result& came);
outcome_of_operation gave(const mongo::update_result& came);
outcome_of_operation gave(const mongo::delete_result& came);
outcome_of_operation gave(const mongo::bulk_write_result& came);
outcome_of_operation gave(const mongo::client_bulk_write_result& came);
outcome_of_operation gave(const bson::document& came);
outcome_of_operation gave(const bson::array& came);
outcome_of_operation gave(std::int64_t came);
outcome_of_operation gave(const std::string& came);
outcome_of_operation gave(const std::vector<std::string>& came);
outcome_of_operation gave(const std::vector<bson::document>& came);
outcome_of_operation gave(const std::optional<bson::document>& came);  // null if there is none
outcome_of_operation gave(bson::timestamp came);
outcome_of_operation gave_nothing();

/// With what is known of the writes that were done.
outcome_of_operation failed_with(const error& why);

template <class T>
outcome_of_operation outcome_from(const result<T>& came)
{
    return came ? gave(*came) : failed_with(came.error());
}
inline outcome_of_operation outcome_from(const result<void>& came)
{
    return came ? gave_nothing() : failed_with(came.error());
}

}  // namespace holdfast::spec::unified
