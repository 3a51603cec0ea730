/* For the versions of OCaml that the rule in [dune] names. For other versions, innermost_handler.none.c is compiled instead.

   OCaml has no function that tells which effect handlers are around a piece of code. But for each stack, the runtime keeps the
   functions with which its handler was installed, and the stack around it. */

#define CAML_INTERNALS

#include <caml/mlvalues.h>
#include <caml/domain_state.h>
#include <caml/fiber.h>

/* Nothing here allocates or polls. */

value concord_handler_is_readable(value unit) { return Val_true; }

static inline struct stack_info *here(void) { return Caml_state->current_stack; }

/* The first stack of a thread has no handler and no parent. During a callback from C, the stack has no parent either. */
static inline int is_first(void) { return Stack_parent(here()) == NULL; }

/* Shifted, because OCaml's integers have one bit less. */
static inline intnat code(value f) {
  return is_first() || !Is_block(f) ? 0 : (intnat)((uintnat)Code_val(f) >> 1);
}

intnat concord_handler_returns(value unit) { return code(Stack_handle_value(here())); }
intnat concord_handler_raises(value unit) { return code(Stack_handle_exception(here())); }

/* The runtime numbers all stacks of a program. If a stack grows, it moves, but keeps its number. */
intnat concord_stack_here(value unit) { return here()->id; }
intnat concord_stack_around(value unit) { return is_first() ? -1 : Stack_parent(here())->id; }

static inline int is_of(intnat returns, intnat raises) {
  return code(Stack_handle_value(here())) == returns && code(Stack_handle_exception(here())) == raises;
}

value concord_handler_nothing_but(intnat returns, intnat raises) {
  return Val_bool(is_first() || is_of(returns, raises));
}

value concord_handler_alone(intnat returns, intnat raises) {
  return Val_bool(is_first() || (is_of(returns, raises) && Stack_parent(Stack_parent(here())) == NULL));
}

/* For bytecode. */

value concord_handler_returns_byte(value unit) { return Val_long(concord_handler_returns(unit)); }
value concord_handler_raises_byte(value unit) { return Val_long(concord_handler_raises(unit)); }
value concord_stack_here_byte(value unit) { return Val_long(concord_stack_here(unit)); }
value concord_stack_around_byte(value unit) { return Val_long(concord_stack_around(unit)); }

value concord_handler_nothing_but_byte(value returns, value raises) {
  return concord_handler_nothing_but(Long_val(returns), Long_val(raises));
}

value concord_handler_alone_byte(value returns, value raises) {
  return concord_handler_alone(Long_val(returns), Long_val(raises));
}
