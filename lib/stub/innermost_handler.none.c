/* For a version of OCaml that is newer than those that the rule in [dune] names. Its runtime may keep handlers in another way,
   so this file doesn't read its records. It always answers that the caller's handler is unknown, with no stack around it. */

#include <caml/mlvalues.h>

value concord_handler_is_readable(value unit) { return Val_false; }

intnat concord_handler_returns(value unit) { return 0; }
intnat concord_handler_raises(value unit) { return 0; }
intnat concord_stack_here(value unit) { return 0; }
intnat concord_stack_around(value unit) { return -1; }
value concord_handler_nothing_but(intnat returns, intnat raises) { return Val_false; }
value concord_handler_alone(intnat returns, intnat raises) { return Val_false; }

/* For bytecode. */

value concord_handler_returns_byte(value unit) { return Val_long(0); }
value concord_handler_raises_byte(value unit) { return Val_long(0); }
value concord_stack_here_byte(value unit) { return Val_long(0); }
value concord_stack_around_byte(value unit) { return Val_long(-1); }
value concord_handler_nothing_but_byte(value returns, value raises) { return Val_false; }
value concord_handler_alone_byte(value returns, value raises) { return Val_false; }
