# Spack: copy to packages/tidemark/package.py of a repository of yours, set git to your clone, then spack install tidemark.
from spack.package import *


class Tidemark(CMakePackage, CudaPackage):
    """TMA conformance and GEMM throughput of NVIDIA Hopper fleets."""

    git = "file:///opt/src/tidemark"
    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Runs across GPUs and hosts")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("openmpi@4.1:", when="+mpi")
    depends_on("hdf5")
    depends_on("zlib-api")
    depends_on("libdeflate")
    depends_on("cli11", type="build")
    depends_on("fmt", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("googletest", type="build")
    depends_on("nccl", when="+cuda")
    depends_on("cuda@13:", when="+cuda")
    conflicts("%gcc@:11")

    def cmake_args(self):
        return [
            self.define_from_variant("TIDEMARK_MPI", "mpi"),
            self.define_from_variant("TIDEMARK_CUDA", "cuda"),
        ]
