// truth: what was reported to clients in a storm, against what is there when it is over.
//
//     truth sim --seeds 1..1000 --jobs 2      storms in the simulator, one for each seed
//     truth sim --seeds 7..7 --verbose        one of them again, with its script
//     truth sim --seeds 1..50 --defect forgetful    must be found out: status 0 if it was
//     truth sockets --clients 16 --seconds 60
//     truth sim --couchbase --seeds 1..2000 --jobs 2    the same for Couchbase
//     truth sockets --couchbase --seconds 20
//     truth endure --couchbase --minutes 60 --in-flight 64    what a client holds after an hour
#include "shell/planted.hpp"
#include "truth/defects.hpp"
#include "truth/endure.hpp"
#include "truth/sockets.hpp"
#include "truth/storm.hpp"
#include "truth/totals.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef HOLDFAST_PLANTED
namespace holdfast::shell {
planted_defects planted;
}
#endif

namespace holdfast::truth {
namespace {

struct sim_options {
    std::uint64_t first = 1;
    std::uint64_t last = 100;
    std::uint64_t jobs = 1;
    bool verbose = false;
    bool progress = false;
    storm_options storm = {};
};

totals of(const storm_report& report)
{
    const drill::tally& all = report.found.total;
    totals made;
    made.storms = 1;
    made.broken = report.complaints.empty() ? 0 : 1;
    made.operations = all.operations;
    made.acknowledged = all.acknowledged;
    made.failed = all.failed;
    made.unclear = all.unclear;
    made.retries = report.retries;
    made.lost = all.lost;
    made.forgotten = all.forgotten;
    made.doubled = all.doubled;
    made.untrue = all.untrue;
    made.fewest = all.acknowledged;
    made.faults = report.faults;
    return made;
}

/// Every `jobs`-th seed.
totals run_share(const sim_options& options, std::uint64_t share)
{
    totals sum;
    for (std::uint64_t seed = options.first + share; seed <= options.last; seed += options.jobs) {
        const storm_report report = run_storm(seed, options.storm);
        sum.add(of(report));
        const std::string_view symptom = symptom_of(options.storm.with);
        if (!symptom.empty() && report.complaints.find(symptom) != std::string::npos)
            ++sum.named;
        if (options.verbose)
            std::printf("seed %llu: %s%llu of %llu acknowledged, %llu retries, history %016llx\n",
                        static_cast<unsigned long long>(seed), report.script.c_str(),
                        static_cast<unsigned long long>(report.found.total.acknowledged),
                        static_cast<unsigned long long>(report.found.total.operations),
                        static_cast<unsigned long long>(report.retries),
                        static_cast<unsigned long long>(report.history));
        if (!report.complaints.empty() && (options.storm.with == defect::none || options.verbose))
            std::printf("FAILED: seed %llu (again: truth sim%s --seeds %llu..%llu --verbose)\n%s",
                        static_cast<unsigned long long>(seed),
                        options.storm.of == protocol::couchbase ? " --couchbase" : "",
                        static_cast<unsigned long long>(seed),
                        static_cast<unsigned long long>(seed), report.complaints.c_str());
        if (options.progress && sum.storms % 20 == 0)
            std::printf("seed %llu of %llu: %llu broken so far\n",
                        static_cast<unsigned long long>(seed),
                        static_cast<unsigned long long>(options.last),
                        static_cast<unsigned long long>(sum.broken));
        std::fflush(stdout);
        if (found_out(options.storm.with, sum)) {
            std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                        line_with(report.complaints, symptom).c_str());
            break;
        }
    }
    return sum;
}

/// A process for each share. Nothing if one of them died.
std::optional<totals> run_all(const sim_options& options)
{
    if (options.jobs == 1)
        return run_share(options, 0);
    std::vector<int> pipes;
    for (std::uint64_t share = 0; share < options.jobs; ++share) {
        int ends[2];
        if (::pipe(ends) != 0)
            return std::nullopt;
        std::fflush(stdout);
        if (::fork() == 0) {
            const totals sum = run_share(options, share);
            const bool received = ::write(ends[1], &sum, sizeof sum) == sizeof sum;
            std::fflush(stdout);
            ::_exit(received ? 0 : 1);
        }
        ::close(ends[1]);
        pipes.push_back(ends[0]);
    }
    std::optional<totals> sum{totals{}};
    for (const int from : pipes) {
        totals one;
        if (::read(from, &one, sizeof one) != sizeof one)
            sum.reset();
        else if (sum)
            sum->add(one);
        ::close(from);
    }
    while (::wait(nullptr) > 0) {}
    return sum;
}

int conclude(const sim_options& options, const totals& sum, double seconds)
{
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "%llu storms in %.1f s: %llu operations, %llu acknowledged (at least %llu in "
        "each), %llu failed, %llu unclear, %llu retries\nfaults:",
        number(sum.storms), seconds, number(sum.operations), number(sum.acknowledged),
        number(sum.fewest), number(sum.failed), number(sum.unclear), number(sum.retries));
    const auto names = fault_names(options.storm.of);
    for (std::size_t n = 0; n < names.size(); ++n) {
        std::printf("%s %llu %s", n == 0 ? "" : ",", number(sum.faults[n]),
                    std::string{names[n]}.c_str());
    }
    std::printf("\n");
    if (options.storm.of == protocol::couchbase)
        std::printf("%llu writes without durability were lost by failovers\n",
                    number(sum.forgotten));
    if (options.storm.with != defect::none) {
        std::printf("the planted defect was %s: %llu lost, %llu applied twice, %llu untrue\n",
                    found_out(options.storm.with, sum) ? "reported" : "NOT reported",
                    number(sum.lost), number(sum.doubled), number(sum.untrue));
        return found_out(options.storm.with, sum) ? 0 : 1;
    }
    const std::string wrong = shortcomings(sum, options.storm.of);
    if (!wrong.empty())
        std::printf("FAILED: %s\n", wrong.c_str());
    std::printf("%llu failed\n", number(sum.broken));
    return sum.broken == 0 && wrong.empty() ? 0 : 1;
}

