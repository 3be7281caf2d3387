#!/bin/sh
# How programs are laid out.
$CUTEC fmt - <<'CUTE'


import   "cute/x.cute"as x ;
const  a=(1 ,) ; const b=a [ 0 ]*- 2+(3-1) ;   /* two on a line */


// the family
kernel relu( const T:type in{f16,f32}=f32 ,x:tensor( T,(M,N) : (_,1) )align( 16 )=none ,
 alpha:f32=1 )
   where N%( 128/bits(T) )==0 ,M>0
 target sm_80
{ // opens
const V=128/bits( T ) ;   // per access
  let long_name = 1 ;//next
 launch grid( ceil_div(size(x , 1),256) )block( 256 ){
 let i=block_idx . x*256+thread_idx.x ;
   if i<M&&!(i==N){x[ _ ,i]=max( x[_,i],0.0 ) ;}
     else if i in{1,2}{ return ; }
  else{
     for k in 0 .. N step( 2 )unroll(4){ x[k,0]+=T(k) ; }
  }


 pipeline ring( 4 )split{a:tensor( T,8 : 1 ) ;}
 consume ring as s in_flight( 1 ){ gemm( mma,s . a ,b,
 c ) ; }
 }
 /* a comment
    of two lines */
}
fn f( x ,const p=fn( y )=>y*y )->f32=>p( x ) ;
extern cuda {
  __device__ int   g ( int x ) { return x ; }
}
test "t"over n in{1,2},m in 0..3{ launch relu [ 0 ]( x,y ) ; expect( near( x,y,rel=1e-3 ) ) ; }
CUTE
echo "status $?"
