// SPDX-License-Identifier: Apache-2.0
/**
 * What benchmarks measure on: nodes and child processes that are gone afterwards, and tables of
 * rows.
 */
package io.isolde.bench.nodes;
