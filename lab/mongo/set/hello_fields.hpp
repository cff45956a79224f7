#pragma once
#include "lab/mongo/set/member_role.hpp"

namespace holdfast::lab::mongo {

/// The part of a hello reply that describes the set: setName, hosts, primary, lastWrite...
void write_hello_fields(bson::builder& hello, const member_role& role, const optime& committed,
                        bool legacy);

}  // namespace holdfast::lab::mongo
