#pragma once
#include <cstddef>
#include <cstdint>

namespace holdfast::truth {

struct sockets_options {
    std::size_t clients = 16;
    std::size_t members = 3;
    std::uint32_t seconds = 60;
    std::uint64_t seed = 1;
    bool forgetful = false;  // the planted defect
};

/// Clients on real sockets, while the servers of a lab are broken at random. 0 if every promise was
/// kept.
int run_mongo_on_sockets(const sockets_options& options);
int run_couchbase_on_sockets(const sockets_options& options);

}  // namespace holdfast::truth
