// This header forgets the line that every header begins with.  offence: headers
#include <string>

using namespace std;  // offence: headers
namespace holdfast {
inline void f()
{
    using namespace std::chrono_literals;
}
}  // namespace holdfast
