#include "core/couchbase/retry/idempotent.hpp"

#include "support/verifies.hpp"

#include <set>

namespace holdfast::core::couchbase::idempotent_test {
namespace {

TEST(idempotent, kv_opcodes_follow_the_rfc_table)
{
    struct row { const char* id; int opcode; bool idempotent; };
    const row table[] = {
        {"CR-075", 0x00, true},   // get
        {"CR-075", 0x94, false},  // get and lock
        {"CR-075", 0x1d, false},  // get and touch
        {"CR-076", 0xb5, true},   // carrier and global config
        {"CR-076", 0xbb, true},   // collection id
        {"CR-076", 0xba, true},   // collection manifest
        {"CR-076", 0x0a, true},   // noop
        {"CR-076", 0x92, true},   // observe by CAS
        {"CR-076", 0x91, true},   // observe by sequence number
        {"CR-076", 0x83, true},   // replica get
        {"CR-076", 0xc5, true},   // sub-document get
        {"CR-076", 0xc6, true},   // sub-document exists
        {"CR-076", 0xd2, true},   // sub-document count
        {"CR-076", 0xd0, true},   // sub-document lookup
        {"CR-076", 0xd1, false},  // sub-document mutation
        {"CR-074", 0x01, false},  // upsert
        {"CR-074", 0x04, false},  // remove
        {"CR-074", 0x95, false},  // unlock
        {"CR-074", 0x1c, false},  // touch
    };
    std::set<int> idempotent;
    for (const row& r : table) {
        SCOPED_TRACE(r.opcode);
        VERIFIES_ROW(r.id);
        EXPECT_EQ(is_idempotent(static_cast<kv_opcode>(r.opcode)), r.idempotent);
        if (r.idempotent)
            idempotent.insert(r.opcode);
    }
    for (int opcode = 0; opcode <= 0xff; ++opcode)
        EXPECT_EQ(is_idempotent(static_cast<kv_opcode>(opcode)), idempotent.contains(opcode));
}

}  // namespace
}  // namespace holdfast::core::couchbase::idempotent_test
