#pragma once
#include "core/mongo/handshake/environment.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::core::mongo {

/// The server refuses a handshake with more.
inline constexpr std::size_t max_metadata_size = 512;
inline constexpr std::size_t max_application_name_size = 128;

/// The metadata of a library that wraps this one.
struct wrapping_library {
    std::string name;
    std::string version = {};
    std::string platform = {};
    friend bool operator==(const wrapping_library&, const wrapping_library&) = default;
};

struct client_metadata {
    std::string application = {};  // by the application; never a default
    std::string driver_name = "holdfast";
    std::string driver_version = {};
    std::string os_type = {};  // empty: "unknown"
    std::string os_name = {};
    std::string os_architecture = {};
    std::string os_version = {};
    std::string platform = {};  // what matters most comes first: the end is cut if need be
    client_environment environment = {};
    std::vector<wrapping_library> wrapped_by = {};
};

/// Adds a library, for connections that are opened from now on. One that is there already is not
/// added again. An error if a text contains the separator.
result<void> append(client_metadata& metadata, wrapping_library library);

/// The `client` document of a handshake. What does not fit into 512 bytes is left out: first
/// details of the environment, then of the operating system, then the environment, the end of the
/// platform, and at last what wrapping libraries added. An error if the application's name is too
/// long: that is the application's to mend, and ours to say before the server does.
result<bson::document> client_document(const client_metadata& metadata);

}  // namespace holdfast::core::mongo
