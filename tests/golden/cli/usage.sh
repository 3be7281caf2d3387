# Every command says how it is used, in lines that a terminal has room for.
"$CUTEC" run --help
for command in $("$CUTEC" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
do
	for option in --help -h
	do
		"$CUTEC" "$command" "$option" >help 2>&1 </dev/null ||
		    echo "$command $option: status $?"
		grep -q "^usage: cutec $command" help ||
		    echo "$command $option: $(head -n 1 help)"
		awk 'length($0) > 80' help
	done
done
