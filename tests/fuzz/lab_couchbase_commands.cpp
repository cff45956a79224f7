// Any line as a command to a cluster of the lab. It is refused with a reason or carried out, and
// the cluster can say afterwards how it is.
#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "require.hpp"
#include "sim/simulation.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast;
using lab::couchbase::cluster;

/// Two nodes in a simulation in which no time passes.
class scene {
public:
    scene()
    {
        lab::couchbase::cluster_options options;
        for (int n = 0; n < 2; ++n)
            options.nodes.push_back(place());
        options.buckets = {"travel"};
        options.vbuckets = 4;
        options.user = "ada";
        options.password = "lovelace";
        options.manager = &net_.add_host("manager").world();
        options.next_place = [this](std::size_t) { return place(); };
        made = std::make_unique<cluster>(std::move(options));
        REQUIRE(made->start().has_value());
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;
    ~scene()
    {
        for (sim::host* const one : hosts_)
            one->crash();
        net_.at("manager").crash();
        made.reset();
    }

    std::unique_ptr<cluster> made;

private:
    lab::couchbase::node_place place()
    {
        hosts_.push_back(&net_.add_host("n" + std::to_string(hosts_.size())));
        lab::couchbase::node_place at;
        at.world = &hosts_.back()->world();
        at.bind = at.host = hosts_.back()->name();
        at.port = 11210;
        return at;
    }

    sim::simulation net_{1};
    std::vector<sim::host*> hosts_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // Now and then a new one: nodes and buckets add up.
    static std::unique_ptr<scene> kept;
    static std::size_t served = 0;
    if (served++ % 500 == 0 || kept->made->nodes() > 8 || kept->made->buckets().size() > 8) {
        kept.reset();
        kept = std::make_unique<scene>();
    }
    const std::string_view line{reinterpret_cast<const char*>(data), size};
    // Files are not the fuzzer's, and deriving the keys of users takes milliseconds.
    if (line.find("tls ") != line.npos || line.find("user ") != line.npos ||
        lab::couchbase::is_long_command(line))
        return 0;
    const auto done = lab::couchbase::carry_out_now(*kept->made, line);
    if (!done)
        REQUIRE(done.error().code().failed() && !done.error().message().empty());
    const auto status = lab::couchbase::carry_out_now(*kept->made, "status");
    REQUIRE(status.has_value() && status->size() == kept->made->nodes());
    return 0;
}
