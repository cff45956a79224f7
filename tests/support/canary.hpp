#pragma once

/// Who logs in to the servers of all tests. Wherever one of these words turns up that is not a
/// message to a server, a secret has got out; the tests of canary_test.cpp look.
namespace holdfast::proof::canary {

inline constexpr const char* user = "ada";
inline constexpr const char* password = "lovelace";
inline constexpr const char* wrong_password = "babbage";

}  // namespace holdfast::proof::canary
