# Kernels for the corpus of PTX that Triton writes: triton_corpus.py DIRECTORY
import sys, os, triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
out=sys.argv[1]
@triton.jit
def vadd(x,y,z,n,B:tl.constexpr):
    o=tl.program_id(0)*B+tl.arange(0,B); m=o<n
    tl.store(z+o,tl.load(x+o,mask=m)+tl.load(y+o,mask=m),mask=m)
@triton.jit
def softmax(x,z,n,B:tl.constexpr):
    r=tl.program_id(0); o=tl.arange(0,B); v=tl.load(x+r*n+o,mask=o<n,other=-float('inf'))
    v=v-tl.max(v,0); e=tl.exp(v); tl.store(z+r*n+o,e/tl.sum(e,0),mask=o<n)
@triton.jit
def matmul(a,b,c,M,N,K,BM:tl.constexpr,BN:tl.constexpr,BK:tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    om=pm*BM+tl.arange(0,BM); on=pn*BN+tl.arange(0,BN); ok=tl.arange(0,BK)
    ap=a+om[:,None]*K+ok[None,:]; bp=b+ok[:,None]*N+on[None,:]
    acc=tl.zeros((BM,BN),tl.float32)
    for k in range(0,K,BK):
        acc=tl.dot(tl.load(ap),tl.load(bp),acc); ap+=BK; bp+=BK*N
    tl.store(c+om[:,None]*N+on[None,:],acc.to(tl.float16))
@triton.jit
def attn(q,k,v,o,S,scale,D:tl.constexpr,BM:tl.constexpr,BN:tl.constexpr):
    h=tl.program_id(1); om=tl.program_id(0)*BM+tl.arange(0,BM); od=tl.arange(0,D); b=h*S*D
    Q=tl.load(q+b+om[:,None]*D+od[None,:])
    m=tl.full((BM,),-float('inf'),tl.float32); l=tl.zeros((BM,),tl.float32); acc=tl.zeros((BM,D),tl.float32)
    for j in range(0,S,BN):
        on=j+tl.arange(0,BN)
        K=tl.load(k+b+on[None,:]*D+od[:,None]); s=tl.dot(Q,K)*scale
        mn=tl.maximum(m,tl.max(s,1)); p=tl.exp2(s-mn[:,None]); al=tl.exp2(m-mn)
        l=l*al+tl.sum(p,1); acc=acc*al[:,None]
        V=tl.load(v+b+on[:,None]*D+od[None,:]); acc=tl.dot(p.to(V.dtype),V,acc); m=mn
    tl.store(o+b+om[:,None]*D+od[None,:],(acc/l[:,None]).to(tl.float16))
@triton.jit
def misc(x,z,n,B:tl.constexpr):
    o=tl.arange(0,B); v=tl.load(x+o); s=tl.cumsum(v,0); t=tl.sort(v); h=tl.histogram(v.to(tl.int32),64)
    tl.store(z+o,s+t); tl.atomic_add(z+tl.arange(0,64),h.to(tl.float32)); tl.device_print("v",tl.sum(v,0))
    tl.store(z+B+o,tl.math.sin(v)+tl.sqrt(v)+tl.log(v)+tl.erf(v)+tl.div_rn(v,s)+tl.fma(v,s,t))
@triton.jit
def desc(p,o,M,N,BM:tl.constexpr,BN:tl.constexpr):
    d=tl.make_tensor_descriptor(p,[M,N],[N,1],[BM,BN]); e=tl.make_tensor_descriptor(o,[M,N],[N,1],[BM,BN])
    i=tl.program_id(0)*BM; e.store([i,0],d.load([i,0])*2)
def emit(name,fn,sig,const,cap,**opt):
    try:
        src=ASTSource(fn=fn,signature=sig,constexprs=const)
        k=triton.compile(src,target=GPUTarget("cuda",cap,32),options=opt)
        open(f"{out}/triton_{name}_{cap}.ptx","w").write(k.asm["ptx"])
    except Exception as e: print("triton",name,cap,type(e).__name__,str(e)[:200])
for cap in (80,86,89,90):
    emit("vadd",vadd,{"x":"*fp32","y":"*fp32","z":"*fp32","n":"i32","B":"constexpr"},{"B":1024},cap)
    emit("softmax",softmax,{"x":"*fp32","z":"*fp32","n":"i32","B":"constexpr"},{"B":2048},cap)
    emit("misc",misc,{"x":"*fp32","z":"*fp32","n":"i32","B":"constexpr"},{"B":256},cap)
    for t in ("fp16","bf16","fp32","fp8e4nv","fp8e5","i8"):
        if t.startswith("fp8e4") and cap<89: continue
        sg={"a":"*"+t,"b":"*"+t,"c":"*fp16","M":"i32","N":"i32","K":"i32","BM":"constexpr","BN":"constexpr","BK":"constexpr"}
        for w,st in ((4,3),(8,4)): emit(f"mm_{t}_{w}",matmul,sg,{"BM":128,"BN":128 if w==8 else 64,"BK":64},cap,num_warps=w,num_stages=st)
    for t in ("fp16","fp8e5","fp8e4nv"):
        if t.startswith("fp8e4") and cap<89: continue
        sg={"q":"*"+t,"k":"*"+t,"v":"*"+t,"o":"*fp16","S":"i32","scale":"fp32","D":"constexpr","BM":"constexpr","BN":"constexpr"}
        emit(f"attn_{t}",attn,sg,{"D":64,"BM":128,"BN":64},cap,num_warps=4,num_stages=3)
        emit(f"attn128_{t}",attn,sg,{"D":128,"BM":128,"BN":128},cap,num_warps=8,num_stages=2)
    emit("desc",desc,{"p":"*fp16","o":"*fp16","M":"i32","N":"i32","BM":"constexpr","BN":"constexpr"},{"BM":64,"BN":64},cap)
