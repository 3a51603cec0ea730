#include <caml/callback.h>
#include <caml/mlvalues.h>

/* Calls an OCaml function from C, so no handler around the call can take its effects. */
value concord_test_call_from_c(value f) { return caml_callback(f, Val_unit); }
