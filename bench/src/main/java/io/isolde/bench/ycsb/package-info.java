// SPDX-License-Identifier: Apache-2.0
/**
 * The workloads of YCSB (B. Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC
 * 2010), on CQL tables. YCSB chooses the operations, the keys and the values; our binding executes
 * them.
 */
package io.isolde.bench.ycsb;
