// The GEMM of all GPUs: integers, normal numbers, routes of panels, shapes, types and the vote.
#include <algorithm>
#include <cstddef>

#include "suite/case.hpp"
#include "suite/gemm/gemm_metrics.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark {
namespace {

Gemm product_of(const GemmShape& shape, GemmInputs inputs, GemmOutput output,
                const RunContext& context) {
  return distributed_gemm(
      {.m = shape.m, .n = shape.n, .k = shape.k, .inputs = inputs, .output = output}, context);
}

struct Shape {
  std::uint64_t m, n, k;
  GemmOutput output;
};

constexpr Shape kIntegerSmall[] = {{256, 192, 320, GemmOutput::f32},
                                   {130, 97, 263, GemmOutput::f32},
                                   {64, 64, 64, GemmOutput::bf16},
                                   {72, 70, 4099, GemmOutput::bf16}};
constexpr Shape kIntegerCuda[] = {{2048, 2056, 2040, GemmOutput::f32},
                                  {1024, 1000, 4096, GemmOutput::bf16},
                                  {8192, 8200, 8184, GemmOutput::f32}};

// All GPUs multiply small integers together: the panels that arrive from other ranks must be the
// ones that belong there, complete, before the product reads them.
std::vector<Op> integer_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const Shape& shape) {
    rows.emplace_back(
        product_of({shape.m, shape.n, shape.k}, GemmInputs::small_integers, shape.output, context));
  };
  for (const Shape& shape : kIntegerSmall) add(shape);
  if (context.device == DeviceKind::cuda)
    for (const Shape& shape : kIntegerCuda) add(shape);
  // By the kernels that gemm.distributed.speed times.
  for (const GemmShape& shape : timed_products(context))
    if (context.device == DeviceKind::cuda || context.product.has_shape())
      add({shape.m, shape.n, shape.k, GemmOutput::bf16});
  return rows;
}

const Register kInteger{{
    .name = "gemm.distributed.integer",
    .claim = "a product of integers from -3 to 3 over all GPUs is exact in every element",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .product = ProductUse::sizes,
    .rows = integer_rows,
}};

constexpr GemmShape kNormalSmall[] = {{192, 160, 264}, {130, 97, 263}, {70, 65, 1030}};
constexpr GemmShape kNormalCuda[] = {{512, 512, 512}, {2048, 2040, 2056}, {4096, 4096, 4096}};

// All GPUs multiply normal numbers together: unlike small integers they use every bit of the
// multipliers, draw as much power as real work, and are right only within a bound.
std::vector<Op> normal_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    const auto add = [&](const GemmShape& shape) {
      rows.emplace_back(product_of(shape, GemmInputs::normal, output, context));
    };
    for (const GemmShape& shape : kNormalSmall) add(shape);
    if (context.device == DeviceKind::cuda)
      for (const GemmShape& shape : kNormalCuda) add(shape);
  }
  return rows;
}

const Register kNormal{{
    .name = "gemm.distributed.normal",
    .claim = "a product of normal numbers over all GPUs differs from the exact one by no more than "
             "fp32 sums and one rounding of the output explain",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; cvt.rn.bf16.f32",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .product = ProductUse::route,
    .rows = normal_rows,
}};

constexpr GemmShape kRoutesSmall[] = {{130, 97, 263}, {260, 300, 72}};
constexpr GemmShape kRoutesCuda[] = {{2048, 2040, 2056}, {4096, 4096, 4096}};

// All GPUs multiply normal numbers by every route that their panels can take: each product is bit
// for bit that of one GPU, and so all routes are alike.
std::vector<Op> routes_rows(const RunContext& context) {
  std::vector<Op> rows;
  RunContext by_one_route = context;
  // One GPU has no routes, and its product is what all are compared with.
  const std::size_t routes = std::max<std::size_t>(1, context.routes.size());
  for (std::size_t i = 0; i < routes; ++i) {
    if (!context.routes.empty()) by_one_route.routes = {context.routes[i]};
    const auto add = [&](const GemmShape& shape, GemmInputs inputs, GemmOutput output) {
      rows.emplace_back(product_of(shape, inputs, output, by_one_route));
    };
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
      for (const GemmShape& shape : kRoutesSmall) add(shape, GemmInputs::normal, output);
      if (context.device != DeviceKind::cuda) continue;
      for (const GemmShape& shape : kRoutesCuda) add(shape, GemmInputs::normal, output);
    }
    // By the kernels that gemm.distributed.route_speed times.
    const std::uint64_t edge = usual_edge(context.device);
    add({edge, edge, edge}, GemmInputs::small_integers, GemmOutput::bf16);
  }
  return rows;
}

const Register kRoutes{{
    .name = "gemm.distributed.routes",
    .claim = "a product over all GPUs has the same bits by every route that its panels can take, "
             "those of one GPU",
    .cites = "tidemark: K is never split, so each element is one sum in one order",
    .scope = CaseScope::all_gpus,
    .seconds = 4,
    .product = ProductUse::route,
    .rows = routes_rows,
}};