/// False: the program was built without it.
bool plant(defect with)
{
#ifdef HOLDFAST_PLANTED
    shell::planted.renumbers_retries = with == defect::renumber;
    shell::planted.reuses_opaques = with == defect::reused_opaque;
    shell::planted.takes_old_configurations = with == defect::old_configuration;
    shell::planted.repeats_after_cut = with == defect::repeated_write;
    shell::planted.ignores_deadline_after_wait = with == defect::missed_deadline;
    shell::planted.keeps_collection_ids = with == defect::kept_collection;
    shell::planted.keeps_slots = with == defect::kept_slot;
    shell::planted.trusts_any_server = with == defect::unproven_login;
    shell::planted.oversleeps = with == defect::long_wait;
    return true;
#else
    return with == defect::none || with == defect::forgetful || with == defect::early;
#endif
}

int run_sim(const sim_options& options)
{
    const auto began = std::chrono::steady_clock::now();
    if (!plant(options.storm.with)) {
        std::fprintf(stderr, "truth: this program was built without that defect\n");
        return 2;
    }
    const auto sum = run_all(options);
    if (!sum) {
        std::printf("FAILED: a process has died\n");
        return 1;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return conclude(options, *sum, took.count());
}

std::optional<std::uint64_t> number_in(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (why != std::errc{} || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

int usage()
{
    std::fprintf(
        stderr,
        "usage: truth sim [--couchbase] --seeds A..B [--jobs N] [--verbose|--trace] [--progress]\n"
        "                 [--defect forgetful|early|renumber, or for Couchbase\n"
        "                  reused_opaque|old_configuration|repeated_write|\n"
        "                  missed_deadline|kept_collection|kept_slot|\n"
        "                  unproven_login|long_wait]\n"
        "       truth sockets [--couchbase] [--clients N] [--seconds N] [--members N]\n"
        "                     [--seed N] [--forgetful]\n"
        "       truth endure --couchbase [--minutes N] [--in-flight N] [--pause-ms N]\n"
        "                     [--minute-ms N] [--seed N] [--leaks]\n");
    return 2;
}

using given_options = std::map<std::string_view, std::string_view>;

/// Options with a value, and those without. Nothing if it is not understood.
std::optional<given_options> read_options(const std::vector<std::string_view>& arguments)
{
    given_options made;
    for (std::size_t n = 0; n < arguments.size(); ++n) {
        if (arguments[n] == "--verbose" || arguments[n] == "--progress" ||
            arguments[n] == "--forgetful" || arguments[n] == "--couchbase" ||
            arguments[n] == "--leaks" || arguments[n] == "--trace")
            made[arguments[n]] = "1";
        else if (n + 1 < arguments.size() && arguments[n].starts_with("--"))
            made[arguments[n]] = arguments[n + 1], ++n;
        else
            return std::nullopt;
    }
    return made;
}

int sim_from(const given_options& given)
{
    sim_options options;
    for (const auto& [name, value] : given) {
        const std::size_t dots = value.find("..");
        const auto number = number_in(value);
        if (name == "--seeds" && dots != value.npos) {
            const auto first = number_in(value.substr(0, dots));
            const auto last = number_in(value.substr(dots + 2));
            if (!first || !last || *first > *last)
                return usage();
            options.first = *first;
            options.last = *last;
        } else if (name == "--jobs" && number && *number > 0) {
            options.jobs = *number;
        } else if (name == "--verbose") {
            options.verbose = true;
        } else if (name == "--trace") {
            options.storm.with_trace = options.verbose = true;
        } else if (name == "--progress") {
            options.progress = true;
        } else if (name == "--couchbase") {
            options.storm.of = protocol::couchbase;
        } else if (name == "--defect" && defect_named(value)) {
            options.storm.with = *defect_named(value);
        } else {
            return usage();
        }
    }
    return run_sim(options);
}

int sockets_from(const given_options& given)
{
    sockets_options options;
    bool of_couchbase = false;
    for (const auto& [name, value] : given) {
        const auto number = number_in(value);
        if (!number)
            return usage();
        if (name == "--clients")
            options.clients = *number;
        else if (name == "--members")
            options.members = *number;
        else if (name == "--seconds")
            options.seconds = static_cast<std::uint32_t>(*number);
        else if (name == "--seed")
            options.seed = *number;
        else if (name == "--forgetful")
            options.forgetful = true;
        else if (name == "--couchbase")
            of_couchbase = true;
        else
            return usage();
    }
    return of_couchbase ? run_couchbase_on_sockets(options) : run_mongo_on_sockets(options);
}

int endure_from(const given_options& given)
{
    endure_options options;
    for (const auto& [name, value] : given) {
        const auto number = number_in(value);
        if (!number || *number == 0)
            return usage();
        if (name == "--minutes")
            options.minutes = *number;
        else if (name == "--minute-ms")
            options.minute_ms = static_cast<std::uint32_t>(*number);
        else if (name == "--in-flight")
            options.in_flight = *number;
        else if (name == "--pause-ms")
            options.pause_ms = static_cast<std::uint32_t>(*number);
        else if (name == "--seed")
            options.seed = *number;
        else if (name == "--leaks")
            options.leaks = true;
        else if (name != "--couchbase")
            return usage();
    }
    return given.contains("--couchbase") ? run_couchbase_endurance(options) : usage();
}

int run(const std::vector<std::string_view>& arguments)
{
    if (arguments.empty())
        return usage();
    const auto given = read_options({arguments.begin() + 1, arguments.end()});
    if (given && arguments[0] == "sim")
        return sim_from(*given);
    if (given && arguments[0] == "sockets")
        return sockets_from(*given);
    if (given && arguments[0] == "endure")
        return endure_from(*given);
    return usage();
}

}  // namespace
}  // namespace holdfast::truth

int main(int argc, char** argv)
{
    return holdfast::truth::run({argv + 1, argv + argc});
}
