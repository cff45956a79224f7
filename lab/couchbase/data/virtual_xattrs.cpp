#include "lab/couchbase/data/virtual_xattrs.hpp"

#include "lab/couchbase/data/json_scan.hpp"

#include <chrono>
#include <string>

namespace holdfast::lab::couchbase {

namespace {

std::uint64_t reversed(std::uint64_t number)
{
    std::uint64_t other = 0;
    for (int n = 0; n != 8; ++n, number >>= 8U)
        other = other << 8U | (number & 0xffU);
    return other;
}

std::string names_of(std::string_view xattrs)
{
    std::string names;
    if (xattrs.empty())
        return names;
    json_entries all{xattrs, root_of(xattrs)};
    while (const auto one = all.next()) {
        names += names.empty() ? "" : ",";
        names += one->key.of(xattrs);
    }
    return names;
}

}  // namespace

std::string hex_string(std::uint64_t number, int digits)
{
    std::string text = "\"0x";
    for (int n = digits; n-- > 0;)
        text += "0123456789abcdef"[number >> static_cast<unsigned>(4 * n) & 15U];
    return text + '"';
}

std::uint32_t crc32c(std::string_view bytes)
{
    constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli's, reflected
    std::uint32_t crc = 0xffffffff;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit != 8; ++bit)
            crc = crc >> 1U ^ ((crc & 1U) != 0 ? polynomial : 0);
    }
    return ~crc;
}

std::string virtual_xattrs(const vbucket& in, const document& at)
{
    using std::chrono::duration_cast;
    using std::chrono::seconds;
    const std::string names = names_of(at.xattrs);
    std::string types;
    if (at.json)
        types += "\"json\"";
    if (!names.empty())
        types += types.empty() ? "\"xattr\"" : ",\"xattr\"";
    if (types.empty())
        types = "\"raw\"";
    const auto modified = duration_cast<seconds>(at.modified.time_since_epoch()).count();
    return R"({"$document":{"CAS":)" + hex_string(at.cas) + R"(,"vbucket_uuid":)" +
           hex_string(in.uuid()) + R"(,"seqno":)" + hex_string(at.seqno) + R"(,"exptime":)" +
           std::to_string(at.expiry) + R"(,"value_bytes":)" + std::to_string(at.value.size()) +
           R"(,"datatype":[)" + types + R"(],"deleted":)" + (at.deleted ? "true" : "false") +
           R"(,"last_modified":")" + std::to_string(modified) + R"(","flags":)" +
           std::to_string(at.flags) + R"(,"revid":")" + std::to_string(at.revision) +
           R"(","value_crc32c":)" + hex_string(crc32c(at.value), 8) + R"(},"$XTOC":[)" + names +
           R"(],"$vbucket":{"HLC":{"now":")" + std::to_string(modified) + R"("},"uuid":)" +
           hex_string(in.uuid()) + "}}";
}

expanded_value expand_macro(std::string_view value, const macro_values& with, std::string_view body)
{
    // The CAS has its bytes in the order of a little-endian machine, the others do not.
    if (value == R"("${Mutation.CAS}")")
        return {kv_status::success, hex_string(reversed(with.cas))};
    if (value == R"("${Mutation.seqno}")")
        return {kv_status::success, hex_string(with.seqno)};
    if (value == R"("${Mutation.value_crc32c}")")
        return {kv_status::success, hex_string(crc32c(body), 8)};
    return {kv_status::subdoc_xattr_unknown_macro, {}};
}

}  // namespace holdfast::lab::couchbase
