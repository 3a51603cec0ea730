#include <caml/mlvalues.h>

static intnat step = 0, last = 0;

value model_domain_self(value unit) {
  last += step;
  return Val_long(last);
}

value model_domain_all_differ(value yes) {
  step = Bool_val(yes);
  return Val_unit;
}
