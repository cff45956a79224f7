#include "net/tls/failure.hpp"

#include "net/tls/engine.hpp"
#include "runtime/errc.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::net {
namespace {

using runtime::errc;
namespace sys = boost::system;

/// A description from the point of view of a client, where that is clearer than OpenSSL's.
const char* alert_description(int alert)
{
    switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
        return "the peer rejected our certificate";
    case SSL_AD_CERTIFICATE_REVOKED:
        return "the peer rejected our certificate: it is revoked";
    case SSL_AD_CERTIFICATE_EXPIRED:
        return "the peer rejected our certificate: it has expired";
    case SSL_AD_UNKNOWN_CA:
        return "the peer does not trust the CA that signed our certificate";
    case SSL_AD_PROTOCOL_VERSION:
        return "the peer speaks no version of TLS that we speak, 1.2 and 1.3";
    case SSL_AD_HANDSHAKE_FAILURE:
        return "the peer could not agree with us on how to encrypt, or misses a certificate";
    case SSL_AD_CERTIFICATE_REQUIRED:
        return "the server demands a client certificate";
    case SSL_AD_UNRECOGNIZED_NAME:
        return "the server does not know the host name that we asked for";
    default:
        return nullptr;
    }
}

class alert_category final : public sys::error_category {
public:
    const char* name() const noexcept override { return "holdfast.tls"; }
    std::string message(int value) const override
    {
        if (value == not_an_alert)
            return "the peer sent what is not valid TLS";
        if (const char* const known = alert_description(value))
            return known;
        return std::string{"the peer ended TLS with the alert: "} +
               SSL_alert_desc_string_long(value);
    }
    sys::error_condition default_error_condition(int) const noexcept override
    {
        return make_error_condition(sys::errc::connection_reset);
    }
    /// See runtime::is_broken_by_tls().
    bool equivalent(int value, const sys::error_condition& what) const noexcept override
    {
        return what == default_error_condition(value) ||
               (what.category() == runtime::category() &&
                what.value() == static_cast<int>(errc::tls_failed));
    }
};

/// The number of the alert that the peer sent; not_an_alert if it sent none.
int alert_in(unsigned long of_openssl) noexcept
{
    const int reason = ERR_GET_REASON(of_openssl);
    const bool is_alert = ERR_GET_LIB(of_openssl) == ERR_LIB_SSL &&
                          reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256;
    return is_alert ? reason - SSL_AD_REASON_OFFSET : not_an_alert;
}

/// A name from an unverified certificate: it goes into logs, so it is sanitized.
std::string tamed(const ASN1_STRING& name)
{
    constexpr int longest = 100;
    const int size = std::min(ASN1_STRING_length(&name), longest);
    const unsigned char* const data = ASN1_STRING_get0_data(&name);
    std::string text(data, data + size);
    std::replace_if(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return text;
}

std::string address_text(const ASN1_STRING& address)
{
    const unsigned char* const data = ASN1_STRING_get0_data(&address);
    boost::asio::ip::address_v4::bytes_type v4;
    boost::asio::ip::address_v6::bytes_type v6;
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(&address));
    if (size == v4.size()) {
        std::memcpy(v4.data(), data, size);
        return boost::asio::ip::address_v4{v4}.to_string();
    }
    if (size == v6.size()) {
        std::memcpy(v6.data(), data, size);
        return boost::asio::ip::address_v6{v6}.to_string();
    }
    return "?";
}

