open Task_types

(* Each switch between tasks uses the scheduler's arrays with [unsafe_get] and [unsafe_set],
   here and in [Task], [Ready], [Loop] and [Handler]. No index is out of bounds:

   - The number of a task is less than the length of [tasks], which is also that of [waits].
     [free_number] makes both longer before it returns a number. Neither gets shorter before
     [release], when no task is left. [current], the members of scopes, and the contents of
     [free] and [ring] are such numbers, or -1, which is tested first.
   - [n_free] is less than the length of [free], because [remove] makes sure of that.
   - A position in [ring] is taken modulo its length, by [mask]. For the threads of one domain,
     [ring] and [mask] change in one step. *)

(* A copy of [Task.has_locals]. Where modules are not inlined into each other, that function
   would be called, and a call is a polling point. *)
let[@inline] has_locals s = Array.length s.locals > 0
let larger size = size + Int.max 16 size

let[@inline never] grow_tasks s =
  let size = Array.length s.tasks in
  let more = larger size - size in
  let tasks = Array.append s.tasks (Array.make more s.root.owner)
  and waits = Array.append s.waits (Array.make more Nowhere)
  and locals =
    if has_locals s then Array.append s.locals (Array.make more Bindings.none)
    else s.locals
  and contexts =
    match s.context with
    | Some _ -> Array.append s.contexts (Array.make more ignore)
    | None -> s.contexts
  in
  s.locals <- locals;
  s.contexts <- contexts;
  s.tasks <- tasks;
  s.waits <- waits

(* [add] takes the number. Until then it stays free. *)
let free_number s =
  if s.n_free > 0 then s.free.(s.n_free - 1)
  else begin
    if s.used = Array.length s.tasks then grow_tasks s;
    s.used
  end

let prepare home =
  let number = free_number home.scheduler in
  let ended = Promise.create () in
  { ended; number; scope = home; marks = 0; previous = -1; next = -1 }

let[@poll error] [@inline never] add s task =
  let number = task.number and home = task.scope in
  if s.n_free > 0 then s.n_free <- s.n_free - 1 else s.used <- s.used + 1;
  Array.unsafe_set s.tasks number task;
  task.previous <- home.last;
  if home.last = -1 then home.first <- number
  else (Array.unsafe_get s.tasks home.last).next <- number;
  home.last <- number;
  home.live <- home.live + 1;
  s.forks <- s.forks + 1;
  s.current <- number

let rec outwards task scope =
  if scope.owner == task && scope != scope.parent then
    outwards task scope.parent
  else scope

let home task = outwards task task.scope

let[@inline never] grow_free s =
  let size = Array.length s.free in
  s.free <- Array.append s.free (Array.make (larger size - size) 0)

let[@poll error] [@inline never] unlink s task home =
  let { number; previous; next; _ } = task in
  if previous = -1 then home.first <- next
  else (Array.unsafe_get s.tasks previous).next <- next;
  if next = -1 then home.last <- previous
  else (Array.unsafe_get s.tasks next).previous <- previous;
  home.live <- home.live - 1 + ((task.marks lsr 1) land 1);
  Array.unsafe_set s.tasks number s.root.owner;
  Array.unsafe_set s.waits number Nowhere;
  if has_locals s then Array.unsafe_set s.locals number Bindings.none;
  (match s.context with
  | Some _ -> Array.unsafe_set s.contexts number ignore
  | None -> ());
  Array.unsafe_set s.free s.n_free number;
  s.n_free <- s.n_free + 1;
  s.current <- -1

let remove task home =
  let s = home.scheduler in
  if s.n_free = Array.length s.free then grow_free s;
  unlink s task home

let release s =
  s.tasks <- [||];
  s.waits <- [||];
  s.locals <- [||];
  s.contexts <- [||];
  s.free <- [||];
  s.ring <- [||]

let iter f scope =
  let s = scope.scheduler in
  let rec from number =
    if number <> -1 then begin
      let task = s.tasks.(number) in
      f task;
      from task.next
    end
  in
  from scope.first

(* The owner of the outermost scope is also a member of it. *)
let is_over scope =
  scope.live = 0 && (scope == scope.parent || Option.is_some scope.on_empty)
