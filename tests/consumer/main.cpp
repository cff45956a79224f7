// A program as a user would write it: Holdfast from its package, on the program's own Asio.
#include <holdfast/error.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <iostream>
#include <string>

std::string connect_and_fail();  // in the shared object

namespace {

holdfast::result<int> half(int n)
{
    if (n % 2 != 0)
        return holdfast::error{make_error_code(boost::system::errc::invalid_argument), "odd"};
    return n / 2;
}

}  // namespace

int main()
{
    int failures = 0;
    boost::asio::io_context context{1};
    boost::asio::post(context, [&] {
        const holdfast::result<int> even = half(14);
        const holdfast::result<int> odd = half(7);
        failures += !even || *even != 7;
        failures += odd || odd.error().message() != "odd";
    });
    context.run();
    failures += connect_and_fail() != "no server";
    std::cout << (failures == 0 ? "ok\n" : "broken\n");
    return failures;
}
