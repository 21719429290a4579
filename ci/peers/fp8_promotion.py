#!/usr/bin/env python3
"""After how many k cuBLASLt adds sums of fp8 to fp32 ones, and what that costs in exactness. Needs PyTorch and a
Hopper GPU. ci/peers/fp8_promotion.py

A tensor core keeps about 14 bits of a sum. Of 1s beside 448 x 448 in one such sum nothing is left: in K 1s between
448 x 448 at the beginning and -448 x 448 at the end those are missing that share a sum with either. (Of the last
sum only the last 32 k do: what came before is in it already.)"""
import torch

FP8 = torch.float8_e4m3fn
ONE = torch.tensor(1.0, device="cuda")


def product(a, b, fast):
    return torch._scaled_mm(a, b.t(), scale_a=ONE, scale_b=ONE, out_dtype=torch.float32, use_fast_accum=fast)


print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
k = 4096
a, b = torch.ones(k), torch.ones(k)
a[0] = a[-1] = b[0] = 448
b[-1] = -448
for edge in (16, 4096):
    rows = [v.to(FP8).cuda().expand(edge, k).contiguous() for v in (a, b)]
    for fast in (False, True):
        kept = product(*rows, fast)[0, 0].item()
        print(f"{edge} x {edge} x {k}, FAST_ACCUM {'on' if fast else 'off'}: {kept:g} of {k - 2} kept")
torch.manual_seed(1)
for k in (4096, 8192, 16384):
    for what, draw in (("normal", torch.randn), ("0 to 1", torch.rand)):
        x, y = draw(512, k).to(FP8).cuda(), draw(512, k).to(FP8).cuda()
        exact = x.double() @ y.double().t()
        norms = x.double().norm(dim=1)[:, None] * y.double().norm(dim=1)[None]
        for fast in (False, True):
            error = (product(x, y, fast).double() - exact) / norms
            print(f"K {k}, {what}, FAST_ACCUM {'on' if fast else 'off'}: error over the product of norms: "
                  f"mean {error.mean().item():.2e}, rms {error.pow(2).mean().sqrt().item():.2e}, max {error.abs().max().item():.2e}")
