#include "core/mongo/handshake/saslprep.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/validate.hpp"

#include <idn-free.h>
#include <openssl/crypto.h>
#include <stringprep.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace holdfast::core::mongo {

namespace {

bool is_printable_ascii(char c)
{
    return c >= ' ' && c <= '~';
}

error refused(std::string_view why)
{
    return error{errc::invalid_credential, "the password " + std::string{why}};
}

/// libidn's result, wiped before it is freed.
struct wiped_and_freed {
    void operator()(char* text) const noexcept
    {
        OPENSSL_cleanse(text, std::strlen(text));
        idn_free(text);
    }
};

}  // namespace

result<secret> saslprep(std::string_view password)
{
    if (std::ranges::all_of(password, is_printable_ascii))
        return secret{password};  // these stand for themselves
    if (!bson::is_utf8(password))
        return refused("is not UTF-8");
    if (password.find('\0') != password.npos)
        return refused("contains a zero byte");

    const secret terminated{password, std::string_view{"\0", 1}};
    char* made = nullptr;
    const int status = stringprep_profile(terminated.view().data(), &made, "SASLprep",
                                          STRINGPREP_NO_UNASSIGNED);
    const std::unique_ptr<char, wiped_and_freed> prepared{made};
    if (status != STRINGPREP_OK || prepared == nullptr)
        return refused("contains a character that SASLprep does not allow");
    return secret{std::string_view{prepared.get()}};
}

}  // namespace holdfast::core::mongo
