module Decision = Decision

let weakly resumer = resumer

include Registered
