/* The size of the stack on which the caller runs, in words. */

#define CAML_INTERNALS

#include <caml/mlvalues.h>
#include <caml/domain_state.h>
#include <caml/fiber.h>

value test_stack_words(value unit) {
  struct stack_info *stack = Caml_state->current_stack;
  return Val_long(Stack_high(stack) - Stack_base(stack));
}
