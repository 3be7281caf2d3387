# CUDA C++ in a program, by a stand-in for NVRTC (tests/api/fake_nvrtc.c): every
# way it can go, on machines without NVRTC too.
fake=$BUILDDIR/fake
export CUTEJIT_NVRTC="$fake/libnvrtc.so.98" CUTEJIT_CACHE=off
unset FAKE_NVRTC
cat > c.cute <<'END'
extern fn first(x: f32, n: i32) -> f32 => x + f32(n);
extern fn wide(d: f64, b: bool) -> f64 => d;
extern fn noted(h: f16);
extern fn unused(x: u64) -> u64;
extern cuda {
    __device__ float first(float x, int n) { return x + n; }
    // wrong here
}
extern cuda "more.cuh";
kernel k(x: tensor(f32, N), d: tensor(f64, N), h: tensor(f16, N))
{
    launch grid(1) block(32)
    {
        let i = thread_idx.x;
        x[i] = first(x[i], i32(i));
        d[i] = wide(d[i], i < 3);
        noted(h[i]);
    }
}
END
cat > more.cuh <<'END'
__device__ double wide(double d, bool b) { return d; }
    // wrong there
__device__ void noted(unsigned short h) { }
END
compile() { "$CUTEC" compile -k k --emit=ptx=/dev/null "${@:-c.cute}" 2>&1; }

echo "== it works: what is called is there, once, for the target"
for target in sm_80 sm_90a; do
	"$CUTEC" compile --arch=$target -k k --emit=ptx=c.ptx c.cute
	grep -n '^\.version\|^\.target' c.ptx | cut -d: -f2
	grep '^// option' c.ptx
	grep -o '^\.func.*cjx_[a-z]*(.*' c.ptx
	"${CUTEJIT_PTXAS:-ptxas}" --version >/dev/null 2>&1 &&
	    "$CUTEC" compile --arch=$target -k k --emit=cubin=c.cubin c.cute
done
"$CUTEC" compile --arch=sm_90a --lineinfo -k k --emit=ptx=c.ptx c.cute
grep '^// option.*line' c.ptx
echo "== errors at their places: in the program, in a file, with an odd name"
sed 's,// wrong here,#error no such thing,' c.cute > d.cute; compile d.cute
cp more.cuh right.cuh
sed 's,// wrong there,  #error nor this  ,' right.cuh > more.cuh; compile
sed 's,// wrong here,#error "quoted",' c.cute > 'q"\.cute'; cp right.cuh more.cuh
compile 'q"\.cute'
echo "== four of them, three are shown"
printf '#error 1\n#error 2\n#error 3\n#error 4\n' > more.cuh; compile
cp right.cuh more.cuh
for how in instance create silent words size ptx headless version; do
	echo "== $how"
	FAKE_NVRTC=$how compile
done
echo "== a function is missing, the library, and both are no matter to the rest"
CUTEJIT_NVRTC="$fake/libnvrtc_part.so.98" compile
CUTEJIT_NVRTC=/nowhere compile
sed -i 's/^kernel k/kernel plain(y: tensor(f32, N)) { launch grid(1) block(32) { y[0] = 1; } }\n&/' c.cute
FAKE_NVRTC=silent "$CUTEC" compile -k plain --emit=ptx=/dev/null c.cute
CUTEJIT_NVRTC=/nowhere "$CUTEC" compile -k plain --emit=ptx=/dev/null c.cute
echo "plain: status $?"
echo "== nobody defines it: the assembler says so"
cat > ptxas <<'END'
#!/bin/sh
case $* in *--version*) echo "release 13.0, V13.0.1"; exit 0 ;; esac
for file; do case $file in *.ptx) ptx=$file ;; esac; done
grep -q '^\.func.*cjx_first' "$ptx" && exit 3
echo "ptxas fatal   : Unresolved extern function 'cjx_first'" >&2
exit 255
END
chmod +x ptxas
CUTEJIT_ASSEMBLER=ptxas CUTEJIT_PTXAS=$PWD/ptxas FAKE_NVRTC=undefined \
    "$CUTEC" compile --arch=sm_90a -k k --emit=cubin=c.cubin c.cute 2>&1
echo "== what the doctor finds"
doctor() { "$CUTEC" doctor 2>/dev/null | grep '^[a-z]* *NVRTC '; }
doctor
FAKE_NVRTC=version doctor
CUTEJIT_NVRTC="$fake/libnvrtc_part.so.98" doctor
CUTEJIT_NVRTC=/nowhere doctor
true
