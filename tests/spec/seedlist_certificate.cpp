#include "case_fields.hpp"
#include "seedlist_servers.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace holdfast::spec {
namespace {

template <class T>
using owned = std::unique_ptr<T, void (*)(T*)>;

constexpr const char* names =
    "DNS:localhost,DNS:localhost.test.build.10gen.cc,DNS:localhost.sub.test.build.10gen.cc";

owned<X509> new_certificate(EVP_PKEY* key)
{
    owned<X509> made{X509_new(), X509_free};
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 24 * 3600);
    X509_set_pubkey(made.get(), key);
    X509_NAME* const name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("Holdfast tests"), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    const owned<X509_EXTENSION> subject{
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names), X509_EXTENSION_free};
    X509_add_ext(made.get(), subject.get(), -1);
    demand(X509_sign(made.get(), key, EVP_sha256()) != 0, "no certificate can be made");
    return made;
}

/// The file goes with the process.
class certificate_file {
public:
    certificate_file()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "seedlist_XXXXXX").string();
        const int descriptor = ::mkstemp(pattern.data());
        demand(descriptor >= 0, "no file can be made like " + pattern);
        path = pattern;
        const owned<EVP_PKEY> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
        const owned<X509> certificate = new_certificate(key.get());
        std::FILE* const file = ::fdopen(descriptor, "w");
        PEM_write_X509(file, certificate.get());
        PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        demand(std::fclose(file) == 0, "cannot write " + path);
    }
    ~certificate_file()
    {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }

    std::string path;
};

}  // namespace

const std::string& seedlist_certificate()
{
    static const certificate_file made;
    return made.path;
}

}  // namespace holdfast::spec