std::string common_name(X509& certificate)
{
    X509_NAME* const subject = X509_get_subject_name(&certificate);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0)
        return "?";
    return tamed(*X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

/// "db.example.com, 10.0.0.1": whom a certificate is for.
std::string names_in(X509& certificate)
{
    constexpr int most = 5;
    std::string names;
    int count = 0;
    const openssl_ptr<GENERAL_NAMES> alternatives{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
    for (int i = 0; alternatives && i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
        const GENERAL_NAME& name = *sk_GENERAL_NAME_value(alternatives.get(), i);
        if (name.type != GEN_DNS && name.type != GEN_IPADD)
            continue;
        if (++count > most)
            return names + " and more";
        const std::string text = name.type == GEN_DNS ? tamed(*name.d.dNSName)
                                                      : address_text(*name.d.iPAddress);
        names += (names.empty() ? "" : ", ") + text;
    }
    return names.empty() ? common_name(certificate) : names;
}

/// Whether a peer has said anything that could be TLS: a record's type and its major version.
bool could_be_tls(const handshake_notes& notes)
{
    const std::uint8_t type = notes.first_bytes[0];
    return (type >= SSL3_RT_CHANGE_CIPHER_SPEC && type <= SSL3_RT_APPLICATION_DATA) &&
           (notes.received < 2 || notes.first_bytes[1] == SSL3_VERSION_MAJOR);
}

struct classified {
    errc code;
    std::string cause;
    const char* advice = "";
    bool broke_off = false;  // nothing was wrong with what the peer sent, as far as it came
    bool unknown_issuer = false;
};

classified classify_stream(const handshake_notes& notes, const std::string& them, error_code broken)
{
    const bool silent = notes.received == 0;
    if (broken == sys::errc::timed_out) {
        return {errc::connect_timed_out,
                silent ? them + " did not answer in time" : "the handshake took too long",
                silent ? "; perhaps it does not speak TLS" : ""};
    }
    if (broken == sys::errc::operation_canceled)
        return {errc::cancelled, "cancelled"};
    if (!silent && !could_be_tls(notes))
        return {errc::tls_failed, them + " does not speak TLS"};
    if (broken == boost::asio::error::eof) {
        return {errc::tls_failed, them + " closed the connection during the handshake",
                silent ? "; perhaps it does not speak TLS" : "", true};
    }
    return {errc::tls_failed, "the connection broke during the handshake: " + broken.message(), "",
            true};
}

classified rejected_certificate(const handshake_notes& notes)
{
    classified found{errc::certificate_rejected, notes.rejected};
    switch (notes.rejected_for) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
        found.advice = "; if it is to be trusted, give the file of the CA that signed it";
        found.unknown_issuer = true;
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        found.advice = "; connect by a name that is in the certificate";
        break;
    default:
        break;
    }
    return found;
}

classified classify_tls(const tls_engine& engine, const handshake_notes& notes, tls_side side,
                        const std::string& them)
{
    const int alert = alert_in(engine.cause());
    const bool asked_in_vain = notes.certificate_demanded && !notes.certificate_given;
    if (side == tls_side::client && asked_in_vain &&
        (alert == SSL_AD_HANDSHAKE_FAILURE || alert == SSL_AD_CERTIFICATE_REQUIRED)) {
        return {errc::tls_failed, alert_description(SSL_AD_CERTIFICATE_REQUIRED),
                "; give the file of a certificate and its key"};
    }
    if (alert != not_an_alert)
        return {errc::tls_failed, tls_error_code(engine.cause()).message()};
    if (!could_be_tls(notes) && notes.received > 0)
        return {errc::tls_failed, them + " does not speak TLS"};

    if (engine.cause() == 0)
        return {errc::tls_failed, them + " ended the handshake"};
    const int reason = ERR_GET_REASON(engine.cause());
    if (notes.rejected_for != 0 && reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
        return rejected_certificate(notes);
    if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
        return {errc::certificate_rejected, them + " sent no certificate"};
    if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_VERSION_TOO_LOW)
        return {errc::tls_failed, alert_description(SSL_AD_PROTOCOL_VERSION)};
    const char* const text = ERR_reason_error_string(engine.cause());
    return {errc::tls_failed, text != nullptr ? text : "OpenSSL gave no reason"};
}

}  // namespace

const sys::error_category& tls_category() noexcept
{
    static const alert_category instance;
    return instance;
}

error_code tls_error_code(unsigned long of_openssl) noexcept
{
    return {alert_in(of_openssl), tls_category()};
}

std::string describe_rejection(X509_STORE_CTX& chain, const std::string& host)
{
    const int why = X509_STORE_CTX_get_error(&chain);
    std::string text = X509_verify_cert_error_string(why);
    X509* const certificate = X509_STORE_CTX_get_current_cert(&chain);
    if (certificate == nullptr)
        return text;
    if (why == X509_V_ERR_HOSTNAME_MISMATCH || why == X509_V_ERR_IP_ADDRESS_MISMATCH)
        text += ": the certificate is for " + names_in(*certificate) + ", not for " + host;
    else if (X509_STORE_CTX_get_error_depth(&chain) > 0)
        text += " (the one of " + common_name(*certificate) + ", further up the chain)";
    return text;
}

error handshake_error(tls_engine& engine, tls_side side, const std::string& peer, error_code broken)
{
    const bool client = side == tls_side::client;
    const std::string them = client ? "the server" : "the client";
    const handshake_notes& notes = engine.notes();
    classified found = broken ? classify_stream(notes, them, broken)
                              : classify_tls(engine, notes, side, them);
    const std::string& name = client && !notes.host.empty() ? notes.host : peer;
    std::string message = client ? "no TLS connection to " : "no TLS connection from ";
    message += name + ": ";
    if (found.code == errc::certificate_rejected)
        message += "its certificate is rejected: ";
    message += found.cause + found.advice;
    error why{found.code, std::move(message)};
    if (found.broke_off)
        why = std::move(why).with_context("handshake", runtime::handshake_broke_off);
    if (found.unknown_issuer)
        why = std::move(why).with_context("issuer", runtime::issuer_unknown);
    return std::move(why)
        .with_context("phase", runtime::phase_tls)
        .with_context(client ? "server" : "client", name)
        .with_context("peer", peer)
        .with_context("cause", std::move(found.cause));
}

}  // namespace holdfast::net
