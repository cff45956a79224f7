#pragma once
#include "lab/mongo/set/set_member.hpp"

namespace holdfast::lab::mongo {

/// The commands of a set, see MongoDB's manual; members speak to each other by the first three,
/// and by the last one.
struct set_commands {
    static result<progress> heartbeat(set_member& on, request& what, bson::builder& reply);
    static result<progress> request_votes(set_member& on, request& what, bson::builder& reply);
    static result<progress> update_position(set_member& on, request& what, bson::builder& reply);

    static result<progress> step_down(set_member& on, request& what, bson::builder& reply);
    static result<progress> step_up(set_member& on, request& what, bson::builder& reply);
    static result<progress> freeze(set_member& on, request& what, bson::builder& reply);
    static result<progress> maintenance(set_member& on, request& what, bson::builder& reply);

    static result<progress> initiate(set_member& on, request& what, bson::builder& reply);
    static result<progress> reconfig(set_member& on, request& what, bson::builder& reply);
    static result<progress> get_config(set_member& on, request& what, bson::builder& reply);
    static result<progress> get_status(set_member& on, request& what, bson::builder& reply);

    static result<progress> copy(set_member& on, request& what, bson::builder& reply);

private:
    static void write_members(const set_member& of, bson::builder& reply);
    static void write_member(const set_member& of, const member_config& who, bson::builder& into);
    static void note_reconfig(set_member& on);
};

}  // namespace holdfast::lab::mongo
