#include "core/mongo/handshake/password_digest.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::password_digest_test {
namespace {

TEST(password_digest, digest_is_the_hexadecimal_md5_of_user_mongo_password)
{
    EXPECT_EQ(mongo_password_digest("user", "pencil").value().view(),
              "1c33006ec1ffd90f9cadcbcc0e118200");
}

}  // namespace
}  // namespace holdfast::core::mongo::password_digest_test
