#include "runtime/world.hpp"

#include <cstring>

namespace holdfast::runtime {

std::string to_string(const destination& where)
{
    if (where.is_path())
        return where.host;
    const bool v6 = where.host.find(':') != std::string::npos;
    const std::string host = v6 ? '[' + where.host + ']' : where.host;
    return host + ':' + std::to_string(where.port);
}

double world::chance()
{
    std::uint8_t bytes[8];
    random(bytes);
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    return static_cast<double>(bits >> 11) * 0x1p-53;  // as many bits as a double holds
}

}  // namespace holdfast::runtime
