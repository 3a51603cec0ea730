#include <caml/callback.h>
#include <caml/mlvalues.h>

/* Calls an OCaml function from C: no effect that it performs can be handled. */
value concord_test_call_from_c(value f) { return caml_callback(f, Val_unit); }
