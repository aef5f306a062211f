# Evaluates what comes over standard input, which it keeps for itself, and says when it is done.
exec {__nika_in}<&0 {__nika_out}>&1 </dev/null
# What was interrupted must not go on behind the loop that was left: where `return` would only leave one
# of several functions, the shell ends.
trap 'case ${#BASH_SOURCE[@]} in 0) ;; 1) return 130 2>/dev/null ;; *) exit 130 ;; esac' INT
__nika_status=0
while IFS=' ' read -r -u "$__nika_in" __nika_token __nika_length; do
  LC_ALL=C IFS= read -r -u "$__nika_in" -N "$__nika_length" __nika_code
  (exit "$__nika_status")
  . /dev/stdin <<<"$__nika_code"
  __nika_status=$?
  printf '\036%s done %d\n%s' "$__nika_token" "${#__nika_status}" "$__nika_status" >&"$__nika_out"
done
