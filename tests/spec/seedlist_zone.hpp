#pragma once
#include "support/dns_stub.hpp"

namespace holdfast::spec {

/// Makes a name server know what the specification of the initial DNS seed list asks one to know:
/// the domain test.build.10gen.cc, in which all of its files look up their hosts.
void add_seedlist_zone(proof::dns_stub& to);

}  // namespace holdfast::spec
