type any = Any : 'a -> any

type t = {
  format : int;
  ocaml : string;
  mark : string;
  no_choice : Waiter.choice;
  withdrawn : any;
  leaving : any;
  suspending : any list;
  choosing : any list;
  labels : any;
  operation_mark : int;
  operation_name : int;
  waiter_choice : int;
  waiter_resumer : int;
}

let resumer_after mark =
  let waiter = Waiter.make () in
  mark waiter;
  Any waiter.resumer

let symbol = "caml" ^ __MODULE__

let layout =
  {
    format = 1;
    ocaml = Sys.ocaml_version;
    mark = Operation.default.mark;
    no_choice = Waiter.no_choice;
    withdrawn = resumer_after Waiter.mark_withdrawn;
    leaving = resumer_after Waiter.mark_leaving;
    suspending = [ Any Operation.suspend_by; Any Operation.suspend_by_effect ];
    choosing = [ Any Choice.wait_for_any ];
    labels = Any Labels.lists;
    operation_mark = 0;
    operation_name = 1;
    waiter_choice = 1;
    waiter_resumer = 2;
  }
