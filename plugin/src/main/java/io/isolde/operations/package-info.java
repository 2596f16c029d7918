// SPDX-License-Identifier: Apache-2.0
/**
 * What operators see of a node: the virtual keyspace {@code isolde}, and metrics in Cassandra's
 * registry. {@link io.isolde.operations.Operations} is the way in; what the tables and metrics mean
 * is in {@code docs/operating.md}.
 */
package io.isolde.operations;
