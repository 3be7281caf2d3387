# What was asked for and is not there is told; the worst code of several files
# counts.
cat > k.cute <<'END'
test "one" { expect(1 + 1 == 2); }
END
"$CUTEC" test --device=cpu --filter two k.cute; echo $?
"$CUTEC" bench --device=cpu --filter two k.cute; echo $?
"$CUTEC" bench --device=cpu k.cute; echo $?
"$CUTEC" test --schedules=2000000 k.cute; echo $?
"$CUTEC" worker < k.cute; echo $?
echo 'test "half" {' > half.cute
"$CUTEC" test --device=cpu none.cute half.cute > out; echo $?
