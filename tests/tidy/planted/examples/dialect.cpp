// Names, comments and texts are checked, with underscores and changes of case as borders.
// The listener is told of it.                          offence: dialect
int tell_listeners();                                // offence: dialect
int listenersToldLater;                              // offence: dialect
int retold = 0;
const char* message = "nobody has answered";         // offence: dialect
const char* more = "a recipe for greeting whoever";  // offence: dialect
int judge_reply();                                   // offence: dialect
int connect(int how);                                // offence: dialect
int words_for(int code);                             // offence: dialect
// In other words, a comment may speak of words, and ask how; and passwords are no words.
int password = failed.why();  // offence: dialect
int see_off_connection();     // offence: dialect
