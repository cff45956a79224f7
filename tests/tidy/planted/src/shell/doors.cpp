#include "shell/doors.hpp"
#include "net/socket.hpp"  // offence: layers
#include "core/pool/pool.hpp"
#include "runtime/runtime.hpp"
#include <boost/beast/http/parser.hpp>  // offence: beast
#include <thread>  // offence: one_door

asio::steady_timer alarm{executor};           // offence: one_door
asio::ip::tcp::socket socket{executor};       // offence: one_door
std::jthread worker{[] { work(); }};          // offence: one_door
const auto now = std::chrono::steady_clock::now();  // offence: one_door

void walk(const std::unordered_map<std::string, int>& table)
{
    for (const auto& [name, n] : table)  // offence: order
        print(name, n);
    const auto first = table.begin();  // offence: order
    const auto found = table.find("x");
}
