// Faults of Couchbase that have to do with who a node is.
#include "truth/couchbase/faults.hpp"
#include "truth/couchbase/sealed_tls.hpp"

#include <iterator>
#include <utility>

namespace holdfast::truth {

using core::couchbase::kv_opcode;

/// All clients must log in to the node again, and it answers as one would that does not know the
/// password. Nodes do not log in to each other.
bool couchbase_faults::no_proof()
{
    // Inside TLS the password is sent, and its certificate says who the node is.
    const int drawn = victim();
    if (drawn < 0 || with_tls_)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    const std::string& name = in_.members[n]->name();
    if (deeds_.unproven.contains(name))
        return false;
    lab::couchbase::kv_fault_plan::entry entry;
    // None at all, one that is empty, and one for another password.
    constexpr const char* forgeries[] = {"", "v=", "v=AAAAAAAAAAAAAAAAAAAAAAAAAAA="};
    entry.effect.value = forgeries[in_.below(std::size(forgeries))];
    entry.chooses = [](const lab::couchbase::kv_target& one) {
        return one.opcode == kv_opcode::sasl_step;
    };
    entry.when = lab::activation::always();
    const std::string fault = "forge " + std::to_string(++faults_);
    servers_.at(n).faults.set(fault, std::move(entry));
    reset_clients_of(n);
    deeds_.unproven.insert(name);
    record(name + " does not prove that it knows the password");
    afterwards(in_.between(200, 1500), [this, n, name, fault, loss = disturb(n)] {
        servers_.at(n).faults.set(fault, {});
        deeds_.unproven.erase(name);
        calm(loss);
        record(name + " proves that it knows the password");
    });
    return true;
}

bool couchbase_faults::new_certificate()
{
    const int drawn = victim();
    if (drawn < 0 || !with_tls_)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    record(in_.members[n]->name() + " has a certificate of an unknown issuer");
    const auto show = [this, n](certificate which) {
        servers_.set_tls(n, make_sealed_tls(which), lab::handshake_fault::none);
    };
    show(certificate::unknown_issuer);
    reset_clients_of(n);
    afterwards(in_.between(200, 1500), [this, n, show, loss = disturb(n)] {
        show(certificate::trusted);
        calm(loss);
        record(in_.members[n]->name() + " has a good certificate");
    });
    return true;
}

}  // namespace holdfast::truth