constexpr GemmShape kShapesSmall[] = {{1, 1, 1},       {1, 97, 264},  {89, 1, 72},    {2, 3, 1},
                                      {3, 5, 7},       {61, 59, 331}, {257, 129, 71}, {31, 300, 65},
                                      {127, 131, 137}, {16, 48, 2049}};
constexpr GemmShape kShapesCuda[] = {{1021, 1031, 1033}, {1, 8191, 4096}, {4099, 2, 257}};

// All GPUs share products that do not divide: fewer rows or columns than ranks, one k, primes. Some
// ranks own nothing and must neither wait for ever nor write.
std::vector<Op> shapes_rows(const RunContext& context) {
  const std::uint64_t ranks = context.ranks;
  const std::uint64_t fewer = std::max<std::uint64_t>(1, ranks - 1);
  std::vector<Op> rows;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    const auto add = [&](const GemmShape& shape) {
      rows.emplace_back(product_of(shape, GemmInputs::small_integers, output, context));
    };
    for (const GemmShape& shape : kShapesSmall) add(shape);
    add({fewer, fewer, 8});
    add({16 * ranks + 1, 16 * ranks - 1, 9});
    if (context.device == DeviceKind::cuda)
      for (const GemmShape& shape : kShapesCuda) add(shape);
  }
  return rows;
}

const Register kShapes{{
    .name = "gemm.distributed.shapes",
    .claim = "a product over all GPUs is exact for every shape, also where ranks own nothing",
    .cites = "PTX ISA 9.0, 5.5: elements outside a tensor arrive as zero, so tails add nothing",
    .scope = CaseScope::all_gpus,
    .seconds = 3,
    .product = ProductUse::route,
    .rows = shapes_rows,
}};

struct Scalars {
  float alpha, beta;
};

constexpr GemmShape kTypesSmall[] = {{130, 97, 264}, {72, 70, 521}, {5, 200, 31}};
constexpr GemmShape kTypesCuda[] = {{2048, 1032, 2040}, {1021, 1031, 1033}, {4096, 512, 4096}};
constexpr GemmElement kElements[] = {GemmElement::f16, GemmElement::e4m3, GemmElement::e5m2,
                                     GemmElement::bf16};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};
constexpr Scalars kScalars[] = {{1, 0}, {2, 0}, {1, 1}, {-0.5F, 3}, {0, -2}};

// All GPUs multiply fp16 and fp8 together, into every type of C, with alpha and beta: panels of one
// byte an element, and kernels that the plain product does not use.
std::vector<Op> types_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;  // every element with every output and pair of scalars, shapes in turn
  for (const GemmElement element : kElements)
    for (const GemmOutput output : kOutputs)
      for (const Scalars& scalars : kScalars) {
        const auto add = [&](const GemmShape& shape) {
          rows.emplace_back(distributed_gemm({.m = shape.m,
                                              .n = shape.n,
                                              .k = shape.k,
                                              .inputs = GemmInputs::small_integers,
                                              .output = output,
                                              .element = element,
                                              .alpha = scalars.alpha,
                                              .beta = scalars.beta},
                                             context));
        };
        add(kTypesSmall[turn % std::size(kTypesSmall)]);
        if (context.device == DeviceKind::cuda) add(kTypesCuda[turn % std::size(kTypesCuda)]);
        ++turn;
      }
  return rows;
}

const Register kTypes{{
    .name = "gemm.distributed.types",
    .claim = "alpha A B + beta C over all GPUs is exact in integers and quarters, with A and B of "
             "fp16, e4m3, e5m2 and bf16, and every type of C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: products of fp16, e4m3 and e5m2; IEEE 754-2019, 4.3: "
             "exact results are not rounded",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .product = ProductUse::route,
    .rows = types_rows,
}};

constexpr GemmShape kVoteSmall = {300, 520, 264};
constexpr GemmShape kVoteCuda[] = {{2048, 2048, 2048}, {4096, 4096, 4096}};
constexpr GemmShape kNightly = {8192, 8192, 8192};

// All GPUs multiply the same normal numbers, each on its own, and compare the bits: a GPU that is
// now and then a little wrong, within every bound that a check of its own could have, is the one
// that differs.
std::vector<Op> vote_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmOutput output) {
    rows.emplace_back(voted_gemm(
        {.m = shape.m, .n = shape.n, .k = shape.k, .inputs = GemmInputs::normal, .output = output},
        context));
  };
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    add(kVoteSmall, output);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kVoteCuda) add(shape, output);
  }
  if (context.device == DeviceKind::cuda && context.level != Level::quick)
    add(kNightly, GemmOutput::bf16);
  return rows;
}

const Register kVote{{
    .name = "gemm.distributed.vote",
    .claim = "all GPUs get the same bits from the same product of normal numbers",
    .cites = "tidemark: each sum has one order, whatever GPU it runs on",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .fewest_gpus = 2,
    .rows = vote_rows,
}};

}  // namespace
}  // namespace tidemark
