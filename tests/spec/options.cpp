#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace holdfast::spec {

const std::string_view help_text =
    R"(spec_runner [DIR | FILE]... [OPTION]...

Runs the official MongoDB driver tests in every JSON file found under the given places; without any,
those under ../shared/spec-tests. Each file is recognised by its content. Prints what failed and
what was skipped, and why, how many were skipped for each reason, and at last one line:
N passed, N failed, N skipped.

  --filter RE      only cases whose "FILE: DESCRIPTION" matches this regular expression
  --json OUT       also write file, description, outcome and reason of each case to OUT
  --list           list the cases, run none
  --verbose        also print what passed
  --profile P      run all under as_specified or upstream_2026_07; without it, all run under
                   as_specified but a few exceptions, which are printed after the count
  --topology T     any (default), every, single, replica_set, sharded or load_balanced
  --runtime R      net (default), on sockets, or sim, in a simulation on virtual time
  --no-rescue      clients have rescueFromDeposedPrimary=false: what passes does not depend on it
  --jobs N         run N files at a time (1, up to 64), each in a process of its own; the output is
                   the same. Files whose servers need fixed ports are run one after the other;
                   those with time limits below 150 ms alone, after all others, unless simulated
  --help           this text

Topology and runtime are for the unified format, whose cases talk to servers of the embedded lab;
under "any" a case runs on the first deployment that meets its requirements, under "every" once on
each topology that they allow, and counts as often. Cases of the other formats run the same under
each.
)"
    R"(
Status: 0 if nothing failed, 1 if a case failed, 2 if the command or a file cannot be read.
)";

namespace {

constexpr std::size_t most_jobs = 64;

std::string_view one_of(std::string_view option, std::string_view value,
                        std::initializer_list<std::string_view> allowed)
{
    const auto found = std::ranges::find(allowed, value);
    if (found != allowed.end())
        return *found;
    std::string message{option};
    message.append(" is one of");
    for (const std::string_view each : allowed)
        message.append(" ").append(each);
    throw usage_error{message.append(", not ").append(value)};
}

std::regex pattern(const std::string& text)
try {
    return std::regex{text};
} catch (const std::regex_error& e) {
    throw usage_error{"--filter " + text + " is no regular expression: " + e.what()};
}

/// One that was asked for is used for every case; there are no exceptions then.
void take_profile(settings& to, std::string_view value)
{
    to.profile = one_of("--profile", value, {"as_specified", "upstream_2026_07"});
    to.profile_given = true;
}

std::size_t job_count(const std::string& text)
{
    std::size_t count = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, count);
    if (read.ec != std::errc{} || read.ptr != end || count < 1 || count > most_jobs)
        throw usage_error{"--jobs is a number from 1 to 64, not " + text};
    return count;
}

/// Takes one option with its value; false if there is none of that name.
bool take_valued(options& to, std::string_view name, const std::string& value)
{
    if (name == "--filter")
        to.filter = pattern(value);
    else if (name == "--json")
        to.json = value;
    else if (name == "--profile")
        take_profile(to.run, value);
    else if (name == "--topology")
        to.run.topology = one_of(
            name, value, {"any", "every", "single", "replica_set", "sharded", "load_balanced"});
    else if (name == "--runtime")
        to.run.runtime = one_of(name, value, {"sim", "net"});
    else if (name == "--jobs")
        to.jobs = job_count(value);
    else
        return false;
    return true;
}

bool take_flag(options& to, std::string_view name)
{
    if (name == "--list")
        return to.list = true;
    if (name == "--verbose")
        return to.verbose = true;
    if (name == "--help")
        return to.help = true;
    if (name == "--no-rescue")
        return !(to.run.rescue = false);
    return false;
}

}  // namespace

options parse_options(std::span<const char* const> arguments)
{
    options to;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string argument = arguments[i];
        if (!argument.starts_with("-")) {
            to.where.emplace_back(argument);
            continue;
        }
        if (take_flag(to, argument))
            continue;
        const std::size_t equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const bool attached = equals != argument.npos;
        const bool follows = !attached && i + 1 < arguments.size();
        const std::string value = attached  ? argument.substr(equals + 1)
                                  : follows ? std::string{arguments[i + 1]}
                                            : std::string{};
        if (!attached && !follows)
            throw usage_error{"unknown option, or one without its value: " + argument};
        if (!take_valued(to, name, value))
            throw usage_error{"unknown option: " + argument};
        i += follows ? 1 : 0;
    }
    return to;
}

}  // namespace holdfast::spec
