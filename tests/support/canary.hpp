#pragma once

/// Who logs in to the servers of all tests, also of those in tests/interop. Wherever one of these
/// words turns up that is not a message to a server, a secret has got out: the tests of
/// canary_test.cpp look, and so does tools/no_secrets.sh. A test that needs another password, since
/// its characters matter, puts it together of this one: canary_files_test.cpp looks for others.
namespace holdfast::proof::canary {

inline constexpr const char* user = "ada";
inline constexpr const char* password = "lovelace";
inline constexpr const char* wrong_password = "babbage";

}  // namespace holdfast::proof::canary
