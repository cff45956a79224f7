#pragma once
#include <boost/json.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::spec {

struct passed {};
struct failed {
    std::string why;
};
struct skipped {
    std::string reason;
};
using outcome = std::variant<passed, failed, skipped>;

/// What the command line says about how cases are to be run. Every value has been checked.
struct settings {
    std::string_view profile = "as_specified";
    bool profile_given = false;  // then there are no exceptions
    std::string_view topology = "any";
    std::string_view runtime = "net";
    bool rescue = true;  // rescueFromDeposedPrimary of all clients
    std::string_view file = {};  // where the case was found
};

/// One case of a file. It may refer into the file, which outlives it. Whatever it throws is a
/// failure: a case whose file lacks what it needs has failed, and says what was missing.
struct test_case {
    std::string description;
    std::function<outcome(const settings&)> run;
    const boost::json::value* content = nullptr;  // what it is known by, if it can be an exception
    /// Under which topologies there is something that it can be run on. None at all: it needs none.
    std::function<std::vector<std::string_view>()> topologies = {};
};

/// A kind of official test file. It is recognised by what the file holds, never by its name, so
/// that the runner works on any directory.
struct format {
    std::string_view name;
    bool (*recognises)(const boost::json::object& file);
    std::vector<test_case> (*cases)(const boost::json::object& file);
    bool fixed_ports = false;  // its servers listen on ports that the files name
};

extern const format bson_corpus;
extern const format binary_vector;
extern const format connection_string;
extern const format auth_string;
extern const format concern_string;
extern const format concern_document;
extern const format sdam_phases;
extern const format server_selection;
extern const format max_staleness;
extern const format round_trip;
extern const format in_window;
extern const format pool;
extern const format dns_seedlist;
extern const format legacy_tests;
extern const format unified_tests;

/// All of the above. A new format is one file and one line in formats.cpp.
std::span<const format* const> known_formats() noexcept;

}  // namespace holdfast::spec
