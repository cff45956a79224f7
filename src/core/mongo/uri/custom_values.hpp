#pragma once
#include "core/mongo/uri/option_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// The options that are more than a switch, a number or a text: for each how a value is taken in,
/// and how the setting would be written.
reading take_w(client_settings& to, std::string_view value);
std::vector<std::string> written_w(const client_settings& from);

reading take_read_mode(client_settings& to, std::string_view value);
std::vector<std::string> written_read_mode(const client_settings& from);

reading take_tag_set(client_settings& to, std::string_view value);
std::vector<std::string> written_tag_sets(const client_settings& from);

reading take_max_staleness(client_settings& to, std::string_view value);
std::vector<std::string> written_max_staleness(const client_settings& from);

reading take_compressors(client_settings& to, std::string_view value);
std::vector<std::string> written_compressors(const client_settings& from);

reading take_monitoring_mode(client_settings& to, std::string_view value);
std::vector<std::string> written_monitoring_mode(const client_settings& from);

reading take_profile(client_settings& to, std::string_view value);
std::vector<std::string> written_profile(const client_settings& from);

reading take_mechanism_properties(client_settings& to, std::string_view value);
std::vector<std::string> written_mechanism_properties(const client_settings& from);

}  // namespace holdfast::core::mongo
