// In an example, options are written in place: they need no destruction.
int main()
{
    co_await users.insert_one(doc, {.timeout = 500ms});
    if (co_await ready())  // offence: coroutines
        work();
    // A line that is longer than it may be, and on and on until it is. ...........................  offence: shape
    int n = 0;  // offence: shape  
    int	m = 0;  // offence: shape
}
