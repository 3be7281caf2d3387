# A test's name has the values of `over`, also where its text is wrong.
cat > wrong.cute <<'END'
test "too many" over n in {1, 2}, T in {f16, f32} {
    expect(n == 1, 2);
}
END
"$CUTEC" test --device=cpu wrong.cute | sed 's/, [0-9.]* ms//'
