#include "client/couchbase/kv_scene.hpp"

#include "api/couchbase/cluster_impl.hpp"
#include "core/couchbase/route/vbucket.hpp"
#include "core/sasl/crypto.hpp"
#include "net/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/other_world.hpp"

#include <chrono>

namespace holdfast::proof {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;

namespace {

constexpr std::string_view good_password = "lovelace";

/// What both sides derive from the password, which takes longer than most scenes: once for all.
struct login_keys {
    lab::couchbase::user_account account;
    core::sasl::scram_keys client;
};

login_keys derive_login_keys()
{
    sim::simulation apart{1};
    login_keys made;
    made.account =
        lab::couchbase::make_account(apart.add_host("any").world(), good_password).value();
    constexpr auto hash = core::sasl::scram_hash::sha_512;  // what the client chooses
    const auto& kept = made.account.keys.at(hash);
    const auto salted =
        core::sasl::salted_password(hash, good_password, kept.salt, kept.iterations).value();
    made.client = {hash, kept.salt, kept.iterations,
                   core::sasl::hmac(hash, salted.bytes(), "Client Key").value(),
                   core::sasl::hmac(hash, salted.bytes(), "Server Key").value()};
    return made;
}

const login_keys& keys_of_ada()
{
    static const login_keys made = derive_login_keys();
    return made;
}

constexpr std::uint16_t plain_port = 11210;
constexpr std::uint16_t tls_port = 11207;

/// The simulator's world with TLS.
class tls_world final : public other_world {
public:
    using other_world::other_world;
    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override
    {
        return net::make_tls(options);
    }
};

}  // namespace

runtime::tls_ptr server_tls(const std::string& certificate, const std::string& clients_ca)
{
    runtime::tls_options options;
    options.certificate_key_file = certificates::file(certificate);
    options.verify_peer = !clients_ca.empty();
    if (!clients_ca.empty())
        options.ca_file = certificates::file(clients_ca);
    return net::make_tls(options).value();
}

kv_scene::kv_scene(kv_scene_options what)
    : simulation{what.seed},
      app{simulation.add_host("app")},
      with_tls_{!what.certificate.empty()},
      counts_{std::make_shared<std::map<kv_opcode, std::int64_t>>()}
{
    sim::link exact;
    exact.latency_min = 1ms;
    exact.latency_max = 1ms;
    simulation.set_all_links(exact);
    lab::couchbase::cluster_options options;
    if (with_tls_) {
        app_world_ = std::make_shared<tls_world>(app.world());
        options.tls = server_tls(what.certificate);
    } else {
        app_world_ = {std::shared_ptr<void>{}, &app.world()};
    }
    for (std::size_t n = 0; n != what.nodes; ++n) {
        hosts.push_back(
            &simulation.add_host("n" + std::to_string(n) + (with_tls_ ? ".example.com" : "")));
        const std::string name = hosts.back()->name();
        options.nodes.push_back({&hosts.back()->world(), name, name, plain_port,
                                 with_tls_ ? tls_port : std::uint16_t{0}});
    }
    options.buckets = what.buckets;
    options.replicas = what.replicas;
    options.vbuckets = what.vbuckets;
    options.manager = &simulation.add_host("manager").world();
    options.user = "ada";
    options.password = good_password;
    options.account = keys_of_ada().account;
    if (what.adjust)
        what.adjust(options);
    cluster = std::make_unique<lab::couchbase::cluster>(options);
    cluster->start().value();
}

kv_scene::~kv_scene()
{
    client.reset();
    app.crash();
    for (sim::host* const one : hosts)
        one->crash();
    cluster.reset();
}

std::string kv_scene::uri() const
{
    std::string made = with_tls_ ? "couchbases://" : "couchbase://";
    for (const sim::host* const one : hosts)
        made += (one == hosts.front() ? "" : ",") + one->name() + ":" +
                std::to_string(with_tls_ ? tls_port : plain_port);
    return made;
}

couchbase::password kv_scene::login(const std::string& password)
{
    couchbase::password made;
    made.user = "ada";
    made.text = secret{password};
    return made;
}

void kv_scene::connect(couchbase::cluster_options options, const std::string& more)
{
    const auto* const given = std::get_if<couchbase::password>(&options.authenticator);
    if (given != nullptr && given->user.empty())
        options.authenticator = login();
    const auto* const used = std::get_if<couchbase::password>(&options.authenticator);
    const bool is_good = used != nullptr && used->text.view() == good_password;
    std::string where = uri() + more;
    if (with_tls_)
        where += (more.find('?') == more.npos ? "?" : "&") + std::string{"trust_certificate="} +
                 certificates::file("ca.pem");
    client.emplace(couchbase::access::in_world(app_world_, where, std::move(options)).value());
    if (!is_good)
        return;
    const auto& connections = couchbase::access::impl_of(*client)->nodes().connections();
    connections->current_login()->keys->add(keys_of_ada().client);
}

void kv_scene::warm_up()
{
    for (int i = 0; i < 32; ++i) {
        const auto one = upsert("warm" + std::to_string(i), "{}");
        ASSERT_TRUE(one->good()) << one->explain();
    }
}

void kv_scene::fault(std::size_t number, kv_opcode opcode, lab::couchbase::kv_fault what,
                     lab::activation when)
{
    lab::couchbase::kv_fault_plan::entry entry;
    entry.effect = std::move(what);
    entry.chooses = [opcode](const lab::couchbase::kv_target& one) { return one.opcode == opcode; };
    entry.when = when;
    node(number).faults.set("fault" + std::to_string(++faults_), std::move(entry));
}

void kv_scene::fault_everywhere(kv_opcode opcode, const lab::couchbase::kv_fault& what,
                                lab::activation when)
{
    for (std::size_t n = 0; n != cluster->nodes(); ++n)
        fault(n, opcode, what, when);
}

void kv_scene::clear_faults()
{
    for (std::size_t n = 0; n != cluster->nodes(); ++n)
        node(n).faults.clear();
}

void kv_scene::watch_requests(kv_opcode opcode,
                              std::function<void(const lab::couchbase::kv_target&)> seen)
{
    for (std::size_t n = 0; n != cluster->nodes(); ++n) {
        lab::couchbase::kv_fault_plan::entry entry;
        entry.chooses = [opcode, seen](const lab::couchbase::kv_target& one) {
            if (one.opcode == opcode)
                seen(one);
            return false;
        };
        entry.when = lab::activation::always();
        // Before all others by its name, so that it sees every request.
        node(n).faults.set("count" + std::to_string(static_cast<int>(opcode)), std::move(entry));
    }
}

void kv_scene::count_requests(kv_opcode opcode)
{
    watch_requests(opcode, [opcode, counts = counts_](const auto&) { ++(*counts)[opcode]; });
}

std::string kv_scene::key_on(std::size_t number) const
{
    const std::size_t vbuckets = cluster->layout("travel")->map.rows.size();
    for (int n = 0; n != 10'000; ++n) {
        const std::string key = "key" + std::to_string(n);
        const auto at = core::couchbase::vbucket_of(key, vbuckets);
        if (cluster->active_node("travel", at) == number)
            return key;
    }
    ADD_FAILURE() << "node " << number << " has no documents";
    return {};
}

std::uint64_t kv_scene::written_to(std::size_t number) const
{
    std::uint64_t bytes = 0;
    const auto& nodes = couchbase::access::impl_of(*client)->nodes();
    for (const auto& bucket : nodes.buckets()) {
        for (const auto& link : bucket->links()) {
            const auto open = link->current();
            if (open && link->server().value().starts_with(hosts.at(number)->name() + ":"))
                bytes += open->statistics().written;
        }
    }
    return bytes;
}

std::int64_t kv_scene::counted(kv_opcode opcode) const
{
    const auto found = counts_->find(opcode);
    return found == counts_->end() ? 0 : found->second;
}

bool kv_scene::finish(const std::function<bool()>& done)
{
    const time_point limit = simulation.now() + 60s;
    return simulation.run_while_not([&] { return done() || simulation.now() > limit; }) && done();
}

std::shared_ptr<shell::couchbase::connection_config> kv_scene::config(std::string password)
{
    shell::couchbase::login login;
    core::couchbase::password_credential credential;
    credential.user = "ada";
    credential.password = secret{password};
    login.credential = std::move(credential);
    return std::make_shared<shell::couchbase::connection_config>(
        app.world(), core::couchbase::cluster_settings{}, std::move(login), "holdfast/test");
}

}  // namespace holdfast::proof
