#pragma once
#include "test_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::spec::unified {

enum class topology_kind : std::uint8_t { replica_set, single, sharded, load_balanced };

/// A deployment of the lab.
struct deployment_kind {
    topology_kind topology = topology_kind::replica_set;
    bool auth = false;
    server_version version = {8, 2, 0};
    friend auto operator<=>(const deployment_kind&, const deployment_kind&) = default;
};

/// "replica set 8.2 with auth".
std::string text_of(const deployment_kind& kind);

struct not_run {
    std::string reason;
};

/// What a case is to be run on: the first deployment that the lab has and that meets the file's
/// requirements and the case's; or why it is not run: it needs a feature that the library does not
/// have yet, or no deployment is what it asks for, or its file says that it is to be skipped.
/// `topology` as on the command line: "any", "single", "replica_set", "sharded", "load_balanced".
std::variant<deployment_kind, not_run> deployment_for(const unified_file& file,
                                                      const unified_case& one,
                                                      std::string_view topology);

/// Those under which there is such a deployment, as on the command line.
std::vector<std::string_view> topologies_for(const unified_file& file, const unified_case& one);

}  // namespace holdfast::spec::unified
