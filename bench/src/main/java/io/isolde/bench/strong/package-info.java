// SPDX-License-Identifier: Apache-2.0
/** Strong keyspaces against stock Cassandra, and their leaders during compactions. */
package io.isolde.bench.strong;
