(* A scheduler, [run], calls each thread above a prompt. A thread that must wait takes its
   stack down to the prompt, as a function that continues the thread. It passes this function
   to the structure. Only the scheduler's part of the stack is left, so the scheduler
   continues. In trampolined style, the thread has to make this function itself. *)

include Boxes

let style = Group.style ~name:"Delimited" ignore
let prompt = Prompt.new_prompt ()

(* --- Threads ---------------------------------------------------------------- *)

(* A thread that waits in a structure performs an effect, which works like [shift0]. *)
let spawn f =
  Group.spawn style (fun () ->
      let meaning = Direct.in_group style (Group.running style) in
      Prompt.push_prompt_with meaning prompt (Direct.body f))

let yield () =
  let group = Group.running style in
  Prompt.shift0 prompt (fun k -> Group.enqueue_stack group k);
  Group.raise_if_stopped group

let skip = ()
let halt = Direct.halt
let stop () = Loop.stop style
let rec run group = if Group.turn group then run group
let start () = Loop.start style run

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar = Concord.Mvar.put
let take_mvar = Concord.Mvar.take
let take_fifo = Concord.Mailbox.take
let sync = Concord.Event.sync
