// SPDX-License-Identifier: Apache-2.0
/**
 * TPC-C (TPC Benchmark C, revision 5.11) on tables of Cassandra: the data, the five transactions,
 * the mix and the consistency conditions are pure code over a {@link io.isolde.bench.tpcc.Store};
 * {@link io.isolde.bench.tpcc.CqlStore} is the only place that knows a driver. There are no
 * terminals, so no times to key in or to think, and no figures that may be called tpmC.
 */
package io.isolde.bench.tpcc;
