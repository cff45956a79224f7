#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::bench {

/// What the command line says.
struct order {
    std::string operation = "ping";
    std::string uri;
    std::uint64_t count = 1000;
    std::uint32_t concurrency = 1;
    bool sync = false;
    std::string document;      // a file in JSON: what is inserted
    std::string user = "Administrator";  // of key-value operations
    std::string password = "password";
    std::uint32_t collections = 0;  // c0, c1, ...; none: the default one
};

/// What was done. Workers of one thread share it.
struct tally {
    using clock = std::chrono::steady_clock;

    explicit tally(std::uint64_t wanted_in_all) : wanted{wanted_in_all} {}

    /// Whether one more operation is to be done; then it counts as begun.
    bool begin_another() noexcept
    {
        if (begun == wanted || !failure.empty())
            return false;
        ++begun;
        return true;
    }

    const std::uint64_t wanted;
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
    std::uint64_t documents = 0;  // found
    std::int64_t checksum = 0;    // the sum of their ids
    std::string failure = {};
    clock::time_point began = clock::now();
    clock::time_point ended = {};  // of the last operation, if anybody looked
};

}  // namespace holdfast::bench
