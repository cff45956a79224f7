#include "format.hpp"

namespace holdfast::spec {

std::span<const format* const> known_formats() noexcept
{
    static constexpr const format* all[] = {
        &bson_corpus,      &binary_vector, &connection_string, &auth_string,   &concern_string,
        &concern_document, &sdam_phases,   &server_selection,  &max_staleness, &round_trip,
        &in_window,        &pool,          &dns_seedlist,      &legacy_tests,  &unified_tests,
    };
    return all;
}

}  // namespace holdfast::spec
